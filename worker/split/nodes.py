"""A stage's nodes while they are rewritten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from worker.split.graph import Graph, names_taken


class Nodes:
    """Who makes and who takes each tensor, in topological order, before and after replacements.

    Names of new tensors begin with `prefix`, so they are none of the model's.
    """

    def __init__(self, nodes: Sequence[Any], outputs: Collection[str], graph: Graph, prefix: str) -> None:
        """`outputs`: of the stage. `graph`: what knows the constants."""
        self.constants: list[Any] = []
        """Initializers that were added."""
        self.derived: dict[str, Any] = {}
        """Initializers that were made of the model's, by name."""
        self.reshaped: dict[str, tuple[int, ...]] = {}
        """Initializers of the model that get other dimensions."""
        self.graph = graph
        self._nodes = list(nodes)
        self._outputs = set(outputs)
        self._prefix = f"kokoro_live_{prefix}"
        self._count = 0
        self._written: dict[tuple[bytes, tuple[int, ...], str], str] = {}
        self._index()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nodes)

    def maker(self, tensor: str) -> Any | None:
        """The node that makes it, in the stage."""
        return self._maker.get(tensor)

    def takers(self, tensor: str) -> list[Any]:
        return self._takers[tensor]

    def only_taker(self, tensor: str) -> Any | None:
        """The one node that takes it; None if there are others, or it leaves the stage."""
        takers = self._takers[tensor]
        return takers[0] if len(takers) == 1 and tensor not in self._outputs else None

    def constant(self, tensor: str) -> NDArray[Any] | None:
        """Its value, if the model has it in itself."""
        return self.graph.constant(tensor)

    def add(self, value: NDArray[Any]) -> str:
        """A new constant; the same for the same value."""
        key = (value.tobytes(), value.shape, value.dtype.str)
        if key not in self._written:
            self._written[key] = self.name()
            self.constants.append(numpy_helper.from_array(value, self._written[key]))
        return self._written[key]

    def derive(self, name: str, value: NDArray[Any]) -> str:
        """A new constant under a name of its own: the same in each stage, so that they share it."""
        if name not in self.derived:
            self.derived[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def name(self) -> str:
        self._count += 1
        return f"{self._prefix}_{self._count}"

    def replace(self, replaced: dict[int, list[Any]]) -> None:
        """Put other nodes in the place of some, which are known by `id`."""
        self._nodes = [new for node in self._nodes for new in replaced.get(id(node), [node])]
        self._index()

    def drop_unused(self) -> None:
        """Leave out what no output needs any more."""
        needed, kept = set(self._outputs), []
        for node in reversed(self._nodes):
            if needed.intersection(node.output):
                needed.update(names_taken(node))
                kept.append(node)
        self._nodes = kept[::-1]
        self._index()

    def taken(self) -> set[str]:
        """All names that some node takes."""
        return {name for node in self._nodes for name in names_taken(node)}

    def _index(self) -> None:
        self._maker = {name: node for node in self._nodes for name in node.output if name}
        self._takers: defaultdict[str, list[Any]] = defaultdict(list)
        for node in self._nodes:
            for name in dict.fromkeys(names_taken(node)):
                self._takers[name].append(node)


class Chain:
    """Nodes that stand in one place, written one after another."""

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
