"""A stage for windows of one length: every shape known, nothing computed that depends on shapes alone.

Values that follow from shapes and weights alone are found by one run of the stage, since every run has the same ones.
The nodes that made them are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

from worker.graph.graph import CannotSplit, Chain, Graph, Nodes, attribute, names_taken

Arrays = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]

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


def _shapes(model: Any) -> dict[str, tuple[int, ...]]:
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in inferred.initializer}
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        shapes[value.name] = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    names = {name for node in model.graph.node for name in (*node.input, *node.output) if name}
    if missing := {name for name in names if name not in shapes or 0 in shapes[name]}:
        raise CannotSplit(f"{len(missing)} shapes depend on more than a window's length, {min(missing)}'s among them")
    return shapes


# Operations that accelerators don't support, written as supported ones. The numbers stay the same, to rounding.

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


# The generator's last step, from spectra to samples, with one channel for each sample of a hop.
#
# A transposed convolution makes one channel as long as the audio, and CoreML takes no tensor with more than 16,384 in
# one dimension: 0.7 s. A convolution makes a channel for each sample of a hop: [1, hops, samples per hop], in which the
# samples are in the same order. What follows in the published models (the sum of squared windows that divides a few
# samples, a factor, both ends cut off) becomes one factor for each sample.

_ORDER_STAYS = ("Squeeze", "Unsqueeze", "Reshape", "Identity")
_KNOWN = (*_ORDER_STAYS, "Gather", "Slice", "Mul", "ScatterND")


@dataclass
class _Samples:
    """The samples that a transposed convolution made, as the nodes after it leave them."""

    places: NDArray[np.int64]
    """Each sample's place in the convolution's output."""
    factors: NDArray[np.float64]
    """Factor by which each sample has been multiplied since."""


def fold_synthesis(nodes: Nodes, audio: str, shapes: Shapes) -> bool:
    """Rewrite the nodes that make `audio` if they have Kokoro's form: one transposed convolution, or the sum or
    difference of two, then nodes that reorder nothing. Any other form is left as it is."""
    found = _tail(nodes, audio)
    if found is None:
        return False
    makers, join, rest = found
    hop = attribute(makers[0], "strides")[0]
    samples = _after(nodes, rest, shapes[rest[0].input[0]][-1], shapes)
    folded = [_folded(nodes, maker, hop) for maker in makers]
    if samples is None or len(samples.places) != np.prod(shapes[audio]):
        return False
    begin, end = int(samples.places[0]), int(samples.places[-1]) + 1
    if begin % hop or end % hop or end - begin != len(samples.places):
        return False
    chain = Chain(nodes)
    parts: list[str] = []
    for maker, weights in zip(makers, folded, strict=True):
        if weights is None:
            return False
        kind = weights.dtype
        parts.append(_convolution(chain, maker, weights))
    joined = chain.node(join.op_type, parts) if join is not None else parts[0]
    hops = chain.node("Slice", [joined, chain.ints(begin // hop), chain.ints(end // hop), chain.ints(_TIME)])
    _in_order(chain, hops, samples.factors.reshape(1, -1, hop).astype(kind), audio)
    gone = [*makers, *([join] if join is not None else []), *rest]
    nodes.replace({id(node): [] for node in gone} | {id(gone[-1]): chain.nodes})
    return True


def _tail(nodes: Nodes, audio: str) -> tuple[list[Any], Any | None, list[Any]] | None:
    """The transposed convolutions, the node that joins them, and the nodes after them."""
    rest: list[Any] = []
    node = nodes.maker(audio)
    while node is not None and node.op_type in _KNOWN:
        rest.insert(0, node)
        node = nodes.maker(node.input[0])
    if node is None or not rest:
        return None
    if node.op_type == "ConvTranspose":
        return [node], None, rest
    if node.op_type not in ("Add", "Sub"):
        return None
    makers = [nodes.maker(name) for name in node.input]
    if any(maker is None or maker.op_type != "ConvTranspose" for maker in makers):
        return None
    return makers, node, rest


def _after(nodes: Nodes, rest: list[Any], length: int, shapes: Shapes) -> _Samples | None:
    """The samples of `length` after the nodes `rest`; None if one of these does anything else."""
    samples = _Samples(np.arange(length), np.ones(length))
    for node in rest:
        before = shapes[node.input[0]]
        if max(before) != len(samples.places) or np.prod(before) != len(samples.places):
            return None
        if node.op_type == "Slice":
            kept = _kept(nodes, node, before)
        elif node.op_type == "Mul":
            kept = _times(samples, nodes.constant(node.input[1]))
        elif node.op_type == "ScatterND":
            kept = _divided(nodes, node, samples)
        elif node.op_type == "Gather" and not _of_one(nodes, node, before):
            kept = None
        else:
            kept = slice(None)
        if kept is None:
            return None
        samples = _Samples(samples.places[kept], samples.factors[kept])
    return samples


def _of_one(nodes: Nodes, node: Any, shape: tuple[int, ...]) -> bool:
    """True if the node takes the only element of a dimension."""
    place = nodes.constant(node.input[1])
    return place is not None and place.size == 1 and shape[attribute(node, "axis", 0)] == 1


def _kept(nodes: Nodes, node: Any, shape: tuple[int, ...]) -> slice | None:
    """The samples that a Slice leaves; None if it isn't one of samples."""
    bounds = [nodes.constant(name) for name in node.input[1:]]
    if len(bounds) < 3 or any(bound is None or bound.size != 1 for bound in bounds):
        return None
    begin, end, axis, step = ([int(bound.item()) for bound in bounds if bound is not None] + [1])[:4]
    return slice(begin, end) if axis % len(shape) == int(np.argmax(shape)) and step == 1 else None


def _times(samples: _Samples, factor: NDArray[Any] | None) -> slice | None:
    if factor is None or factor.size != 1:
        return None
    samples.factors *= factor.item()
    return slice(None)


def _divided(nodes: Nodes, node: Any, samples: _Samples) -> slice | None:
    """Some samples are replaced by themselves, divided: ScatterND(x, places, Reshape(Gather(x, places) / divisors))."""
    updates = nodes.maker(node.input[2])
    while updates is not None and updates.op_type in _ORDER_STAYS:
        updates = nodes.maker(updates.input[0])
    taken = nodes.maker(updates.input[0]) if updates is not None and updates.op_type == "Div" else None
    if updates is None or taken is None or taken.op_type != "Gather" or taken.input[0] != node.input[0]:
        return None
    divisors, read, written = (nodes.constant(name) for name in (updates.input[1], taken.input[1], node.input[1]))
    if divisors is None or read is None or written is None or divisors.size != read.size or not written.size:
        return None
    places = written.reshape(-1, written.shape[-1])
    if places[:, :-1].any() or not np.array_equal(places[:, -1], read.ravel()):
        return None
    samples.factors[places[:, -1]] /= divisors.ravel()
    return slice(None)


def _folded(nodes: Nodes, maker: Any, hop: int) -> NDArray[Any] | None:
    """The weights as a convolution's, [hop, channels, hops per window]; None if the node does more than overlap and
    add."""
    weights = nodes.constant(maker.input[1])
    form = [attribute(maker, name, default) for name, default in (("group", 1), ("dilations", [1]), ("pads", [0, 0]))]
    if weights is None or len(maker.input) > 2 or form != [1, [1], [0, 0]] or attribute(maker, "strides") != [hop]:
        return None
    channels, out, size = weights.shape
    if out != 1 or size % hop or attribute(maker, "output_padding", [0]) != [0]:
        return None
    return weights.reshape(channels, size // hop, hop)[:, ::-1].transpose(2, 0, 1)


def _convolution(chain: Chain, maker: Any, weights: NDArray[Any]) -> str:
    taps = weights.shape[-1]
    pads = [taps - 1, taps - 1]
    return chain.node("Conv", [maker.input[0], chain.floats(weights, weights.dtype)], kernel_shape=[taps], pads=pads)


def _in_order(chain: Chain, hops: str, factors: NDArray[Any], audio: str) -> None:
    """Write `audio`: `hops` [1, samples per hop, hops] in the samples' order, times factors [1, hops, samples per
    hop]."""
    if np.all(factors == 1):
        chain.node("Transpose", [hops], audio, perm=[0, 2, 1])
    else:
        samples = chain.node("Transpose", [hops], perm=[0, 2, 1])
        chain.node("Mul", [samples, chain.floats(factors, factors.dtype)], audio)
