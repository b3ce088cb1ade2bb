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
_PAGE = ("page_books", "page_in_browser", "page_live_in_browser", "reading_in_browser", "texts_in_browser")
_CLIENTS = (
    *("ffmpeg", "home_assistant", "mcp", "open_webui", "openai_node", "openai_python", "raycast"),
    *("recorded_requests", "say_with_a_key"),
)
_GROUPS = {"system": _SYSTEM, "chaos": _CHAOS, "page": _PAGE, "clients": _CLIENTS}

TOGETHER = {f"tests/{group}/test_{name}.py": group for group, names in _GROUPS.items() for name in names}
"""Files that share servers (`tests/GROUP/conftest.py`), each with its group, which is named as its folder."""


class GroupScheduling(LoadFileScheduling):
    """xdist's `--dist loadfile`, with one process for all files of a group."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return TOGETHER.get(file, file)
