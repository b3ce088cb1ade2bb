"""`kokoro-live tune` on a machine that hasn't served yet: the model is still in its packages."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner

from supervisor.commands import tune
from tests.supervisor.clean_environment import clean_environment
from tests.worker.packages import NAME, install, packaged_file


def test_the_packages_model_is_what_is_measured(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site)
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(msgspec.json.encode([packaged_file()]))

    def measured(*_: object) -> None:
        raise click.ClickException("it would be measured now")

    monkeypatch.setattr(tune, "_compare", measured)
    arguments = ["--packaged-model", "--manifest", str(manifest), "--model-dir", str(tmp_path / "models")]
    with clean_environment(tmp_path, monkeypatch):
        result = CliRunner().invoke(tune.tune, arguments)
    assert "it would be measured now" in result.stderr
    assert (tmp_path / "models" / NAME).exists()
