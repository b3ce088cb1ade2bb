"""Running `kokoro-live say`, in this process or as a child."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from supervisor.commands.say import say

SAY = [sys.executable, "-m", "supervisor", "say"]
TEXT = "Hello, world. This is spoken without a server."


def run(*arguments: object, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(say, [str(argument) for argument in arguments], input=text)


async def started(*arguments: object) -> Process:
    return await asyncio.create_subprocess_exec(*SAY, *map(str, arguments), stdout=PIPE, stderr=PIPE, stdin=PIPE)


def outcome(*arguments: object, text: str = "") -> tuple[int, bytes, str]:
    """Exit status, standard output and standard error of a run in this process."""
    result = run(*arguments, text=text)
    return result.exit_code, result.stdout_bytes, result.stderr


def player(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Make the folder PATH, and put an `aplay` in it that runs the script."""
    file = folder / "aplay"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
