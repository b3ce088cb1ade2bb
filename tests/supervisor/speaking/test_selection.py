"""`kokoro-live play --selection`: the text that is marked in a window, by the desktop's own commands."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from client.answers import CannotSpeak
from client.play import PlayClient
from supervisor.commands.play import play
from supervisor.speaking.texts import selection

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
    """An X server without a screen; its name."""
    arguments = ["Xvfb", "-displayfd", "1", "-screen", "0", "64x64x8", "-nolisten", "tcp"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        yield f":{server.stdout.readline().strip()}"
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
