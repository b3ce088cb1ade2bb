"""Listening where others can reach it needs a key, or to be said."""

from pathlib import Path

import pytest

from frontend.settings.front import FrontSettings
from supervisor.processes.standing import ExitCode
from supervisor.settings.composition import Settings
from supervisor.settings.supervisor import SupervisorSettings
from supervisor.startup.requirements import assert_wanted
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
