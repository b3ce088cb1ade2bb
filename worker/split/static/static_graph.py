"""A stage for windows of one length: every shape known, nothing computed that depends on shapes alone.

Values that follow from shapes and weights alone are found by one run of the stage, since every run has the same ones.
The nodes that made them are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

from worker.graph.graph import CannotSplit, Chain, Graph, Nodes, attribute, names_taken
from worker.split.static.synthesis import fold_synthesis

Arrays = Mapping[str, NDArray[Any]]
Shape = tuple[int, ...]

_SMALL = 65_536
"""Bytes up to which a weight is read from the file of weights: other constants are computed from it."""

_OF_SHAPES = ("Shape", "Size")
_FROM_SHAPES = (*_OF_SHAPES, "Gather", "ConstantOfShape", "Range", "NonZero", "If", "Loop", "Scan")
_UNWANTED = ("Pad", "Resize", "BatchNormalization", "InstanceNormalization")
_DYNAMIC = frozenset([*_FROM_SHAPES, *_UNWANTED])
"""Operators that a window of fixed length doesn't need, or that accelerators don't support."""


def static_model(file: Path, inputs: Arrays, fixed: Arrays, probe: Path) -> Any:
    """The stage in `file` for inputs of those shapes; its large weights stay where they are.

    Args:
        file: the stage for windows of any length.
        inputs: all but those of `fixed`, as they might be.
        fixed: inputs that become constants.
        probe: a file alongside `file` that may be written meanwhile.

    Raises:
        CannotSplit: a shape isn't known before the stage runs.
    """
    model = onnx.load(file, load_external_data=False)
    graph = model.graph
    for tensor in graph.initializer:
        if uses_external_data(tensor) and np.prod(tensor.dims, dtype=int) * 4 <= _SMALL:
            load_external_data_for_tensor(tensor, str(file.parent))
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    kinds = {value.name: value.type.tensor_type.elem_type for value in graph.input}
    del graph.input[:]
    graph.input.extend(helper.make_tensor_value_info(name, kinds[name], inputs[name].shape) for name in inputs)
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in fixed.items())
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    _settle(model, inputs, probe)
    nodes = Graph(model, prefix="static")
    shapes = _shapes(model)
    replace_operations(nodes, shapes)
    fold_synthesis(nodes, graph.output[0].name, shapes)
    nodes.drop_unused()
    if strange := {node.op_type for node in nodes} & _DYNAMIC:
        raise CannotSplit(f"its windows can't be of one length, because of {', '.join(sorted(strange))}")
    nodes.store()
    graph.CopyFrom(onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph)
    _shapes(model)
    return model


def _settle(model: Any, inputs: Arrays, probe: Path) -> None:
    """Replace by constants all values that one run shows to be constant, and remove the nodes that made them."""
    graph = Graph(model, onnx.shape_inference.infer_shapes(model).graph.value_info)
    known = set(graph.initializers)
    for node in graph:
        given = node.op_type in _OF_SHAPES or known.issuperset(names_taken(node))
        # Quantised weights stay quantised: dequantised, they would be as large as all the weights.
        if given and node.op_type != "DequantizeLinear":
            known.update(node.output)
    moving = [node for node in graph if not known.issuperset(node.output)]
    same = {name: _origin(graph, name) for node in moving for name in node.input if name in known}
    wanted = sorted({name for name in same.values() if graph.maker(name) is not None})
    values = dict(zip(wanted, _run(model, graph, wanted, inputs, probe), strict=True)) if wanted else {}
    for node in moving:
        for place, name in enumerate(node.input):
            node.input[place] = same.get(name, name)
    kept = [graph.initializers[name] for name in sorted(set(same.values()) & graph.initializers.keys())]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(moving)
    model.graph.initializer.extend(kept)
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in values.items())


def _origin(graph: Graph, name: str) -> str:
    while (node := graph.maker(name)) is not None and node.op_type == "Identity":
        name = node.input[0]
    return name


def _run(model: Any, graph: Graph, wanted: list[str], inputs: Arrays, probe: Path) -> list[NDArray[Any]]:
    asking = onnx.ModelProto()
    asking.CopyFrom(model)
    del asking.graph.output[:]
    asking.graph.output.extend(helper.make_tensor_value_info(name, graph.element_type(name), None) for name in wanted)
    probe.write_bytes(asking.SerializeToString())
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # onnxruntime warns of each weight that this run doesn't need
    try:
        session = ort.InferenceSession(str(probe), options, providers=["CPUExecutionProvider"])
    finally:
        probe.unlink()
    feeds = {
        value.name: inputs[value.name].astype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
        for value in asking.graph.input
    }
    values: list[NDArray[Any]] = session.run(wanted, feeds)
    return values


def _shapes(model: Any) -> dict[str, Shape]:
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in inferred.initializer}
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    names = {name for node in model.graph.node for name in (*node.input, *node.output) if name}
    if missing := {name for name in names if name not in shapes or 0 in shapes[name]}:
        raise CannotSplit(f"{len(missing)} shapes depend on more than a window's length, {min(missing)}'s among them")
    return shapes


# Operations that accelerators don't support, written as supported ones. The numbers stay the same, to rounding.

Shapes = Mapping[str, tuple[int, ...]]
_Writer = Callable[[Nodes, Chain, Any, Shapes], bool]

_TIME = 2


def replace_operations(nodes: Nodes, shapes: Shapes) -> None:
    """Replace all operations of a known form; `shapes` has the shape of every tensor."""
    replaced: dict[int, list[Any]] = {}
    for node in nodes:
        chain = Chain(nodes)
        writer = _WRITERS.get(node.op_type)
        if writer is not None and writer(nodes, chain, node, shapes):
            replaced[id(node)] = chain.nodes
    nodes.replace(replaced)


def _norm(_: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """A normalisation with given statistics, as one factor and one summand per channel."""
    x, scale, shift, mean, variance = node.input
    column = chain.ints(1, shapes[x][1], 1)
    deviation = chain.node("Sqrt", [chain.node("Add", [variance, chain.floats([attribute(node, "epsilon", 1e-5)])])])
    factor = chain.node("Div", [scale, deviation])
    summand = chain.node("Sub", [shift, chain.node("Mul", [mean, factor])])
    scaled = chain.node("Mul", [x, chain.node("Reshape", [factor, column])])
    chain.node("Add", [scaled, chain.node("Reshape", [summand, column])], node.output[0])
    return True


def _reflection(nodes: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """Reflection padding along time, as slices of one sample each."""
    pads, rank = nodes.constant(node.input[1]), len(shapes[node.input[0]])
    if attribute(node, "mode", b"constant") != b"reflect" or rank != 3 or pads is None or len(pads) != 6:
        return False
    x, length = node.input[0], shapes[node.input[0]][_TIME]
    left, right = int(pads[2]), int(pads[5])
    if pads.sum() != left + right:
        return False
    before = [_slice(chain, x, place, place + 1) for place in range(left, 0, -1)]
    after = [_slice(chain, x, length - 2 - place, length - 1 - place) for place in range(right)]
    chain.node("Concat", [*before, x, *after], node.output[0], axis=_TIME)
    return True


def _doubling(_: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """Nearest-neighbour upsampling along time by 2: each sample twice."""
    x, output = shapes[node.input[0]], shapes[node.output[0]]
    repeats = attribute(node, "mode", b"nearest") == b"nearest" and (
        attribute(node, "coordinate_transformation_mode", b"half_pixel") in (b"asymmetric", b"half_pixel")
        and attribute(node, "nearest_mode", b"round_prefer_floor") in (b"round_prefer_floor", b"floor")
    )
    if not repeats or len(x) != 3 or output != (*x[:_TIME], 2 * x[_TIME]):
        return False
    _interleave(chain, node.input[0], node.input[0], output, node.output[0])
    return True


def _upsampling(nodes: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """The transposed convolution that doubles each channel's length, as two sums for even and odd samples."""
    weights = nodes.constant(node.input[1]) if attribute(node, "output_padding", [0]) != [0] else None
    x, channels = node.input[0], shapes[node.input[0]][1]
    form = [attribute(node, name) for name in ("strides", "pads", "output_padding", "group")]
    if weights is None or weights.shape != (channels, 1, 3) or form != [[2], [1, 1], [1], channels]:
        return False
    before, middle, after = (chain.floats(weights[:, 0, tap].reshape(1, -1, 1), weights.dtype) for tap in range(3))
    nothing = chain.floats(np.zeros((1, channels, 1)), weights.dtype)
    following = chain.node("Concat", [_slice(chain, x, 1, shapes[x][_TIME]), nothing], axis=_TIME)
    even = chain.node("Mul", [x, middle])
    odd = chain.node("Add", [chain.node("Mul", [x, after]), chain.node("Mul", [following, before])])
    if len(node.input) == 3:
        column = chain.ints(1, channels, 1)
        bias = chain.node("Reshape", [node.input[2], column])
        even, odd = (chain.node("Add", [part, bias]) for part in (even, odd))
    _interleave(chain, even, odd, shapes[node.output[0]], node.output[0])
    return True


def _nothing_cut(_: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    if shapes[node.input[0]] != shapes[node.output[0]]:
        return False
    chain.node("Identity", node.input[:1], node.output[0])
    return True


_WRITERS: dict[str, _Writer] = {
    "Slice": _nothing_cut,
    "BatchNormalization": _norm,
    "Pad": _reflection,
    "Resize": _doubling,
    "ConvTranspose": _upsampling,
}


def _slice(chain: Chain, x: str, begin: int, end: int) -> str:
    return chain.node("Slice", [x, chain.ints(begin), chain.ints(end), chain.ints(_TIME)])


def _interleave(chain: Chain, even: str, odd: str, shape: tuple[int, ...], output: str) -> None:
    last = chain.ints(_TIME + 1)
    columns = [chain.node("Unsqueeze", [part, last]) for part in (even, odd)]
    pairs = chain.node("Concat", columns, axis=_TIME + 1)
    chain.node("Reshape", [pairs, chain.ints(*shape)], output)


_FLOAT, _HALF = TensorProto.FLOAT, TensorProto.FLOAT16


def to_half(model: Any, moving: Collection[str]) -> None:
    """Convert a model in place. Its inputs and outputs stay float32.

    Nodes that depend on a style and on statistics alone stay float32, because they are a small part of the work and
    their errors would be in every sample. So does the spectrum, from its exponential on, which spans many decades.
    onnxruntime's own converter (`onnxruntime.transformers.float16`) gives two casts one name where two nodes that stay
    float32 share an input, and onnxruntime then refuses the graph.

    Args:
        model: a model in float32, with all weights inside and its nodes in the order in which they run.
        moving: names of the inputs that change along time.

    Raises:
        CannotSplit: a node casts, or an output would be in half precision.
    """
    graph = model.graph
    kinds = {value.name: _FLOAT for value in graph.input}
    weights = {tensor.name: tensor for tensor in graph.initializer}
    along_time, spectral = set(moving), set[str]()
    halves: dict[str, Any] = {}
    nodes: list[Any] = []

    def in_kind(name: str, kind: int) -> str:
        """Name of the tensor in that type; its conversion is made at its first use."""
        present = weights[name].data_type if name in weights else kinds.get(name, kind)
        if present == kind or (present != _FLOAT and name in weights):
            return name
        other = f"{name}.{'half' if kind == _HALF else 'float'}"
        if other not in kinds:
            kinds[other] = kind
            if name in weights:
                halves[other] = numpy_helper.from_array(numpy_helper.to_array(weights[name]).astype(np.float16), other)
            else:
                nodes.append(helper.make_node("Cast", [name], [other], name=other, to=kind))
        return other

    for node in graph.node:
        if node.op_type == "Cast":
            raise CannotSplit(f"{node.name or 'a node'} casts")
        if along_time.intersection(node.input):
            along_time.update(node.output)
        if node.op_type == "Exp" or spectral.intersection(node.input):
            spectral.update(node.output)
        exact = not along_time.intersection(node.output) or bool(spectral.intersection(node.output))
        kind = _FLOAT if exact else _HALF
        node.input[:] = [in_kind(name, kind) for name in node.input]
        kinds.update(dict.fromkeys(node.output, kind))
        nodes.append(node)
    if any(kinds[value.name] == _HALF for value in graph.output):
        raise CannotSplit("its end has no spectrum")
    taken = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in (*graph.initializer, *halves.values()) if tensor.name in taken]
    for value in graph.value_info:
        value.type.tensor_type.elem_type = kinds.get(value.name, value.type.tensor_type.elem_type)
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
