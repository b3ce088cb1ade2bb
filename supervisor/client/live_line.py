"""The live line of `kokoro-live play`: what sounds now, in one line of a terminal, and the keys that control it."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from supervisor.client.spoken import CannotSpeak

_MARKS = {"playing": "▶", "paused": "⏸", "buffering": "…", "idle": "■"}

_VERBS = {
    b" ": "toggle",
    b"\x1b[C": "skip",
    b"\x1b[D": "back",
    b"+": "faster",
    b"=": "faster",
    b"-": "slower",
}


class Steered(Protocol):
    """The part of `supervisor.client.play_client.PlayClient` that keys need."""

    def state(self) -> dict[str, Any]: ...

    def steer(self, verb: str) -> dict[str, Any]: ...

    def end(self, name: str) -> None: ...

    def change(self, **changes: float | str) -> dict[str, Any]: ...


def line(state: dict[str, Any], width: int) -> str:
    """The state in one line that leaves the last column of a terminal of `width` columns to the cursor."""
    seconds, of = state.get("seconds") or 0.0, state.get("of") or 0.0
    head = f"{_MARKS[state['state']]} {_clock(seconds)}/{_clock(of)} {state.get('speed') or 1:g}× "
    text = state.get("reason") or state.get("sentence") or ""
    whole, room = head + text, max(width - 1, 1)
    return whole if len(whole) <= room else whole[: room - 1] + "…"


def obey(client: Steered, name: str, key: bytes) -> None:
    """Do what a key means for the text of that id; a key without a meaning does nothing."""
    if key in _VERBS:
        client.steer(_VERBS[key])
    elif key == b"q":
        client.end(name)
    elif key in (b"\x1b[A", b"\x1b[B"):
        volume = client.state()["volume"] + (0.1 if key.endswith(b"A") else -0.1)
        client.change(volume=round(min(max(volume, 0.0), 1.0), 2))


@contextmanager
def live_line(client: Steered, name: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Call the result with each state while the text of that id is played. Without a terminal nothing is shown, and no
    keys are read."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield lambda state: None
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    end_read, end_write = os.pipe()
    keys = threading.Thread(target=_read_keys, args=(client, name, end_read), daemon=True)
    try:
        tty.setcbreak(sys.stdin)
        keys.start()
        yield _show
    finally:
        os.close(end_write)
        keys.join()
        os.close(end_read)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _show(state: dict[str, Any]) -> None:
    sys.stderr.write(f"\r\x1b[K{line(state, shutil.get_terminal_size().columns)}")
    sys.stderr.flush()


def _read_keys(client: Steered, name: str, end: int) -> None:
    while True:
        ready, _, _ = select.select([sys.stdin, end], [], [])
        if end in ready:
            return
        key = os.read(sys.stdin.fileno(), 8)
        if not key:
            return
        with contextlib.suppress(CannotSpeak):  # nothing is being played any more
            obey(client, name, key)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
