"""Test files that share a server run in one process of pytest's, so that each such server is started once.

A server's start takes as much processor time as ten tests.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

_SYSTEM = (
    *("controlled_speech", "deadly_texts", "fairness", "formats", "growing_text", "limits", "metrics"),
    *("no_sound_card", "processes", "replacement", "sent_ahead", "several_voices", "speech_end_to_end"),
    *("cancellation", "model_arrives", "text_that_kills", "worker_priority", "wyoming"),
)
_CHAOS = ("idle_and_stopped_workers", "kill_loops", "restart_intensity")

TOGETHER = {f"tests/system/test_{name}.py": "system" for name in _SYSTEM} | {
    f"tests/chaos/test_{name}.py": "chaos" for name in _CHAOS
}
"""Files that share servers (`tests/system/conftest.py`, `tests/chaos/conftest.py`), each with its group."""


class GroupScheduling(LoadFileScheduling):
    """xdist's `--dist loadfile`, with one process for all files of a group."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return TOGETHER.get(file, file)
