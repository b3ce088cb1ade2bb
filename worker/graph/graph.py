"""An ONNX graph prepared for cutting: the maker and takers of each tensor, and the nodes between two sets of
tensors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, TensorProto, helper, numpy_helper


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


class Nodes:
    """The maker and takers of each tensor, in topological order, before and after replacements.

    Names of new tensors begin with `prefix`, so they never collide with the model's names.
    """

    def __init__(self, nodes: Sequence[Any], outputs: Collection[str], graph: Graph, prefix: str) -> None:
        """`outputs`: the stage's outputs. `graph`: the source of constants."""
        self.constants: list[Any] = []
        """Added initializers."""
        self.derived: dict[str, Any] = {}
        """Initializers derived from the model's, by name."""
        self.reshaped: dict[str, tuple[int, ...]] = {}
        """Initializers of the model that get another shape."""
        self.graph = graph
        self._nodes = list(nodes)
        self._outputs = set(outputs)
        self._prefix = f"kokoro_live_{prefix}"
        self._count = 0
        self._written: dict[tuple[bytes, tuple[int, ...], str], str] = {}
        self._indexed: _Index | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nodes)

    def maker(self, tensor: str) -> Any | None:
        """The stage's node that makes the tensor."""
        return self._index.maker.get(tensor)

    def takers(self, tensor: str) -> list[Any]:
        return self._index.takers.get(tensor, [])

    def only_taker(self, tensor: str) -> Any | None:
        """The only node that takes the tensor; None if several take it or it is an output of the stage."""
        takers = self.takers(tensor)
        return takers[0] if len(takers) == 1 and tensor not in self._outputs else None

    def constant(self, tensor: str) -> NDArray[Any] | None:
        """The tensor's value if the model stores it."""
        return self.graph.constant(tensor)

    def add(self, value: NDArray[Any]) -> str:
        """Add a constant; equal values share one constant."""
        key = (value.tobytes(), value.shape, value.dtype.str)
        if key not in self._written:
            self._written[key] = self.name()
            self.constants.append(numpy_helper.from_array(value, self._written[key]))
        return self._written[key]

    def derive(self, name: str, value: NDArray[Any]) -> str:
        """Add a constant under a given name; stages use the same name, so that they share its data."""
        if name not in self.derived:
            self.derived[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def name(self) -> str:
        self._count += 1
        return f"{self._prefix}_{self._count}"

    def replace(self, replaced: dict[int, list[Any]]) -> None:
        """Replace some nodes, identified by `id`, by others."""
        if replaced:
            self._nodes = [new for node in self._nodes for new in replaced.get(id(node), [node])]
            self._indexed = None

    def drop_unused(self) -> None:
        """Remove nodes that no output needs any more."""
        needed, kept = set(self._outputs), []
        for node in reversed(self._nodes):
            if needed.intersection(node.output):
                needed.update(names_taken(node))
                kept.append(node)
        self._nodes = kept[::-1]
        self._indexed = None

    def taken(self) -> set[str]:
        """All names that nodes take as inputs."""
        return {name for node in self._nodes for name in names_taken(node)}

    @property
    def _index(self) -> _Index:
        """Made when it is first asked for after a change: most rewrites find nothing in most stages."""
        if self._indexed is None:
            takers: defaultdict[str, list[Any]] = defaultdict(list)
            for node in self._nodes:
                for name in dict.fromkeys(names_taken(node)):
                    takers[name].append(node)
            self._indexed = _Index({name: node for node in self._nodes for name in node.output if name}, takers)
        return self._indexed


class _Index(NamedTuple):
    """The node that makes each tensor, and those that take it."""

    maker: dict[str, Any]
    takers: Mapping[str, list[Any]]


class Chain:
    """Nodes that replace one place in the graph, written one after another."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes: list[Any] = []
        self._all = nodes

    def node(self, operator: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        output = output or self._all.name()
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def floats(self, values: Any, kind: Any = np.float32) -> str:
        return self._all.add(np.asarray(values, kind))

    def ints(self, *values: int) -> str:
        return self._all.add(np.array(values, np.int64))


def is_float(tensor: Any) -> bool:
    return bool(tensor.data_type == TensorProto.FLOAT)
