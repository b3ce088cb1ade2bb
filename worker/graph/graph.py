"""An ONNX graph prepared for cutting: the maker and takers of each tensor, and the nodes between two sets of
tensors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper


class CannotSplit(Exception):
    """The model isn't built as the cutter expects, but it can still run whole. The message names the missing
    structure."""


class Graph:
    """A model's nodes by their outputs and inputs. Attributes of nodes may be changed in place; names of tensors never
    change.

    Nodes are known by their place in the model, which is a topological order (ONNX demands that).
    """

    def __init__(self, model: Any, values: Sequence[Any] = ()) -> None:
        """`values`: the known types of tensors that are neither inputs nor outputs of the model."""
        self.model = model
        self.nodes: list[Any] = list(model.graph.node)
        self.initializers: dict[str, Any] = {tensor.name: tensor for tensor in model.graph.initializer}
        self.inputs: dict[str, Any] = {
            value.name: value for value in model.graph.input if value.name not in self.initializers
        }
        self._maker = {name: place for place, node in enumerate(self.nodes) for name in node.output if name}
        self._taken = [names_taken(node) for node in self.nodes]
        self._takers: defaultdict[str, list[int]] = defaultdict(list)
        for place, names in enumerate(self._taken):
            for name in names:
                self._takers[name].append(place)
        self._computed_from: dict[tuple[str, ...], set[str]] = {}
        self._values = {
            value.name: value for group in (values, model.graph.input, model.graph.output) for value in group
        }

    @property
    def opset(self) -> int:
        """The model's opset version; 0 if the model doesn't state one, as an empty file."""
        return max(
            (int(opset.version) for opset in self.model.opset_import if opset.domain in ("", "ai.onnx")), default=0
        )

    def of_type(self, *operators: str) -> Iterator[Any]:
        return (node for node in self.nodes if node.op_type in operators)

    def maker(self, tensor: str) -> Any | None:
        """The node that makes the tensor; None for an input or an initializer."""
        place = self._maker.get(tensor)
        return None if place is None else self.nodes[place]

    def place(self, tensor: str) -> int:
        """The place of the node that makes the tensor."""
        return self._maker[tensor]

    def takers(self, tensor: str) -> list[Any]:
        return [self.nodes[place] for place in self._takers[tensor]]

    def taken_by(self, place: int) -> list[str]:
        """All inputs of a node, including the outer tensors that its subgraphs take."""
        return self._taken[place]

    def element_type(self, tensor: str) -> int:
        """The tensor's element type, numbered as in `onnx.TensorProto`; float where the model doesn't state it."""
        if tensor in self.initializers:
            return int(self.initializers[tensor].data_type)
        value = self._values.get(tensor)
        return (int(value.type.tensor_type.elem_type) if value else 0) or int(onnx.TensorProto.FLOAT)

    def constant(self, tensor: str) -> np.ndarray[Any, Any] | None:
        """The tensor's value if the model stores it. Exporters store equal weights once and refer to them through
        Identity nodes."""
        while (node := self.maker(tensor)) is not None and node.op_type == "Identity":
            tensor = node.input[0]
        if tensor in self.initializers:
            return np.asarray(numpy_helper.to_array(self.initializers[tensor]))
        if node is not None and node.op_type == "Constant" and node.attribute[0].name == "value":
            return np.asarray(numpy_helper.to_array(node.attribute[0].t))
        return None

    def needed(self, tensors: Collection[str], stops: Collection[str] = ()) -> tuple[list[int], set[str]]:
        """The nodes (places, in order) that compute `tensors` when `stops` are given, and all names that these nodes
        use.

        The names include initializers and the model's inputs, so an input missing from `stops` shows up among them.
        """
        seen: set[str] = set()
        places: set[int] = set()
        open_names = list(tensors)
        while open_names:
            name = open_names.pop()
            if name in seen or name in stops:
                continue
            seen.add(name)
            if name in self._maker and self._maker[name] not in places:
                places.add(self._maker[name])
                open_names += self._taken[self._maker[name]]
        return sorted(places), seen

    def depends(self, tensor: str, on: Collection[str]) -> bool:
        """True if the tensor is one of `on` or is computed from one of them."""
        return tensor in self._all_from(tuple(on))

    def _all_from(self, tensors: tuple[str, ...]) -> set[str]:
        """The tensors and all that are computed from them. Found once: a cut asks for each operand of 150 norms."""
        if tensors not in self._computed_from:
            found: set[str] = set()
            open_names = list(tensors)
            while open_names:
                name = open_names.pop()
                if name not in found:
                    found.add(name)
                    open_names += [made for taker in self.takers(name) for made in taker.output if made]
            self._computed_from[tensors] = found
        return self._computed_from[tensors]

    def value(self, tensor: str) -> Any:
        """The tensor's description (name, type, shape) as an input or output of a model."""
        return self._values.get(tensor) or helper.make_tensor_value_info(tensor, self.element_type(tensor), None)


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """A node's attribute as a Python value."""
    for found in node.attribute:
        if found.name == name:
            return helper.get_attribute_value(found)
    return default


_WITH_SUBGRAPHS = frozenset(("If", "Loop", "Scan", "SequenceMap"))
"""ONNX's operators with graphs as attributes. Reading every node's attributes would take half the time of a cut."""


def names_taken(node: Any) -> list[str]:
    """All inputs of a node, including the outer tensors that its subgraphs (of loops and branches) take."""
    names = [name for name in node.input if name]
    for found in node.attribute if node.op_type in _WITH_SUBGRAPHS else ():
        for graph in [found.g] if found.type == AttributeProto.GRAPH else found.graphs:
            own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
            own |= {name for inner in graph.node for name in inner.output}
            inside = [name for inner in graph.node for name in names_taken(inner)]
            inside += [value.name for value in graph.output]
            names += [name for name in inside if name not in own]
    return names
