"""Dynamic int8, as onnxruntime's `quantize_dynamic` writes it, and its conversion into floats.

The int8 file of Kokoro's v1.0 release has four patterns, which are found by structure, never by names:

    x -> DynamicQuantizeLinear -> ConvInteger [-> Add bias / scales] -> Cast -> Mul scales    Conv
    x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul scales                         MatMul
    DynamicQuantizeLSTM                                                                       LSTM
    Gather int8 -> DequantizeLinear                                                           Gather

`dequantize` makes of each the one float operation on its right, with `(q - zero_point) * scale` per weight. The
weights' rounding errors remain, but the ranges of activations are no longer measured and rounded in each run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from worker.graph.graph import CannotSplit, Graph, Nodes
from worker.graph.loading import load_graph
from worker.models.assembly import FetchError, PartFile
from worker.models.choice import MODEL_NAMES
from worker.models.sources import cached_sha256_of, part_of


class UnknownPattern(Exception):
    """An integer operation isn't written as expected; the message names the operation and its actual form. All
    functions here that read a pattern raise it."""


@dataclass(frozen=True, slots=True)
class DynamicProduct:
    """An integer product with all nodes that make it equivalent to a float product. Fields are names of tensors."""

    quantization: Any
    """The node that quantises the left side: its input is float, its outputs are integers, scale and zero point."""
    right: str
    """The right side's integers, or where `moving`, the floats before their quantisation."""
    right_scale: str
    right_zero_point: str
    """Name of the right side's zero point; empty for 0."""
    bias: str
    """Float constant, one for each output channel; empty if there is none."""
    output: str
    """The product in floats."""
    moving: bool
    """True if the graph computes the right side; false if the right side is a constant."""


def product_of(graph: Nodes, node: Any) -> DynamicProduct:
    """The dynamic int8 pattern around a ConvInteger or MatMulInteger.

    Raises:
        UnknownPattern: something else is around it.
    """
    left = maker_of(graph, node, node.input[0], "DynamicQuantizeLinear")
    bias = ""
    after = only_taker(graph, node)
    if after.op_type == "Add":
        bias = _bias(graph, after, node.output[0])
        after = only_taker(graph, after)
    scaled = only_taker(graph, after)
    if (after.op_type, scaled.op_type) != ("Cast", "Mul"):
        raise UnknownPattern(f"{told(node)} is followed by {after.op_type} and {scaled.op_type}, not Cast and Mul")
    scales = maker_of(graph, scaled, _other(scaled, after.output[0]), "Mul")
    if left.output[1] not in scales.input:
        raise UnknownPattern(f"{told(node)} isn't scaled by what its input was quantised with")
    scale = _other(scales, left.output[1])
    moving = graph.constant(node.input[1]) is None
    right = str(node.input[1])
    if moving:
        quantized = maker_of(graph, node, right, "DynamicQuantizeLinear")
        if scale != quantized.output[1]:
            raise UnknownPattern(f"{told(node)} isn't scaled by what its second input was quantised with")
        right = str(quantized.input[0])
    zero_point = str(node.input[3]) if len(node.input) > 3 else ""
    return DynamicProduct(left, right, scale, zero_point, bias, str(scaled.output[0]), moving)


def constant_of(graph: Nodes, node: Any, name: str) -> NDArray[Any]:
    value = graph.constant(name)
    if value is None:
        raise UnknownPattern(f"{told(node)} takes {name or 'a missing input'}, which is no constant")
    return value


def along(graph: Nodes, node: Any, name: str, shape: tuple[int, ...], axis: int) -> NDArray[np.float32]:
    """A weight's scale or zero point (one value, or one per index of `axis`), shaped to broadcast over the weight's
    shape."""
    part = constant_of(graph, node, name).astype(np.float32)
    if part.size == 1:
        return part.reshape(())
    if part.size != shape[axis]:
        raise UnknownPattern(f"{told(node)} has {part.size} scales for {shape[axis]} channels")
    return part.reshape([-1 if place == axis % len(shape) else 1 for place in range(len(shape))])


def maker_of(graph: Nodes, node: Any, tensor: str, operator: str) -> Any:
    maker = graph.maker(tensor)
    if maker is None or maker.op_type != operator:
        found = "no operation" if maker is None else maker.op_type
        raise UnknownPattern(f"{told(node)} takes {tensor}, which {found} makes, not {operator}")
    return maker


def only_taker(graph: Nodes, node: Any) -> Any:
    takers = graph.takers(node.output[0])
    if len(takers) != 1:
        raise UnknownPattern(f"{told(node)} makes {node.output[0]}, which {len(takers)} operations take, not 1")
    return takers[0]


def told(node: Any) -> str:
    """A node's description for error messages."""
    return f"its {node.op_type} {node.name or node.output[0]}"


def _bias(graph: Nodes, addition: Any, product: str) -> str:
    """The float bias. The int8 form divides it by the scales, rounds it down, and adds it to the integer sums."""
    node, tensor = addition, _other(addition, product)
    for operator in ("Reshape", "Cast", "Floor", "Div"):
        node = maker_of(graph, node, tensor, operator)
        tensor = str(node.input[0])
    if graph.constant(tensor) is None:
        raise UnknownPattern(f"{told(addition)} adds a bias that is no constant")
    return tensor


def _other(node: Any, tensor: str) -> str:
    return str(node.input[1] if node.input[0] == tensor else node.input[0])


_PRODUCTS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
_MARKS = (*_PRODUCTS, "DynamicQuantizeLSTM")
_LEFT = ("DynamicQuantizeLinear", "DequantizeLinear", *_MARKS)
_LSTM_FLOATS = 8
"""Number of inputs that a quantised LSTM shares with ONNX's LSTM; its four scales and zero points follow them."""


def is_dynamic_int8(graph: Graph) -> bool:
    """True if the model has operations of dynamic int8, and none of static int8."""
    found = {node.op_type for node in graph}
    return bool(found & set(_MARKS)) and not found & {"QLinearConv", "QuantizeLinear"}


def dequantize(graph: Graph) -> Graph:
    """Convert the graph's model into float in place; its inputs, outputs and metadata stay.

    Returns:
        The graph of the float model. The given graph is no longer valid.

    Raises:
        UnknownPattern: an integer operation doesn't match any of the module's patterns. The message names it.
    """
    replaced: dict[int, list[Any]] = {}
    for node in graph:
        if node.op_type in _PRODUCTS:
            made = _product(graph, node)
            replaced[id(graph.maker(made.output[0]))] = [made]
        elif node.op_type == "DynamicQuantizeLSTM":
            replaced[id(node)] = [_lstm(graph, node)]
        elif node.op_type == "DequantizeLinear":
            replaced[id(node)] = [_gather(graph, node)]
    graph.replace(replaced)
    graph.drop_unused()
    if left := next(graph.of_type(*_LEFT), None):
        raise UnknownPattern(f"{told(left)} isn't part of a pattern that onnxruntime's dynamic quantisation writes")
    graph.store()
    return Graph(graph.model)


def _weight(graph: Graph, node: Any, name: str, scale: str, zero_point: str, axis: int = 0) -> str:
    """Name of a float tensor with the values of a quantised weight, with channels along `axis`."""
    plain = name.removesuffix("_quantized")
    plain = plain if plain not in graph.initializers else f"{name}_float"
    if plain in graph.derived:
        return plain
    values = constant_of(graph, node, name).astype(np.float32)
    if zero_point:
        values -= along(graph, node, zero_point, values.shape, axis)
    values *= along(graph, node, scale, values.shape, axis)
    return graph.derive(plain, values)


def _recurrent(graph: Graph, node: Any, name: str, scale: str, zero_point: str) -> str:
    """Name of a float tensor with the values of an LSTM's quantised weight. The weight is stored as [directions,
    inputs, 4 * hidden], the transpose of ONNX's order, with scales [directions] or [directions, 4 * hidden]."""
    values, by, centre = (constant_of(graph, node, each).astype(np.float32) for each in (name, scale, zero_point))
    by, centre = (part.reshape(len(values), 1, -1) for part in (by, centre))
    return graph.derive(f"{name.removesuffix('_quantized')}_float", ((values - centre) * by).transpose(0, 2, 1))


def _product(graph: Graph, node: Any) -> Any:
    """A convolution or matrix product in float. Its output is the pattern's, the scaled tensor."""
    found = product_of(graph, node)
    right = found.right
    if not found.moving:
        axis = 0 if node.op_type == "ConvInteger" else -1
        right = _weight(graph, node, right, found.right_scale, found.right_zero_point, axis)
    inputs = [found.quantization.input[0], right, *([found.bias] if found.bias else [])]
    return _like(node, _PRODUCTS[node.op_type], inputs, [found.output])


def _lstm(graph: Graph, node: Any) -> Any:
    inputs = [*node.input[:_LSTM_FLOATS], *[""] * (_LSTM_FLOATS - len(node.input))]
    scales = list(node.input[_LSTM_FLOATS:])
    if len(scales) != 4:
        raise UnknownPattern(f"{told(node)} has {len(scales)} scales and zero points, not 4")
    inputs[1] = _recurrent(graph, node, inputs[1], *scales[:2])
    inputs[2] = _recurrent(graph, node, inputs[2], *scales[2:])
    while not inputs[-1]:
        inputs.pop()
    return _like(node, "LSTM", inputs, node.output)


def _gather(graph: Graph, node: Any) -> Any:
    """A look-up in a table of floats; `node` dequantises the result of the integer look-up."""
    gather = maker_of(graph, node, node.input[0], "Gather")
    zero_point = node.input[2] if len(node.input) > 2 else ""
    inputs = [_weight(graph, node, gather.input[0], node.input[1], zero_point), gather.input[1]]
    return _like(gather, "Gather", inputs, node.output)


def _like(node: Any, operator: str, inputs: list[str], outputs: Any) -> Any:
    made = helper.make_node(operator, inputs, list(outputs), name=node.name.removesuffix("_quant"))
    made.attribute.extend(node.attribute)
    return made


class QuantizationError(Exception):
    """The float model can't be made; the message names the file and tells the user how to fix it."""


SOURCE = "kokoro_live.dequantized_sha256"
"""Metadata key of a float file whose value is the sha256 of the int8 file that it was made from."""


def float_path(model: Path) -> Path:
    """Path of the float file next to its model: `kokoro-v1.0.float.onnx` for `kokoro-v1.0.int8.onnx`."""
    return model.with_name(f"{model.stem.removesuffix('.int8')}.float.onnx")


def write_float(model: Path, out: Path) -> None:
    """Write `out`, whole or not at all: 325 MB for the published file.

    Args:
        model: a model in dynamic int8.
        out: the file to write. An existing file is replaced only if this function made it.

    Raises:
        QuantizationError: the file can't be made; the message says why.
    """
    _check(model, out)
    try:
        source = cached_sha256_of(model)
        graph = load_graph(model)
        if not is_dynamic_int8(graph):
            raise QuantizationError(f"{model} isn't in dynamic int8, as kokoro-v1.0.int8.onnx is: name that one")
        floats = dequantize(graph).model
        floats.metadata_props.add(key=SOURCE, value=source)
        part = PartFile.lock(part_of(out))
        if part is None:
            raise QuantizationError(
                f"{out} is being made by another `kokoro-live dequantize`: wait for it, or name another file"
            )
        with part:
            part.empty()
            onnx.save(floats, part.path)
            part.commit(out)
    except (CannotSplit, UnknownPattern) as error:
        raise QuantizationError(f"{model} can't be made a float model: {error}") from error
    except (OSError, FetchError) as error:
        reason = getattr(error.__cause__ or error, "strerror", None) or error
        raise QuantizationError(
            f"{out} can't be written: {reason}. Nothing is left of it; make room, or name another place with --out"
        ) from error


def _check(model: Path, out: Path) -> None:
    if not model.is_file():
        raise QuantizationError(f"there is no model file {model}: run `kokoro-live models fetch`, or name another")
    if out.name in MODEL_NAMES:
        raise QuantizationError(
            f"{out} has a published file's name, and wouldn't be that file: name another with --out"
        )
    if out.is_dir():
        raise QuantizationError(f"{out} is a folder: name a file with --out")
    if out.exists() and not _was_made_here(out):
        raise QuantizationError(
            f"{out} is there already, and `dequantize` didn't make it: name another file with --out"
        )


def _was_made_here(file: Path) -> bool:
    """True if the file's metadata, which protobuf writes after the graph, have the key `SOURCE`."""
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - 4096))
        return SOURCE.encode() in opened.read()
