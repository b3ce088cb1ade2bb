"""The command line: help, near misses, completion; and the commonest mistakes, each answered with the next step."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner

from shm.setting import Group
from supervisor.cli import kokoro_live
from supervisor.settings.composition import SETTINGS
from tests.frontend.http_fakes import FakeSpeaker, serving, speech
from tests.frontend.served import served
from tests.ports import lasting_port

START = "start one with `kokoro-live serve`"

ALONE = [
    # the command
    ("srve", "Did you mean `kokoro-live serve`"),
    ("speak Hello.", "Did you mean `kokoro-live say`"),
    ("start", "Did you mean `kokoro-live serve`"),
    ("list", "`kokoro-live voices` or `kokoro-live models list`"),
    ("connect openwebui", "Did you mean open-webui?"),
    ("connect Foo", "connects as openai"),
    ("statsu", "Did you mean `kokoro-live status`"),
    ("install mcp", "`kokoro-live update` or `kokoro-live install-service`"),
    ("voice", "Did you mean `kokoro-live voices`"),
    ("model list", "Did you mean `kokoro-live models`"),
    ("--verison", "Did you mean '--version'"),
    ("say --hlep", "Did you mean one of: '--help'"),
    # no server
    ("status", START),
    ("play Hello.", START),
    ("play --pause", START),
    ("play --status", START),
    ("say Hello. --server", START),
    ("say Hello. --url http://127.0.0.1:{port}", START),
    ("say Hello. -o x.wav --server", "or speak without one with --local"),
    ("voices --server", START),
    ("trace", START),
    ("voices --url http://127.0.0.1:{port}", START),
    ("book a.txt --server", START),
    ("book a.txt --unknown-words --server", START),
    ("status --url ftp://localhost", "that is no http:// address"),
    ("say Hello. --url localhost:{port}", START),
    ("reload", "no server of yours listens on port"),
    # the text
    ("say nofile.txt --engine espeak", "There is no file nofile.txt"),
    ("say ./nothing --engine espeak", "There is no file nothing"),
    ("play nofile.md", "There is no file nofile.md"),
    ("say bin.txt --engine espeak -o x.wav", "is no text. Read are texts"),
    ("say folder --engine espeak", "is a folder: name a file in it"),
    ("say book.epub --engine espeak", "`kokoro-live book book.epub` makes an audiobook"),
    ("say '' --engine espeak -o x.wav", "give a text, a file's name, or - for standard input"),
    ("say ' ' --engine espeak", "give a text, a file's name, or - for standard input"),
    ("play ''", "give a text, a file's name, or - for standard input"),
    ("play", "Give a text, a file"),
    ("say empty.txt --engine espeak", "give a text, a file's name"),
    ("read", "give a text, a file's name"),
    ("say a.txt empty.txt", "cat a.txt empty.txt | kokoro-live say"),
    ("say https://example.org/page", "save what is there and name its file"),
    ("play file:///etc/motd", "save what is there and name its file"),
    ("book http://example.org/a.epub", "save what is there and name its file"),
    ("say bad.docx --engine espeak", "bad.docx: The file"),
    ("say empty.html --engine espeak", "no text to speak"),
    # options
    ("say Hello. --engine espeak --voice bob -o x.wav", "`kokoro-live voices`"),
    ("say Hello. --engine espeak --lang xx -o x.wav", "en-us"),
    ("say Hello. --speed 9", "from 0.25 to 5"),
    ("say Hello. --speed fast", "as 1.5 is"),
    ("book a.txt --speed 150%", "from 0.25 to 5"),
    ("say Hello. -o x.xyz --engine espeak", "name the file .mp3"),
    ("say Hello. -o x --engine espeak", "name the file .mp3"),
    ("say Hello. -o nowhere/x.wav --engine espeak", "there is no folder"),
    ("say Hello. -o folder --engine espeak", "name the file"),
    ("say Hello. -o", "requires an argument"),
    ("say Hello. --subtitles x.txt --engine espeak -o x.wav", "name a .srt or .vtt file"),
    ("say Hello. --engine espeak --server", "can't go with --server"),
    ("say Hello. --engine kokro -o x.wav", "auto, kokoro, espeak"),
    ("say Hello. --format mp3", "Did you mean '--output'"),
    ("say -f a.txt", "[TEXT|FILE|-] stands alone"),
    ("book --input a.txt", "FILE stands alone"),
    ("say Hello. -v bob", "Did you mean '--voice'"),
    ("play Hello. --language fr", "Did you mean '--lang'"),
    ("play Hello. --on-busy never", "'interrupt', 'queue', 'next'"),
    ("serve --prot 80", "'--port'"),
    ("serve -p 80", "Did you mean '--port'"),
    ("install-service --user", "Try 'kokoro-live serve --help'"),
    ("serve --port many", "not a valid integer"),
    ("serve --config nofile.toml", "can't be read"),
    ("serve --config bad.toml", "no such setting: prot"),
    ("serve 8880", "Got unexpected extra argument"),
    ("bench everything", "'ttfa'"),
    # files and services
    ("book nofile.epub", "does not exist"),
    ("book book.epub", "Error: The file is no readable zip archive"),
    ("book a.txt -o a.txt", "name another file with -o"),
    ("book a.txt -o a.xyz", "choose one of m4b"),
    ("book a.txt --lang klingon --local --engine espeak", "accepted are cmn, en"),
    ("serve --host nohost --engine espeak", "Name an address of this machine with --host"),
    ("book a.txt --chapters x --dry-run --local", "3-9"),
    ("book", "Missing argument 'FILE'"),
    ("models verify nofile.onnx", "kokoro-live models fetch"),
    ("models fetch nothing.onnx", "kokoro-v1.0.int8.onnx"),
    ("models", "list"),
    ("uninstall-speechd", "it isn't installed"),
    ("tune --show", "`kokoro-live tune` measures one"),
    ("read Hello. --lang klingon", "--lang"),
    ("read nofile.txt", "nofile.txt"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new user's folder, home and environment, where no server runs."""
    for name in [each for each in os.environ if each.startswith("KOKORO_LIVE_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("KOKORO_LIVE_PORT", str(lasting_port()))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("books.making.server.LOST", 0.01)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").write_text("Chapter 1\n\nA short book.\n")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "bin.txt").write_bytes(b"\x7fELF\x00\x80")
    (tmp_path / "book.epub").write_bytes(b"PK")
    (tmp_path / "bad.docx").write_bytes(b"PK\x03\x04")
    (tmp_path / "empty.html").write_text("<nav>Home</nav>")
    (tmp_path / "bad.toml").write_text("prot = 1\n")
    return tmp_path


def answer(typed: str) -> tuple[int, str]:
    result = CliRunner().invoke(kokoro_live, shlex.split(typed), prog_name="kokoro-live", input="")
    said = " ".join(result.output.replace("│", " ").split())
    assert result.exception is None or isinstance(result.exception, SystemExit), said
    return result.exit_code, said


@pytest.mark.parametrize(("typed", "next_step"), ALONE, ids=[typed for typed, _ in ALONE])
def test_a_mistake_without_a_server_is_answered_with_the_next_step(folder: Path, typed: str, next_step: str) -> None:
    code, said = answer(typed.format(port=os.environ["KOKORO_LIVE_PORT"]))
    assert next_step in said
    assert code != 0 and "Traceback" not in said
    assert not [*folder.glob("x*")], "no file is begun"


@pytest.fixture
def running(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSpeaker]:
    speaker = FakeSpeaker(speech(100))
    with served(serving(speaker)) as server:
        monkeypatch.setenv("KOKORO_LIVE_PORT", str(server.port))
        yield speaker


@pytest.mark.parametrize(
    ("typed", "next_step"),
    [
        ("say Hello. --voice bob -o x.wav", "`kokoro-live voices` lists them"),
        ("say Hello. --voice af_hart -o x.wav", "Near it: af_heart"),
        ("say Hello. --lang xx -o x.wav", "en-us"),
        ("book a.txt --voice bob -o x.m4b", "`kokoro-live voices` lists them"),
        ("say Hello. -o x.wav --url 127.0.0.1:{port}/docs", "--url is the server's address alone"),
    ],
)
def test_a_mistake_with_a_server_is_answered_in_words_of_the_command_line(
    folder: Path, running: FakeSpeaker, typed: str, next_step: str
) -> None:
    code, said = answer(typed.format(port=os.environ["KOKORO_LIVE_PORT"]))
    assert next_step in said and code != 0
    assert "GET /" not in said and "`input`" not in said
    assert not running.opened and not [*folder.glob("x*")]


@pytest.mark.parametrize(("typed", "left"), [("tune", "Nothing was kept"), ("read Hello.", "Stopped.")])
def test_an_interruption_says_what_it_leaves(typed: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = kokoro_live.get_command(click.Context(kokoro_live), typed.split()[0])
    monkeypatch.setattr(command, "callback", Mock(side_effect=KeyboardInterrupt))
    code, said = answer(typed)
    assert code == 130 and said.startswith("Stopped.") and left in said


def test_a_file_s_text_is_spoken_and_not_its_name(folder: Path, running: FakeSpeaker) -> None:
    assert answer("say a.txt -o x.wav") == (0, "")
    (folder / "p.html").write_text("<html><nav>Home</nav><h1>A page</h1><p>It is <b>read</b>.</p></html>")
    (folder / "old.txt").write_text("Déjà vu.", encoding="latin-1")
    assert answer("say p.html -o x.wav") == answer("say old.txt -o y.wav") == (0, "")
    assert [asked.text for asked in running.opened][1:] == ["A page\n\nIt is read.", "Déjà vu."]
    assert (folder / "x.wav").exists()


def test_the_port_of_the_variable_is_what_speech_dispatcher_gets(folder: Path, running: FakeSpeaker) -> None:
    code, said = answer("install-speechd")
    assert code == 0 and "No server answers" not in said
    port = os.environ["KOKORO_LIVE_PORT"]
    assert [file for file in folder.rglob("*") if file.is_file() and f"127.0.0.1:{port}" in file.read_text("latin-1")]


def help_of(*arguments: str, flag: str = "--help-all") -> str:
    result = CliRunner().invoke(kokoro_live, [*arguments, flag])
    assert result.exit_code == 0
    return result.stdout


def commands(command: click.Command, *names: str) -> Iterator[tuple[str, ...]]:
    yield names
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found
            yield from commands(found, *names, name)


@pytest.mark.parametrize("names", commands(kokoro_live), ids=" ".join)
def test_the_help_of_each_command_has_at_most_twenty_lines(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = help_of(*names, flag="--help")
    assert len(shown.splitlines()) <= 20 and max(map(len, shown.splitlines())) <= 80
    assert " --help " in shown and "[env var:" not in shown
    if "--help-all" in shown:
        named = re.findall(r"--[\w|-]+", shown)
        assert [name for each in named for name in each.split("|") if name.strip("-") not in help_of(*names)] == []


def test_what_is_near_no_command_suggests_none() -> None:
    result = CliRunner().invoke(kokoro_live, ["xyzzy"])
    assert result.exit_code == 2 and "no command 'xyzzy'" in result.stderr
    assert "Did you mean" not in result.stderr


def test_help_of_serve_has_a_section_for_each_group_and_all_settings() -> None:
    shown = help_of("serve")
    assert [group for group in Group if f"\n{group}:\n" not in shown] == []
    assert [name for name in SETTINGS if f"--{name.replace('_', '-')}" not in shown] == []


@pytest.mark.parametrize(("command", "own"), [("say", "--output"), ("voices", "--json"), ("tune", "--show")])
def test_a_command_s_own_options_stand_before_the_settings(command: str, own: str) -> None:
    shown = help_of(command)
    assert shown.index(own) < shown.index("\nEngine and model:\n") < shown.index("--engine")
    assert "--max-streams" not in shown, "it doesn't read that"


def test_a_shell_completes_commands_and_settings() -> None:
    """Completion works as docs/operations.md describes."""

    def completed(words: str, place: int) -> str:
        environment = {"_KOKORO_LIVE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        command = [sys.executable, "-c", "from supervisor.__main__ import main; main()"]
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
        return done.stdout

    assert completed("kokoro-live se", 1).split() == ["plain,serve"]
    assert "plain,--drain-timeout" in completed("kokoro-live serve --drain", 2)
