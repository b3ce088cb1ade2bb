"""Nodes of a graph that ran: the providers that ran them, from the profile that onnxruntime writes of a session.

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


def nodes_by_provider(profile: Path) -> dict[str, int]:
    """Number of nodes by the execution provider that ran them; a node that ran several times counts once. Nodes that a
    provider has compiled into one count as one.

    Raises:
        OSError, msgspec.DecodeError: the file isn't a profile.
    """
    ran = {
        (event.name, provider)
        for event in _decode(profile.read_bytes())
        if event.cat == "Node" and (provider := event.args.get("provider"))
    }
    return dict(Counter(provider for _, provider in ran))


def graph_name(model: Path) -> str:
    """The name of a graph, whatever form its file has: `decoder` for `decoder.cpu.onnx`."""
    return model.stem.removesuffix(".cpu")


class NodeProfiles:
    """Collector of the sessions that are opened while profiles are taken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sessions: list[tuple[str, Any]] = []

    def prefix(self, model: Path) -> str:
        """Path prefix of the model's profile file."""
        return str(self._folder / f"{len(self._sessions)}-{graph_name(model)}")

    def opened(self, model: Path, session: Any) -> None:
        """Record a session that was opened for the model."""
        self._sessions.append((graph_name(model), session))

    def end(self) -> dict[str, dict[str, int]]:
        """End profiling. Returns the number of nodes by provider, by the graph's file name without its suffix, for the
        sessions that ran; if a graph has several sessions, the one in which most nodes ran counts."""
        found: dict[str, dict[str, int]] = {}
        for name, session in self._sessions:
            nodes = nodes_by_provider(Path(session.end_profiling()))
            if sum(nodes.values()) > sum(found.get(name, {}).values()):
                found[name] = nodes
        self._sessions.clear()
        return found


current: ContextVar[NodeProfiles | None] = ContextVar("current", default=None)
"""Collector for the sessions that `worker.session.open_session` opens in this context; None if no profile is taken."""


@contextmanager
def profiling() -> Iterator[NodeProfiles]:
    """Profile every session that this thread opens inside the `with` block, until `NodeProfiles.end`."""
    with tempfile.TemporaryDirectory(prefix="kokoro-live-profile-") as folder:
        profiles = NodeProfiles(Path(folder))
        token = current.set(profiles)
        try:
            yield profiles
        finally:
            current.reset(token)
