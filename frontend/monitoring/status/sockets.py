"""The open sockets and contexts, for `/status` and `/metrics`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from frontend.monitoring.readings import Reading


@dataclass(slots=True)
class OpenSockets:
    """Counts that the protocols with growing texts keep."""

    sockets: Counter[str] = field(default_factory=Counter)
    """Open connections by protocol; a protocol that was used once stays with 0."""
    contexts: int = 0
    """Contexts that are open on them."""

    def readings(self) -> Iterator[Reading]:
        """The counts of sockets and contexts, as gauges."""
        for protocol, count in self.sockets.items():
            yield "sockets", (protocol,), float(count)
        yield "contexts", (), float(self.contexts)
