"""The command line as a whole: help, near misses, and completion in a shell."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from shm.setting import Group
from supervisor.cli import kokoro_live
from supervisor.settings.composition import SETTINGS


def help_of(*arguments: str, flag: str = "--help-all") -> str:
    result = CliRunner().invoke(kokoro_live, [*arguments, flag])
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize(
    ("asked", "meant"), [("srve", "serve"), ("stats", "status"), ("install", "install-service"), ("xyzzy", None)]
)
def test_a_near_miss_suggests_the_command(asked: str, meant: str | None) -> None:
    result = CliRunner().invoke(kokoro_live, [asked])
    assert result.exit_code == 2 and f"no command '{asked}'" in result.stderr
    assert ("Did you mean" in result.stderr) is bool(meant)
    assert not meant or f"`kokoro-live {meant}`" in result.stderr


def test_help_of_serve_has_a_section_for_each_group_and_all_settings() -> None:
    shown = help_of("serve")
    assert [group for group in Group if f"\n{group}:\n" not in shown] == []
    assert [name for name in SETTINGS if f"--{name.replace('_', '-')}" not in shown] == []


@pytest.mark.parametrize(("command", "own"), [("say", "--output"), ("voices", "--json"), ("tune", "--show")])
def test_a_command_s_own_options_stand_before_the_settings(command: str, own: str) -> None:
    shown = help_of(command)
    assert shown.index(own) < shown.index("\nEngine and model:\n") < shown.index("--engine")
    assert "--max-streams" not in shown, "it doesn't read that"


SHORT = {"play": 45}
"""Lines of the short help, where it isn't 26: `play` has a flag for each verb."""


@pytest.mark.parametrize("command", ["say", "play", "serve", "voices", "status", "doctor", "bench", "tune", "mcp"])
def test_the_short_help_has_the_command_s_own_options_and_fits_a_screen(command: str) -> None:
    shown = help_of(command, flag="--help")
    assert len(shown.splitlines()) <= SHORT.get(command, 26), shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "--help-all" in shown and "KOKORO_LIVE_" not in shown


def test_a_shell_completes_commands_and_settings() -> None:
    """Completion works as docs/operations.md describes."""

    def completed(words: str, place: int) -> str:
        environment = {"_KOKORO_LIVE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        command = [sys.executable, "-c", "from supervisor.__main__ import main; main()"]
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
        return done.stdout

    assert completed("kokoro-live se", 1).split() == ["plain,serve"]
    assert "plain,--drain-timeout" in completed("kokoro-live serve --drain", 2)
