"""`kokoro-live play`: its line and keys, marked text, an interruption; and `mcp`'s tools over a player."""

import asyncio
import itertools
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from client.answers import CannotSpeak
from client.play import PlayClient
from supervisor.commands.play import line, live_line, obey, play
from supervisor.speaking.texts import selection

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


@pytest.mark.parametrize("command", ["play", "say"])
async def test_an_interruption_while_the_server_answers_ends_the_text(command: str) -> None:
    asked, interrupted = asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def health(request: web.Request) -> web.Response:
        return web.json_response({}, headers={"Server": "kokoro-live"})

    async def take(request: web.Request) -> web.Response:
        asked.set()
        await interrupted.wait()
        return web.json_response({"id": "play-1", "position_in_queue": 0})

    async def end(request: web.Request) -> web.Response:
        ended.append(request.match_info["name"])
        return web.json_response({})

    app = web.Application()
    app.add_routes([web.get("/health", health), web.post("/v1/play", take), web.delete("/v1/play/{name}", end)])
    async with TestServer(app) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "supervisor", command, "--url", str(server.make_url("")).rstrip("/"), "Unheard."
        )
        await asked.wait()
        process.send_signal(signal.SIGINT)
        interrupted.set()
        assert await process.wait() == -signal.SIGINT
    assert ended == ["play-1"]


def test_an_interruption_at_any_line_ends_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late this thread goes on after the server was asked."""
    ended: list[str] = []
    asked = threading.Event()

    def ask(*_: object) -> dict[str, str]:
        asked.set()
        return {"id": "play-1"}

    monkeypatch.setattr(PlayClient, "ask_to_play", ask)
    monkeypatch.setattr(PlayClient, "end", lambda _, name: ended.append(name))
    for place in itertools.count(1):
        asked.clear()
        lines = itertools.count(1)

        def interrupt(frame: FrameType, event: str, _: object, lines=lines, place=place) -> Any:  # type: ignore[no-untyped-def]
            if frame.f_code is PlayClient.play.__code__ and event == "line" and next(lines) == place:
                raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)
        try:
            PlayClient("http://127.0.0.1:1").play({})
        except KeyboardInterrupt:
            sys.settrace(None)
            assert ended == ["play-1"] * asked.is_set(), place
            ended.clear()
        else:
            break
        finally:
            sys.settrace(None)
    assert place > 4


Commands = Callable[..., None]


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Have these commands alone, each with what it writes, on desktops of these variables."""

    def have(*displays: str, **written: str) -> None:
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(name, raising=False)
        for name in displays:
            monkeypatch.setenv(name, "here")
        for name, text in written.items():
            file = tmp_path / name.replace("_", "-")
            file.write_text(f"#!/bin/sh\nprintf '%s' '{text}'\n")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return have


@pytest.mark.parametrize(
    ("displays", "written", "said"),
    [
        (["DISPLAY"], {"xclip": "By X11.", "wl_paste": "no"}, "By X11."),
        (["DISPLAY"], {"xsel": " By the other one. "}, "By the other one."),
        (["WAYLAND_DISPLAY", "DISPLAY"], {"xclip": "no", "wl_paste": "By Wayland."}, "By Wayland."),
        (["WAYLAND_DISPLAY", "DISPLAY"], {"xclip": "In an X11 window.", "wl_paste": ""}, "In an X11 window."),
    ],
)
def test_the_desktops_command_tells_what_is_marked(
    commands: Commands, displays: list[str], written: dict[str, str], said: str
) -> None:
    commands(*displays, **written)
    assert selection() == said


@pytest.mark.parametrize(
    ("displays", "written", "told"),
    [
        (["DISPLAY"], {"xclip": ""}, "No text is marked"),
        (["DISPLAY"], {}, "xclip: install"),
        (["WAYLAND_DISPLAY"], {"xclip": "no"}, "wl-clipboard: install"),
        ([], {"xclip": "no"}, "no desktop"),
    ],
)
def test_without_a_marked_text_the_error_says_what_to_do(
    commands: Commands, displays: list[str], written: dict[str, str], told: str
) -> None:
    commands(*displays, **written)
    with pytest.raises(CannotSpeak, match=told):
        selection()


def test_it_is_played_and_never_taken_for_a_files_name(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []
    monkeypatch.setattr(PlayClient, "play", lambda _, asked: played.append(asked["input"]) or "play-1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").write_text("the file")
    commands("DISPLAY", xclip="notes")
    done = CliRunner().invoke(play, ["--selection", "--no-wait"])
    assert done.exit_code == 0 and played == ["notes"], done.output
    opened = CliRunner().invoke(play, ["--selection", "--no-wait", str(tmp_path / "notes")])
    assert opened.exit_code == 0 and played[1:] == ["the file"], (
        "a desktop's menu entry opens a file with the same words"
    )


@contextmanager
def display() -> Iterator[str]:
    """An X server without a screen, which doesn't start anew when its last client leaves; its name."""
    arguments = ["Xvfb", "-displayfd", "1", "-noreset", "-screen", "0", "64x64x8", "-nolisten", "tcp"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout
            yield f":{server.stdout.readline().strip()}"
        finally:
            server.terminate()


@pytest.mark.skipif(not (shutil.which("Xvfb") and shutil.which("xclip")), reason="NO X SERVER: xvfb, xclip")
def test_a_real_selection_of_x11(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with display() as name:
        monkeypatch.setenv("DISPLAY", name)
        with pytest.raises(CannotSpeak, match="No text is marked"):
            selection()
        subprocess.run(["xclip", "-in", "-selection", "primary"], input="Märked.", text=True, check=True)
        assert selection() == "Märked."


class Player:
    """Every text waits for ever."""

    def __init__(self) -> None:
        self.queue: list[dict[str, Any]] = []
        self.ended: list[str] = []

    def ask_to_play(self, body: dict[str, Any]) -> dict[str, Any]:
        self.queue.append({"id": f"text-{len(self.queue)}"})
        return {**self.queue[-1], "position_in_queue": len(self.queue)}

    def state(self) -> dict[str, Any]:
        return {"state": "playing", "id": "another agent's", "queue": self.queue}

    def end(self, name: str) -> None:
        self.ended.append(name)


def test_the_texts_of_weeks_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from supervisor.speaking import agent_tools  # imports `mcp`, a second of a core

    monkeypatch.setattr(agent_tools, "_REMEMBERED", 2)
    tools, player = agent_tools.AgentTools("http://127.0.0.1:1"), Player()
    monkeypatch.setattr(tools, "_player", player)
    for _ in range(3):
        tools.speak("Hello.")
    tools.stop()
    assert player.ended == ["text-2", "text-1"], "the last first"
    tools.stop()
    assert len(player.ended) == 2
