"""Where a graph's nodes ran, from the profile that onnxruntime writes of a session.

Source: https://onnxruntime.ai/docs/performance/tune-performance/profiling-tools.html
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import msgspec


class _Event(msgspec.Struct):
    name: str
    cat: str = ""
    args: dict[str, Any] = {}


_decode = msgspec.json.Decoder(list[_Event]).decode


def placement(profile: Path) -> dict[str, int]:
    """Nodes by the execution provider that ran them, however often each ran. What a provider has compiled into one
    node is one.

    Raises:
        OSError, msgspec.DecodeError: that is no profile.
    """
    ran = {
        (event.name, provider)
        for event in _decode(profile.read_bytes())
        if event.cat == "Node" and (provider := event.args.get("provider"))
    }
    return dict(Counter(provider for _, provider in ran))


class Profiles:
    """The sessions that were opened while profiles are taken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sessions: list[tuple[str, Any]] = []

    def prefix(self, model: Path) -> str:
        """Of the profile's file."""
        return str(self._folder / f"{len(self._sessions)}-{model.stem}")

    def opened(self, model: Path, session: Any) -> None:
        self._sessions.append((model.stem, session))

    def end(self) -> dict[str, dict[str, int]]:
        """By the graph's file name without its suffix: where the nodes of those ran that ran at all. From now on the
        sessions run as others do."""
        found: dict[str, dict[str, int]] = {}
        for name, session in self._sessions:
            nodes = placement(Path(session.end_profiling()))
            if sum(nodes.values()) > sum(found.get(name, {}).values()):
                found[name] = nodes
        self._sessions.clear()
        return found


current: ContextVar[Profiles | None] = ContextVar("current", default=None)
"""Where `worker.session.open_session` leaves the sessions that it opens."""


@contextmanager
def profiling() -> Iterator[Profiles]:
    """Every session opened meanwhile, by this thread, is profiled until `Profiles.end`."""
    with tempfile.TemporaryDirectory(prefix="kokoro-live-profile-") as folder:
        profiles = Profiles(Path(folder))
        token = current.set(profiles)
        try:
            yield profiles
        finally:
            current.reset(token)
