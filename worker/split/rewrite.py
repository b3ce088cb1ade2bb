"""What is changed in a stage: AdaIN's statistics given or told, random numbers given, used-up context cut away."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from worker.split.cuts import Cuts
from worker.split.graph import CannotSplit, Graph, attribute

STATISTICS = ("means", "variances")
"""One vector each, float32, of all channels of a stage's norms, norm by norm in the order of the graph."""

CROP = "crop"
"""int64 [2]: frames at 80 Hz that the generator drops left and right before its second stage."""

_FIRST_STAGE_RATE = 10
_HARMONICS_RATE = 60
"""Per frame at 80 Hz."""


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


def norms(graph: Graph, places: list[int]) -> list[tuple[int, int]]:
    """The instance norms among some nodes: place and number of channels.

    Raises:
        CannotSplit: a norm's channels can't be told.
    """
    found = []
    for place in places:
        node = graph.nodes[place]
        if node.op_type == "InstanceNormalization":
            scale = graph.constant(node.input[1])
            if scale is None:
                raise CannotSplit("an instance norm has no constant scale")
            found.append((place, len(scale)))
    return found


def tell_statistics(graph: Graph, places: list[int]) -> Additions:
    """Make `STATISTICS` outputs of a stage that still computes them for itself."""
    more = Additions("told")
    told: tuple[list[str], list[str]] = ([], [])
    for place, _ in norms(graph, places):
        source = graph.nodes[place].input[0]
        x = more.cast(source, graph.element_type(graph.nodes[place].input[1]), TensorProto.FLOAT)
        mean = more.node("GlobalAveragePool", [x])
        deviation = more.node("Sub", [x, mean])
        variance = more.node("GlobalAveragePool", [more.node("Mul", [deviation, deviation])])
        for names, value in zip(told, (mean, variance), strict=True):
            names.append(more.node("Reshape", [value, more.ints(-1)]))
    for name, parts in zip(STATISTICS, told, strict=True):
        more.nodes.append(helper.make_node("Concat", parts, [name], axis=0))
    return more


def give_statistics(graph: Graph, places: list[int], moving: list[str]) -> tuple[dict[int, list[Any]], Additions]:
    """Replace the norms of a stage by ones whose statistics are its inputs.

    AdaIN is norm * (1 + gamma) + beta. With given statistics all of that is one multiplication and one addition per
    sample, so where the two operations after the norm take what doesn't depend on `moving` (what changes along the
    segment), they go into the batch normalisation that stands for the norm.

    Returns:
        By place, what stands there instead; and what is needed before all else.
    """
    found = norms(graph, places)
    more = Additions("given")
    sizes = more.ints(*(channels for _, channels in found))
    split = [[more.name() for _ in found] for _ in STATISTICS]
    for name, parts in zip(STATISTICS, split, strict=True):
        more.nodes.append(helper.make_node("Split", [name, sizes], parts, axis=0))
    instead: dict[int, list[Any]] = {}
    for (place, _), mean, variance in zip(found, *split, strict=True):
        norm = graph.nodes[place]
        local = Additions(f"norm_{place}")
        element_type = graph.element_type(norm.input[1])
        scale, shift = (local.cast(name, element_type, TensorProto.FLOAT) for name in norm.input[1:3])
        end, output = place, norm.output[0]
        if affine := _affine(graph, norm.output[0], moving):
            (by, by_place), (plus, plus_place) = affine
            flat = local.ints(-1)
            by, plus = (local.cast(name, element_type, TensorProto.FLOAT) for name in (by, plus))
            factor = local.node("Reshape", [by, flat])
            scale = local.node("Mul", [scale, factor])
            shift = local.node("Add", [local.node("Mul", [shift, factor]), local.node("Reshape", [plus, flat])])
            instead[place] = instead[by_place] = []
            end, output = plus_place, graph.nodes[plus_place].output[0]
        x = local.cast(norm.input[0], element_type, TensorProto.FLOAT)
        result = output if element_type == TensorProto.FLOAT else local.name()
        given, epsilon = [x, scale, shift, mean, variance], attribute(norm, "epsilon", 1e-5)
        local.nodes.append(helper.make_node("BatchNormalization", given, [result], epsilon=epsilon))
        if result != output:
            local.nodes.append(helper.make_node("Cast", [result], [output], to=element_type))
        instead[end] = local.nodes
        more.constants += local.constants
    return instead, more


def _affine(graph: Graph, tensor: str, moving: list[str]) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """The factor and the summand that follow a norm, each with its node's place, if they stay the same all along."""
    found = []
    for operator in ("Mul", "Add"):
        takers = graph.takers(tensor)
        if len(takers) != 1 or takers[0].op_type != operator:
            return None
        others = [name for name in takers[0].input if name != tensor]
        if len(others) != 1 or graph.depends(others[0], moving):
            return None
        tensor = takers[0].output[0]
        found.append((others[0], graph.place(tensor)))
    return found[0], found[1]


def crop_context(graph: Graph, cuts: Cuts) -> tuple[dict[int, list[Any]], Additions]:
    """Let the generator drop context between its stages, as far as the input `CROP` says.

    The first stage needs about 80 ms on each side, the second, which is the dearer one, about 30.
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
