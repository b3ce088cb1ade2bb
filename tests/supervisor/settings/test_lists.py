"""Lists of settings come from everywhere, and no help shows the keys among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.supervisor.settings.asking import ask


@pytest.mark.parametrize("how", ["flag", "variable", "file", "list in the file"])
def test_a_list_comes_from_everywhere(how: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text({"file": 'api_keys = "a, b"', "list in the file": 'api_keys = ["a", "b"]'}.get(how, ""))
    arguments = ["--config", str(file), *(["--api-keys", "a, b,"] if how == "flag" else [])]
    _, settings = ask(arguments, {"KOKORO_LIVE_API_KEYS": "a,b"} if how == "variable" else None)
    assert settings and settings.front.api_keys == ("a", "b")


def test_a_list_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("cors_origins = [1]")
    result, settings = ask(["--config", str(file)])
    assert settings is None and "between them" in result.output


def test_help_does_not_show_the_keys_of_the_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('api_keys = ["sesame"]')
    result, _ = ask(["--config", str(file), "--help"], {"KOKORO_LIVE_API_KEYS": "sesame"})
    assert "--api-keys" in result.output and "sesame" not in result.output
