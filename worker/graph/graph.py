"""ONNX graphs, read, cut and rewritten: a graph's nodes by the tensors that they make and take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, TensorProto, helper, numpy_helper


class CannotSplit(Exception):
    """The model isn't built as the cutter expects, but it can still run whole. The message names the missing
    structure."""


class Nodes:
    """Nodes in topological order (ONNX demands that), with the inputs and outputs of what they compute: of a whole
    model, or of a part of one.

    Rewrites replace nodes, which are known by identity, and add constants. Names of tensors that were there never
    change; names of new ones begin with `kokoro_live` and the prefix, so they never collide.
    """

    def __init__(
        self, nodes: Iterable[Any], inputs: Mapping[str, Any], outputs: Mapping[str, Any], graph: Graph, prefix: str
    ) -> None:
        """
        Args:
            inputs, outputs: descriptions (name, type, shape) by name.
            graph: the source of constants and of tensors' types.
        """
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)
        self.graph = graph
        self.constants: list[Any] = []
        """Added initializers."""
        self.derived: dict[str, Any] = {}
        """Initializers derived from the model's, by name."""
        self.reshaped: dict[str, tuple[int, ...]] = {}
        """Initializers of the model that get another shape."""
        self._nodes = list(nodes)
        self._prefix = f"kokoro_live_{prefix}"
        self._count = 0
        self._written: dict[tuple[bytes, tuple[int, ...], str], str] = {}
        self._indexed: _Index | None = None
        self._computed_from: dict[tuple[str, ...], set[str]] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nodes)

    def of_type(self, *operators: str) -> Iterator[Any]:
        return (node for node in self._nodes if node.op_type in operators)

    def maker(self, tensor: str) -> Any | None:
        """The node that makes the tensor; None for an input or an initializer."""
        return self._index.maker.get(tensor)

    def takers(self, tensor: str) -> list[Any]:
        return self._index.takers.get(tensor, [])

    def only_taker(self, tensor: str) -> Any | None:
        """The only node that takes the tensor; None if several take it or it is an output."""
        takers = self.takers(tensor)
        return takers[0] if len(takers) == 1 and tensor not in self.outputs else None

    def constant(self, tensor: str) -> NDArray[Any] | None:
        """The tensor's value if the model stores it."""
        return self.graph.constant(tensor)

    def needed(self, tensors: Collection[str], given: Collection[str] = ()) -> tuple[list[Any], set[str]]:
        """The nodes, in order, that compute `tensors` when `given` are known, and all names that these nodes use.

        The names include initializers and inputs, so an input missing from `given` shows up among them.
        """
        names, kept = set(tensors).difference(given), []
        for node in reversed(self._nodes):
            if not names.isdisjoint(node.output):
                names.update(name for name in names_taken(node) if name not in given)
                kept.append(node)
        return kept[::-1], names

    def depends(self, tensor: str, on: Sequence[str]) -> bool:
        """True if the tensor is one of `on` or is computed from one of them."""
        key = tuple(on)
        if key not in self._computed_from:  # kept until nodes change: a cut asks for each operand of 150 norms
            found = self._computed_from[key] = set(on)
            for node in self._nodes:
                if not found.isdisjoint(names_taken(node)):
                    found.update(filter(None, node.output))
        return tensor in self._computed_from[key]

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

    def replace(self, replaced: Mapping[int, list[Any]], before: Sequence[Any] = (), after: Sequence[Any] = ()) -> None:
        """Replace some nodes, identified by `id`, by others; put further ones before and after all nodes."""
        if replaced or before or after:
            self._set([*before, *(new for node in self._nodes for new in replaced.get(id(node), [node])), *after])

    def drop_unused(self) -> None:
        """Remove nodes that no output needs any more."""
        self._set(self.needed(self.outputs)[0])

    def taken(self) -> set[str]:
        """All names that nodes take as inputs."""
        return {name for node in self._nodes for name in names_taken(node)}

    def _set(self, nodes: list[Any]) -> None:
        self._nodes = nodes
        self._indexed = None
        self._computed_from.clear()

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
    maker: dict[str, Any]
    takers: Mapping[str, list[Any]]


class Graph(Nodes):
    """A whole model. Attributes of its nodes may be changed in place."""

    def __init__(self, model: Any, values: Sequence[Any] = (), prefix: str = "rewritten") -> None:
        """`values`: the known types of tensors that are neither inputs nor outputs of the model."""
        self.model = model
        self.initializers: dict[str, Any] = {tensor.name: tensor for tensor in model.graph.initializer}
        inputs = {value.name: value for value in model.graph.input if value.name not in self.initializers}
        outputs = {value.name: value for value in model.graph.output}
        self._values = {value.name: value for value in values} | inputs | outputs
        super().__init__(model.graph.node, inputs, outputs, self, prefix)

    @property
    def opset(self) -> int:
        """The model's opset version; 0 if the model doesn't state one, as an empty file."""
        return max(
            (int(opset.version) for opset in self.model.opset_import if opset.domain in ("", "ai.onnx")), default=0
        )

    def part(self, inputs: Sequence[str], outputs: Sequence[str]) -> Nodes:
        """The part of the model that computes `outputs` from `inputs`."""
        given, made = ({name: self.value(name) for name in names} for names in (inputs, outputs))
        return Nodes(self.needed(outputs, inputs)[0], given, made, self, "rewritten")

    def constant(self, tensor: str) -> NDArray[Any] | None:
        """The tensor's value if the model stores it. Exporters store equal weights once and refer to them through
        Identity nodes."""
        while (node := self.maker(tensor)) is not None and node.op_type == "Identity":
            tensor = node.input[0]
        if tensor in self.initializers:
            return np.asarray(numpy_helper.to_array(self.initializers[tensor]))
        if node is not None and node.op_type == "Constant" and node.attribute[0].name == "value":
            return np.asarray(numpy_helper.to_array(node.attribute[0].t))
        return None

    def element_type(self, tensor: str) -> int:
        """The tensor's element type, numbered as in `onnx.TensorProto`; float where the model doesn't state it."""
        if tensor in self.initializers:
            return int(self.initializers[tensor].data_type)
        value = self._values.get(tensor)
        return (int(value.type.tensor_type.elem_type) if value else 0) or int(TensorProto.FLOAT)

    def value(self, tensor: str) -> Any:
        """The tensor's description (name, type, shape) as an input or output of a model."""
        return self._values.get(tensor) or helper.make_tensor_value_info(tensor, self.element_type(tensor), None)

    def store(self) -> None:
        """Write the rewritten nodes and their constants into the model, without the initializers that none of them
        takes, and without stored types of tensors. The graph isn't valid any more."""
        graph = self.model.graph
        # Protocol buffers copy elements put into a list, and invalidate elements removed from one.
        nodes = [type(node).FromString(node.SerializeToString()) for node in self]
        taken = self.taken() | self.outputs.keys()
        for place in reversed([place for place, each in enumerate(graph.initializer) if each.name not in taken]):
            del graph.initializer[place]
        graph.initializer.extend(each for each in (*self.constants, *self.derived.values()) if each.name in taken)
        del graph.node[:], graph.value_info[:]
        graph.node.extend(nodes)


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

    def cast(self, tensor: str, element_type: int, wanted: int) -> str:
        return tensor if element_type == wanted else self.node("Cast", [tensor], to=wanted)


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """A node's attribute as a Python value."""
    return next((helper.get_attribute_value(found) for found in node.attribute if found.name == name), default)


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
