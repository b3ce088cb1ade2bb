"""Listening where others can reach it needs a key, or to be said; lists of settings come from everywhere."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from frontend.settings.front import FrontSettings
from supervisor.processes.exit_codes import ExitCode
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options
from supervisor.settings.supervisor import SupervisorSettings
from supervisor.startup.exposure import assert_wanted
from tests.system.server import DEADLINE, Server

KEYED = Settings(front=FrontSettings(api_keys=("k",)))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.0.1.1"])
def test_loopback_needs_no_key(address: str) -> None:
    assert_wanted(address, Settings())


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "fe80::1%eth0"])
def test_every_other_address_needs_one_or_to_be_said(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--allow-unauthenticated"):
        assert_wanted(address, Settings())
    assert_wanted(address, KEYED)
    assert_wanted(address, Settings(supervisor=SupervisorSettings(allow_unauthenticated=True)))
    file = tmp_path / "keys"
    file.write_text("k\n")
    assert_wanted(address, Settings(front=FrontSettings(api_key_file=file)))


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_file_of_keys_must_have_some(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="can't be read"):
        assert_wanted(address, Settings(front=FrontSettings(api_key_file=tmp_path / "absent")))


def test_serve_ends_with_its_status_and_says_what_to_do() -> None:
    started = Server("--offline", "--host", "0.0.0.0", wait=False)
    try:
        assert started.process.wait(DEADLINE) == ExitCode.BAD_SETTING
        started.logs("CRITICAL.*--api-key-file.*127.0.0.1.*--allow-unauthenticated")
    finally:
        started.close()


def lists_of(arguments: list[str], variables: dict[str, str] | None = None) -> FrontSettings | str:
    """The front's settings, or what the command complained of."""
    got: list[Settings] = []

    @click.command()
    @settings_options(*KINDS)
    def command(**values: object) -> None:
        got.append(Settings.of(values))

    result = CliRunner().invoke(command, arguments, env=variables or {})
    return got[0].front if got else result.output


@pytest.mark.parametrize("how", ["flag", "variable", "file", "list in the file"])
def test_a_list_comes_from_everywhere(how: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text({"file": 'api_keys = "a, b"', "list in the file": 'api_keys = ["a", "b"]'}.get(how, ""))
    arguments = ["--config", str(file), *(["--api-keys", "a, b,"] if how == "flag" else [])]
    settings = lists_of(arguments, {"KOKORO_LIVE_API_KEYS": "a,b"} if how == "variable" else None)
    assert isinstance(settings, FrontSettings) and settings.api_keys == ("a", "b")


def test_a_list_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("cors_origins = [1]")
    complaint = lists_of(["--config", str(file)])
    assert isinstance(complaint, str) and "between them" in complaint


def test_help_does_not_show_the_keys_of_the_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('api_keys = ["sesame"]')
    complaint = lists_of(["--config", str(file), "--help"], {"KOKORO_LIVE_API_KEYS": "sesame"})
    assert isinstance(complaint, str) and "--api-keys" in complaint and "sesame" not in complaint
