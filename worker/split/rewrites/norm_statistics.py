"""Changes to a stage: AdaIN's statistics become inputs or outputs, random numbers become inputs, used-up context is
cropped."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from worker.graph.graph import CannotSplit, Graph, attribute
from worker.split.rewrites.cuts import Cuts

STATISTICS = ("means", "variances")
"""One vector each, float32, of all channels of a stage's norms, norm by norm in the order of the graph."""

CROP = "crop"
"""int64 [2]: frames at 80 Hz that the generator drops left and right before its second stage."""

_NO_KERNEL = sys.maxsize

_FIRST_STAGE_RATE = 10
_HARMONICS_RATE = 60
"""Frames of harmonics per frame at 80 Hz."""


class Additions:
    """Nodes and constants that a rewrite puts into a stage, with names that the model doesn't have."""

    def __init__(self, prefix: str) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._prefix = f"kokoro_live_{prefix}"
        self._count = 0

    def name(self) -> str:
        self._count += 1
        return f"{self._prefix}_{self._count}"

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        output = self.name()
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def ints(self, *values: int) -> str:
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def cast(self, tensor: str, element_type: int, wanted: int) -> str:
        return tensor if element_type == wanted else self.node("Cast", [tensor], to=wanted)


@dataclass(frozen=True, slots=True)
class Norms:
    """The instance norms of one tensor; they share its statistics."""

    x: str
    channels: int
    places: tuple[int, ...]
    """Places of the norms' nodes."""


def norms(graph: Graph, places: list[int]) -> list[Norms]:
    """The instance norms among the given nodes, in an order that is the same for every export of a model.

    Exporters write branches in different orders, and some share the norms of parallel residual blocks. So the order is
    by the number of preceding norms on the longest path, then by channels (most first), then by the kernel length of
    the next convolution: no two norms of a stage of Kokoro are alike in all three.

    Raises:
        CannotSplit: a norm's channels can't be told.
    """
    found: dict[str, Norms] = {}
    depths: dict[str, int] = {}
    order: dict[str, tuple[int, int, int]] = {}
    for place in places:
        node = graph.nodes[place]
        depth = max((depths.get(name, 0) for name in graph.taken_by(place)), default=0)
        if node.op_type == "InstanceNormalization":
            scale = graph.constant(node.input[1])
            if scale is None:
                raise CannotSplit("an instance norm has no constant scale")
            x = node.input[0]
            before = found[x].places if x in found else ()
            found[x] = Norms(x, len(scale), (*before, place))
            order[x] = (depth, -len(scale), min(_next_kernel(graph, node), order.get(x, (0, 0, _NO_KERNEL))[2]))
            depth += 1
        depths |= dict.fromkeys(node.output, depth)
    return [found[x] for x in sorted(found, key=order.__getitem__)]


def _next_kernel(graph: Graph, norm: Any) -> int:
    """The length of the smallest kernel among the nearest following convolutions."""
    level = graph.takers(norm.output[0])
    while level:
        kernels: list[int] = [max(kernel) for node in level if (kernel := attribute(node, "kernel_shape"))]
        if kernels:
            return min(kernels)
        level = [taker for node in level for name in node.output for taker in graph.takers(name)]
    return _NO_KERNEL


def tell_statistics(graph: Graph, places: list[int]) -> Additions:
    """Add `STATISTICS` as outputs of a stage that computes its own statistics."""
    more = Additions("told")
    told: tuple[list[str], list[str]] = ([], [])
    for norm in norms(graph, places):
        x = more.cast(norm.x, graph.element_type(graph.nodes[norm.places[0]].input[1]), TensorProto.FLOAT)
        mean = more.node("GlobalAveragePool", [x])
        deviation = more.node("Sub", [x, mean])
        variance = more.node("GlobalAveragePool", [more.node("Mul", [deviation, deviation])])
        for names, value in zip(told, (mean, variance), strict=True):
            names.append(more.node("Reshape", [value, more.ints(-1)]))
    for name, parts in zip(STATISTICS, told, strict=True):
        more.nodes.append(helper.make_node("Concat", parts, [name], axis=0))
    return more


def give_statistics(graph: Graph, places: list[int], moving: list[str]) -> tuple[dict[int, list[Any]], Additions]:
    """Replace a stage's norms by norms that take their statistics as inputs.

    AdaIN is norm * (1 + gamma) + beta. With given statistics this is one multiplication and one addition per sample. So
    the two operations after a norm are folded into the batch normalisation that replaces the norm, if their other
    operands don't depend on `moving` (the tensors that change along the segment).

    Returns:
        The replacement nodes by place, and the additions that must come before all nodes.
    """
    found = norms(graph, places)
    more = Additions("given")
    sizes = more.ints(*(norm.channels for norm in found))
    split = [[more.name() for _ in found] for _ in STATISTICS]
    for name, parts in zip(STATISTICS, split, strict=True):
        more.nodes.append(helper.make_node("Split", [name, sizes], parts, axis=0))
    instead: dict[int, list[Any]] = {}
    for norm, mean, variance in zip(found, *split, strict=True):
        more.constants += put_statistics(graph, norm, (mean, variance), moving, instead)
    return instead, more


def put_statistics(
    graph: Graph, norm: Norms, statistics: tuple[str, str], moving: list[str], instead: dict[int, list[Any]]
) -> list[Any]:
    """Put norms that take mean and variance (tensors of shape [channels]) into `instead`, in place of the norms of one
    tensor; return their constants."""
    constants: list[Any] = []
    for place in norm.places:
        for end in _ends(graph, place, moving):
            local = _given(graph, place, end, *statistics)
            instead[end.place] = local.nodes
            constants += local.constants
            instead |= {gone: [] for gone in end.gone}
    return constants


@dataclass(frozen=True, slots=True)
class _End:
    """The last nodes of a norm and of the operations folded into it."""

    place: int
    output: str
    by: str = ""
    plus: str = ""
    gone: tuple[int, ...] = ()
    """Places of further nodes that the batch normalisation replaces."""


def _ends(graph: Graph, place: int, moving: list[str]) -> list[_End]:
    """One end for each residual block that the norm serves if all their factors and summands can be folded in, else a
    single end."""
    norm = graph.nodes[place].output[0]
    affine = [_affine(graph, taker, norm, moving) for taker in graph.takers(norm)]
    if any(each is None for each in affine):
        return [_End(place, norm)]
    ends = []
    for (by, by_place), (plus, plus_place) in filter(None, affine):
        ends.append(_End(plus_place, graph.nodes[plus_place].output[0], by, plus, (place, by_place)))
    return ends


def _given(graph: Graph, place: int, end: _End, mean: str, variance: str) -> Additions:
    """The batch normalisation that replaces a norm, from the norm's input to its end."""
    norm = graph.nodes[place]
    local = Additions(f"norm_{end.place}")
    element_type = graph.element_type(norm.input[1])
    scale, shift = (local.cast(name, element_type, TensorProto.FLOAT) for name in norm.input[1:3])
    if end.by:
        flat = local.ints(-1)
        by, plus = (local.cast(name, element_type, TensorProto.FLOAT) for name in (end.by, end.plus))
        factor = local.node("Reshape", [by, flat])
        scale = local.node("Mul", [scale, factor])
        shift = local.node("Add", [local.node("Mul", [shift, factor]), local.node("Reshape", [plus, flat])])
    x = local.cast(norm.input[0], element_type, TensorProto.FLOAT)
    result = end.output if element_type == TensorProto.FLOAT else local.name()
    given, epsilon = [x, scale, shift, mean, variance], attribute(norm, "epsilon", 1e-5)
    local.nodes.append(helper.make_node("BatchNormalization", given, [result], epsilon=epsilon))
    if result != end.output:
        local.nodes.append(helper.make_node("Cast", [result], [end.output], to=element_type))
    return local


def _affine(graph: Graph, product: Any, norm: str, moving: list[str]) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """The factor and the summand that follow a norm, each with its node's place, if they are constant along the
    segment.

    `product` is the node that takes the norm, and the only candidate for the factor.
    """
    found = []
    tensor, node = norm, product
    for operator in ("Mul", "Add"):
        others = [name for name in node.input if name != tensor]
        if node.op_type != operator or len(others) != 1 or graph.depends(others[0], moving):
            return None
        tensor = node.output[0]
        found.append((others[0], graph.place(tensor)))
        takers = graph.takers(tensor)
        if operator == "Mul":
            if len(takers) != 1:
                return None
            node = takers[0]
    return found[0], found[1]


def crop_context(graph: Graph, cuts: Cuts) -> tuple[dict[int, list[Any]], Additions]:
    """Make the generator drop context between its stages, by the frames that the input `CROP` gives.

    The second stage, which costs more, needs less context than the first (`worker.split.segments.segment`).
    """
    more = Additions("crop")
    left = more.node("Gather", [CROP, more.ints(0)])
    right = more.node("Gather", [CROP, more.ints(1)])
    instead: dict[int, list[Any]] = {}
    for node, rate in zip(cuts.second_stage, (_FIRST_STAGE_RATE, _HARMONICS_RATE), strict=True):
        place = graph.place(node.output[0])
        local = Additions(f"crop_{place}")
        per_frame, time = local.ints(rate), local.ints(2)
        length = local.node("Gather", [local.node("Shape", [node.input[0]]), time])
        end = local.node("Sub", [length, local.node("Mul", [right, per_frame])])
        cropped = local.node("Slice", [node.input[0], local.node("Mul", [left, per_frame]), end, time])
        changed = type(node)()
        changed.CopyFrom(node)
        changed.input[0] = cropped
        instead[place] = [*local.nodes, changed]
        more.constants += local.constants
    return instead, more


# The generator with statistics of its own in which some frames count for more than one.
#
# mean = sum(w x);  variance = sum(w (x - mean)²);  the weights w of a stage's moments add up to 1
#
# A run that leaves frames out, and has similar ones count for them, so has the statistics of the whole segment. The
# statistics are folded into each norm as given ones are (`rewrite.give_statistics`), which alone makes this
# generator a tenth faster than the whole one.

WEIGHT_INPUTS = ("first_weights", "second_weights")
"""Float32 vectors: the first stage's weights, 10 for each frame at 80 Hz, and the second stage's, 60 and one more."""


def weigh_statistics(
    graph: Graph, places: list[int], moving: list[str], second: list[str]
) -> tuple[dict[int, list[Any]], Additions]:
    """Replace a generator's norms by norms that compute their statistics with the weights of `WEIGHT_INPUTS`.

    Args:
        places: the generator's nodes.
        moving: the tensors that change along the segment.
        second: the tensors with which the second stage begins.

    Returns:
        The replacement nodes by place, and the additions that must come before all nodes.
    """
    more = Additions("weighted")
    column = more.ints(1)
    first_weights, second_weights = (more.node("Unsqueeze", [name, column]) for name in WEIGHT_INPUTS)
    instead: dict[int, list[Any]] = {}
    for norm in norms(graph, places):
        local = Additions(f"weighted_{norm.places[0]}")
        weights = second_weights if graph.depends(norm.x, second) else first_weights
        x = local.cast(norm.x, graph.element_type(graph.nodes[norm.places[0]].input[1]), TensorProto.FLOAT)
        mean = local.node("MatMul", [x, weights])
        deviation = local.node("Sub", [x, mean])
        variance = local.node("MatMul", [local.node("Mul", [deviation, deviation]), weights])
        flat = local.ints(-1)
        statistics = local.node("Reshape", [mean, flat]), local.node("Reshape", [variance, flat])
        more.constants += [*put_statistics(graph, norm, statistics, moving, instead), *local.constants]
        # Other norms of the same tensor come later in the graph.
        place = norm.places[0]
        instead[place] = [*local.nodes, *instead.get(place, [])]
    return instead, more


def weight_inputs() -> list[Any]:
    """The descriptions of `WEIGHT_INPUTS`."""
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None]) for name in WEIGHT_INPUTS]
