"""A stage's nodes while rewrites change them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from worker.graph.graph import Graph, names_taken


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
