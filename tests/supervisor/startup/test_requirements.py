"""`serve` and `doctor` make the same checks: for every requirement, `serve` ends with its status and one line, and
`doctor` has that line with a cross and a cure."""

import contextlib
import json
import logging
import re
import resource
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization

from frontend.settings.front import FrontSettings
from frontend.streams.cache import DiskCache
from shm.folders import trouble
from supervisor.commands import doctor, serve
from supervisor.commands.checks import machine
from supervisor.processes.metrics import metrics_folder
from supervisor.processes.standing import ExitCode
from supervisor.settings.composition import Settings
from supervisor.settings.profile import tuned_settings
from supervisor.settings.supervisor import SupervisorSettings
from supervisor.startup.requirements import REQUIREMENTS, Requirement, assert_wanted
from tests.supervisor.clean_environment import clean_environment
from tests.system.server import DEADLINE, Server
from worker.machine import read_back


@pytest.fixture(autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        monkeypatch.setenv("KOKORO_LIVE_PORT", "0")
        yield


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def _keys(folder: Path, content: bytes) -> str:
    file = folder / f"keys-{len(content)}"
    file.write_bytes(content)
    return str(file)


def _certificate(folder: Path, part: str = "certificate") -> str:
    made = trustme.CA().issue_cert("localhost")
    key = made.private_key_pem.bytes()
    if part == "key with password":
        encryption = serialization.BestAvailableEncryption(b"secret")
        key = serialization.load_pem_private_key(key, None).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
        )
    file = folder / part
    file.write_bytes(made.cert_chain_pems[0].bytes() if part == "certificate" else key)
    return str(file)


VIOLATIONS: dict[str, Callable[[Path, int], list[list[str]]]] = {
    "port": lambda _, taken: [
        ["--port", str(taken)],
        ["--host", "192.0.2.1"],
        ["--host", "no such host"],
        ["--host", "a" * 70 + ".example"],
    ],
    "Wyoming port": lambda _, taken: [
        ["--wyoming-port", str(taken)],
        ["--wyoming-port", "0", "--wyoming-host", "192.0.2.1"],
    ],
    "TLS port": lambda folder, taken: [["--tls-port", str(taken)], ["--tls-port", "0", "--host", "192.0.2.1"]],
    "certificate": lambda folder, _: [
        ["--tls-port", "0", "--tls-cert", str(folder / "gone")],
        ["--tls-port", "0", "--tls-cert", str(folder)],
        ["--tls-port", "0", "--tls-cert", _keys(folder, b"no certificate")],
        ["--tls-port", "0", "--tls-cert", _certificate(folder)],
        ["--tls-port", "0", "--tls-cert", _certificate(folder), "--tls-key", _certificate(folder, "key of another")],
        ["--tls-port", "0", "--tls-cert", _certificate(folder), "--tls-key", _certificate(folder, "key with password")],
    ],
    "access": lambda folder, _: [
        ["--host", "0.0.0.0"],
        ["--api-key-file", str(folder / "gone")],
        ["--api-key-file", str(folder)],
        ["--api-key-file", _keys(folder, b"")],
        ["--api-key-file", _keys(folder, b"a key\n")],
        ["--api-key-file", _keys(folder, b"\xff")],
    ],
    "processors": lambda _, taken: [["--worker-cpus", "9999"]],
    "shared memory": lambda _, taken: [["--rings", "1000000", "--ring-seconds", "600"]],
}
"""Arguments that violate each requirement, for a folder and a port that is taken."""


AVAILABLE = r"\d+ MB are available"
"""Differs from one moment to the next."""


class Reached(Exception):
    """`serve` would start its processes now."""


def served(arguments: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> ExitCode:
    def reach(*_: object) -> None:
        raise Reached

    monkeypatch.setattr(serve, "configure_logging", lambda *_: None)
    monkeypatch.setattr(serve, "setproctitle", lambda _: None)
    monkeypatch.setattr(serve, "_serve", reach)
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        return serve.run(tuned_settings(serve.serve.make_context("serve", list(arguments))), arguments)


def diagnosed(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    checks = machine.checks()
    monkeypatch.setattr(machine, "checks", lambda *_: {each.title: checks[each.title] for each in REQUIREMENTS})
    result = CliRunner().invoke(doctor.doctor, ["--json", *arguments])
    return {row["check"]: row for row in json.loads(result.stdout)}


def test_every_requirement_has_its_violations() -> None:
    assert set(VIOLATIONS) == {each.title for each in REQUIREMENTS}


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda each: each.title)
def test_what_serve_refuses_doctor_names(
    requirement: Requirement,
    taken: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for arguments in VIOLATIONS[requirement.title](tmp_path, taken):
        assert served(arguments, monkeypatch, caplog) is requirement.status, arguments
        (line,) = [record.message for record in caplog.records]
        row = diagnosed(arguments, monkeypatch)[requirement.title]
        assert row["verdict"] == "wrong" and row["cure"]
        assert re.sub(AVAILABLE, "", row["found"]).startswith(re.sub(AVAILABLE, "", line))


def test_one_port_for_two_listeners_is_refused_by_both(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = str(free.getsockname()[1])
    arguments = ["--port", number, "--wyoming-port", number]
    assert served(arguments, monkeypatch, caplog) is ExitCode.PORT
    assert diagnosed(arguments, monkeypatch)["Wyoming port"]["verdict"] == "wrong"


def test_what_serve_takes_doctor_finds_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = ["--host", "0.0.0.0", "--api-key-file", _keys(tmp_path, b"key\n")]
    before = read_back()
    placed = ["--worker-nice", "19", *(("--worker-cpus", str(before.processors[0])) if before.processors else ())]
    for arguments in ([], ["--wyoming-port", "0"], key, placed):
        with pytest.raises(Reached):
            served(arguments, monkeypatch, caplog)
        assert {row["verdict"] for row in diagnosed(arguments, monkeypatch).values()} == {"ok"}
    assert read_back() == before


FOLDERS = ("new/and/below", ".", "file", "file/below", "x" * 300, "file/../new", "dangling", "dangling/below")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_the_server_does_without_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "at all")
    folder = tmp_path / name
    said, cached = trouble(folder, 1), False
    with contextlib.suppress(OSError):
        DiskCache(folder / "cache", 1 << 20, 60)
        cached = True
    assert bool(said) != cached
    with metrics_folder(folder / "metrics") as usable:
        assert bool(said) == (usable is None)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    assert "full" in trouble(tmp_path / "below", 1 << 60)
    assert not trouble(tmp_path / "below", resource.getpagesize())


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
