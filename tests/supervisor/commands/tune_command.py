"""Asking for `kokoro-live tune`, with the models and the cache of a test, and what it found."""

from __future__ import annotations

from pathlib import Path

import msgspec
from click.testing import CliRunner, Result

from supervisor.cli import kokoro_live
from supervisor.tuning.profile_file import ProfileFolder, TuningProfile


def tune(model: Path, *more: object) -> Result:
    folders = ["--model-dir", model.parent, "--cache-dir", model.parents[1] / "cache"]
    return CliRunner().invoke(kokoro_live, ["tune", *map(str, folders), *map(str, more)])


def found(result: Result) -> TuningProfile:
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout, type=TuningProfile)


def folder(model: Path) -> ProfileFolder:
    return ProfileFolder(model.parents[1] / "cache")
