"""`kokoro-live play`'s line and its keys, in a terminal of the test's own."""

import os
import pty
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from client.answers import CannotSpeak
from supervisor.commands.play import line, live_line, obey

STATE: dict[str, Any] = {
    "state": "playing", "sentence": "A sentence of some length.", "seconds": 65.4, "of": 130.0, "speed": 1.25,
    "volume": 0.5, "reason": None,
}  # fmt: skip


class NotingClient:
    """Notes commands. The test waits for the one that it has caused."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.news = threading.Semaphore(0)

    def state(self) -> dict[str, Any]:
        return STATE

    def steer(self, verb: str) -> dict[str, Any]:
        self._note(verb)
        if verb == "back":
            raise CannotSpeak("nothing is being played")
        return STATE

    def end(self, name: str) -> None:
        self._note(("end", name))

    def change(self, **changes: float | str) -> dict[str, Any]:
        self._note(changes)
        return STATE

    def _note(self, command: object) -> None:
        self.done.append(command)
        self.news.release()


def test_the_line_shows_time_speed_and_sentence() -> None:
    assert line(STATE, 80) == "▶ 1:05/2:10 1.25× A sentence of some length."
    assert line({"state": "buffering", "reason": "nothing is plugged in"}, 80) == "… 0:00/0:00 1× nothing is plugged in"
    assert line(STATE, 30) == "▶ 1:05/2:10 1.25× A sentence…"
    assert all(len(line(STATE, width)) < width for width in range(2, 60)), "a longer one would fill a second line"


@pytest.mark.parametrize(
    ("key", "command"),
    [
        (b" ", "toggle"),
        (b"\x1b[C", "skip"),
        (b"+", "faster"),
        (b"=", "faster"),
        (b"-", "slower"),
        (b"\x1b[A", {"volume": 0.6}),
        (b"\x1b[B", {"volume": 0.4}),
        (b"q", ("end", "play-1")),
    ],
)
def test_each_key_is_a_command(key: bytes, command: object) -> None:
    client = NotingClient()
    obey(client, "play-1", key)
    obey(client, "play-1", b"x")
    assert client.done == [command]


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The user's end of a terminal that standard input and standard error are; pytest would take them back from a
    fixture."""
    ours, theirs = pty.openpty()
    with (
        os.fdopen(theirs, "rb+", buffering=0) as end,
        open(theirs, "w", closefd=False) as writer,
        monkeypatch.context() as to,
    ):
        to.setattr(sys, "stdin", end)
        to.setattr(sys, "stderr", writer)
        yield ours
    os.close(ours)


def test_keys_are_read_while_the_line_is_shown_and_the_terminal_is_left_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = NotingClient()
    with terminal(monkeypatch) as user:
        before = termios.tcgetattr(user)
        with live_line(client, "play-1") as show:
            assert not termios.tcgetattr(user)[3] & termios.ECHO
            show(STATE)
            shown = b""
            while b"sentence" not in shown:
                shown += os.read(user, 4096)
            for key in (b" ", b"\x1b[D", b"q"):  # the second one is refused, which ends nothing
                os.write(user, key)
                assert client.news.acquire(timeout=60)
        assert client.done == ["toggle", "back", ("end", "play-1")]
        assert termios.tcgetattr(user) == before


def test_without_a_terminal_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = NotingClient()
    with live_line(client, "play-1") as show:
        show(STATE)
    assert capsys.readouterr() == ("", "") and not client.done
