"""`kokoro-live doctor`: every finding has its verdict and its cure."""

import os
import resource
import socket
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import onnxruntime
import pytest

from kokoro_live.installation import this_installation
from player.output.output import NoOutput, open_output
from supervisor.commands.checks import installation, machine
from supervisor.commands.checks.finding import Circumstances, Severity
from supervisor.commands.checks.installation import providers
from supervisor.commands.checks.machine import checks
from supervisor.settings.composition import Settings
from tests.file_server import file_server
from tests.frontend.http_fakes import FakeSpeaker, serving
from tests.frontend.served import served
from tests.miniature import make_miniature, make_voices
from tests.platforms import limit
from tests.supervisor.commands.doctors import circumstances, environment, findings, model, run
from tests.worker.packages import install, packaged_file
from worker.engine import EngineUnavailable
from worker.providers.choice import keyed_candidates
from worker.providers.table import PROVIDERS
from worker.providers.verdict import Verdict as TrialVerdict
from worker.providers.verdict import store
from worker.targets import CPU

__all__ = ["environment", "model"]

MB = 1 << 20


def test_where_all_is_well_the_status_is_0(model):
    result = run("--model-dir", model, "--json")
    found = findings(result.stdout)
    assert {title: row["verdict"] for title, row in found.items()} == dict.fromkeys(checks(), "ok")
    assert not any(row["cure"] for row in found.values())
    assert result.exit_code == 0
    assert "kokoro (model.onnx, CPUExecutionProvider) speaks, because its model is there" in found["engine"]["found"]
    assert "həlˈO" in found["phonemes"]["found"]
    assert found["voices"]["found"] == f"3 in {model}/voices.bin"
    assert f"onnxruntime {onnxruntime.__version__} has" in found["providers"]["found"]
    assert f"{CPU} is taken, of the chain {CPU}" in found["providers"]["found"]


def test_without_a_model_there_is_something_to_do_but_nothing_wrong(tmp_path):
    result = run("--model-dir", tmp_path)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    [place] = [place for place, line in enumerate(lines) if line.startswith("! engine")]
    assert "espeak-ng" in lines[place] and "because Kokoro can't: there is no Kokoro model" in lines[place]
    assert lines[place + 1].split() == ["→", "kokoro-live", "models", "fetch"]
    assert sum(line.startswith("!") for line in lines) == 2 and not any(line.startswith("✓") for line in lines)
    well = len(checks()) - 2
    assert lines[-2] == f"{well} of {len(checks())} checks found nothing to mend; -v shows them."
    assert lines[-1] == "Nothing is wrong; 2 could be better (!): the arrows say how."
    told = run("--model-dir", tmp_path, "-v").stdout.splitlines()
    assert sum(line.startswith("✓") for line in told) == well
    assert "54 in " in next(line for line in told if line.startswith("✓ voices"))


def test_something_wrong_is_status_1_and_the_other_checks_are_made_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "config.toml").write_text("prot = 8880\n")
    monkeypatch.setattr(machine, "descriptors", lambda _: 1 / 0)
    result = run("--model-dir", tmp_path, "--engine", "kokoro", "--config", tmp_path / "config.toml", "--json")
    found = findings(result.stdout)
    assert result.exit_code == 1
    assert list(found) == list(checks())
    wrong = {title: row["found"] for title, row in found.items() if row["verdict"] == "wrong"}
    assert wrong["config file"] == f"{tmp_path}/config.toml: no such setting: prot"
    assert wrong["open files"] == "the check itself failed: ZeroDivisionError: division by zero"
    assert "nothing can speak: there is no Kokoro model" in wrong["engine"]
    assert set(wrong) == {"config file", "open files", "engine"}


def test_the_config_file_counts(tmp_path):
    (tmp_path / "config.toml").write_text('engine = "espeak"\nrings = 2\nring_seconds = 10.0\n')
    result = run("--model-dir", tmp_path, "--config", tmp_path / "config.toml", "-v")
    assert result.exit_code == 0
    assert f"{tmp_path}/config.toml is read" in result.stdout
    assert "--engine espeak asks for it" in result.stdout
    assert "1 MB can be reserved (2 rings of 10 s)" in result.stdout


def test_a_setting_that_makes_no_sense_is_a_usage_error():
    result = run("--rings", "0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "rings must be at least 1" in result.stderr


# -- model files


def test_a_file_that_isnt_what_its_name_says(model):
    (model / "kokoro-v1.0.onnx").write_bytes(b"<html>")
    finding = installation.model_files(circumstances(model_dir=model))
    assert (finding.verdict, finding.cure) == (Severity.WRONG, "kokoro-live models fetch kokoro-v1.0.onnx")
    assert "kokoro-v1.0.onnx corrupt" in finding.found
    finding = installation.engine(circumstances(model_dir=model, packaged_model=False))
    assert finding.verdict is Severity.OK and "(model.onnx, " in finding.found, "the next file speaks"
    (model / "model.onnx").unlink()
    assert installation.engine(circumstances(model_dir=model, packaged_model=False)).verdict is Severity.WARNING
    alone = circumstances(model_dir=model, engine="kokoro", packaged_model=False)
    assert installation.engine(alone).verdict is Severity.WRONG


def packages(tmp_path, site):
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(msgspec.json.encode([packaged_file()]))
    return circumstances(model_dir=tmp_path / "none", manifest=manifest, packaged_model=True), install(site)


def test_a_model_in_packages_is_as_good_as_one_in_the_folder(tmp_path, site):
    finding = installation.model_files(packages(tmp_path, site)[0])
    assert finding.verdict is Severity.OK
    assert "but tests-part-1 to tests-part-3 0.1.0 have kokoro-v1.0.int8.onnx" in finding.found


def test_packages_that_are_damaged(tmp_path, site):
    wanted, parts = packages(tmp_path, site)
    parts[0].unlink()
    finding = installation.model_files(wanted)
    assert finding.verdict is Severity.WRONG and "part.bin is missing" in finding.found
    assert finding.cure.startswith(this_installation().install("tests-part-1", "tests-part-2", again=True))


def test_a_download_that_was_interrupted(tmp_path):
    (tmp_path / "voices-v1.0.bin.part").write_bytes(b"PK")
    finding = installation.model_files(circumstances(model_dir=tmp_path))
    assert (finding.verdict, finding.cure) == (Severity.WARNING, "kokoro-live models fetch voices-v1.0.bin")
    assert "voices-v1.0.bin partial" in finding.found


def test_files_that_nobody_needs(tmp_path):
    wanted = circumstances(model_dir=tmp_path, engine="espeak")
    assert installation.model_files(wanted).verdict is Severity.OK
    assert installation.voices(wanted).verdict is Severity.OK


def test_a_manifest_that_cant_be_read(tmp_path):
    finding = installation.model_files(circumstances(manifest=tmp_path / "none.json"))
    assert finding.verdict is Severity.WRONG
    assert "none.json" in finding.found


def test_voices_that_are_damaged(model):
    (model / "voices.bin").write_bytes(b"PK and then nothing")
    finding = installation.voices(circumstances(model_dir=model))
    assert (finding.verdict, finding.cure) == (Severity.WRONG, "kokoro-live models fetch voices-v1.0.bin")


def test_a_model_that_loads_but_cant_speak(tmp_path):
    make_miniature(tmp_path / "model.onnx", nan_at=0)
    make_voices(tmp_path / "voices.bin")
    finding = installation.engine(circumstances(model=tmp_path / "model.onnx", voices=tmp_path / "voices.bin"))
    assert finding.verdict is Severity.WRONG
    assert "can't speak" in finding.found


def test_the_next_provider_speaks_where_the_one_that_is_asked_for_cant(model):
    found = installation.engine(circumstances(model_dir=model, provider="cuda"))
    assert found.verdict is Severity.OK and "CPUExecutionProvider" in found.found


@pytest.mark.parametrize(
    ("engine", "cure"),
    [
        ("espeak", "mend espeak-ng (see its line)"),
        ("auto", "kokoro-live models fetch, or mend espeak-ng (see its line)"),
        ("kokoro", "kokoro-live models fetch, or --engine espeak"),
    ],
)
def test_no_cure_is_the_setting_that_has_just_failed(tmp_path, monkeypatch, engine, cure):
    def missing(*_: object) -> None:
        raise EngineUnavailable("it is missing")

    monkeypatch.setattr("worker.engines.kokoro.load", missing)
    monkeypatch.setattr("worker.engines.espeak.load", missing)
    finding = installation.engine(circumstances(model_dir=tmp_path, engine=engine))
    assert (finding.verdict, finding.cure) == (Severity.WRONG, cure)


# -- the machine


def test_memory_is_really_reserved_and_given_back():
    def next_descriptor() -> int:
        os.close(number := os.dup(1))
        return number

    wanted = circumstances(rings=8, ring_seconds=10.0)
    before = next_descriptor()
    check = checks()["shared memory"]
    assert check(wanted).found == "4 MB can be reserved (8 rings of 10 s)"
    with limit(resource.RLIMIT_FSIZE, 2 * MB):
        finding = check(wanted)
    assert finding.verdict is Severity.WRONG
    assert "can't reserve 4 MB" in finding.found and "--rings" in finding.cure
    assert next_descriptor() == before


def test_few_descriptors(monkeypatch):
    """The front raises its limit as far as it may: macOS begins with 256 and has no hard limit."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    assert machine.descriptors(circumstances()).verdict is Severity.OK
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 512))
    finding = machine.descriptors(circumstances())
    assert (finding.verdict, finding.cure) == (Severity.WARNING, "ulimit -n 1024")


def test_a_free_port_stays_free():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
    for _ in range(2):
        finding = machine.port(circumstances(port=number))
        assert (finding.verdict, finding.found) == (Severity.OK, f"127.0.0.1:{number} is free")


def test_a_port_that_somebody_else_has():
    with file_server() as server:
        server.files["/health"] = b'{"status": "ok"}'
        finding = machine.port(circumstances(port=server.server_port))
    assert finding.verdict is Severity.WRONG
    assert "can't listen" in finding.found
    assert finding.cure == f"kokoro-live serve --port {server.server_port + 1}"


def test_a_port_that_a_server_of_ours_has():
    with served(serving(FakeSpeaker())) as server:
        result = run("--json", "--engine", "espeak", "--port", server.port)
    found = findings(result.stdout)["port"]
    assert (result.exit_code, found["verdict"]) == (0, "ok")
    assert found["found"] == f"a kokoro-live serves on {server.url} with kokoro (tiny.onnx, CPUExecutionProvider)"


def test_a_port_that_a_server_of_ours_has_which_cant_speak():
    with served(serving(FakeSpeaker(engine=None))) as server:
        finding = machine.port(circumstances(port=server.port))
    assert finding.verdict is Severity.WARNING
    assert "can't speak now: the model is loading" in finding.found


@pytest.mark.parametrize(
    ("address", "library", "verdict", "said"),
    [
        ("", True, Severity.OK, "no D-Bus session bus"),
        ("unix:path=/nonexistent", True, Severity.OK, "the session bus refuses"),
        ("unix:path=/nonexistent", False, Severity.WARNING, "dbus-fast is not installed"),
    ],
)
def test_media_keys_are_off_and_it_says_why(monkeypatch, address, library, verdict, said):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nonexistent")
    if not library:
        monkeypatch.setitem(sys.modules, "dbus_fast.aio", None)
    found = machine.media_keys(circumstances())
    assert (found.verdict, said in found.found) == (verdict, True)
    assert (this_installation().add("mpris") in found.cure) is not library


def test_a_machine_without_a_sound_card(monkeypatch):
    def refuse(fill, buffer_ms):
        raise NoOutput("nothing is plugged in")

    monkeypatch.setattr("player.output.output.open_output", refuse)
    found = machine.sound_card(circumstances())
    assert (found.verdict, "nothing is plugged in" in found.found) == (Severity.WARNING, True)
    assert "miniaudio" in found.cure


def test_a_machine_where_only_a_program_plays(monkeypatch, tmp_path):
    monkeypatch.setattr("player.output.output.open_output", open_output)
    for library in ("pulse", "miniaudio", "sounddevice"):
        monkeypatch.setitem(sys.modules, f"player.output.{library}_output", None)
    program = tmp_path / "ffplay"
    program.write_text("#!/bin/sh\nexec cat > /dev/null\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = machine.sound_card(circumstances())
    assert (found.verdict, "may stutter" in found.found) == (Severity.WARNING, True)
    assert "plays through ffplay" in found.found and "miniaudio" in found.cure


CUDA = PROVIDERS["cuda"].name


@pytest.fixture
def cuda(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])


def with_model(folder: Path, **values: Any) -> Circumstances:
    make_miniature(folder / "model.onnx")
    make_voices(folder / "voices.bin")
    return Circumstances(
        Settings.of({"model_dir": folder, "cache_dir": folder / "cache", **values}), Path("config.toml"), ""
    )


def test_one_that_was_not_tried_yet(tmp_path, cuda):
    found = providers(with_model(tmp_path))
    assert found.verdict is Severity.OK
    assert f"{CPU} is taken" in found.found
    assert f"{CUDA} waits for its trial" in found.found


@pytest.mark.parametrize("faster", [True, False])
def test_one_that_was_tried(tmp_path, cuda, faster):
    where = with_model(tmp_path)
    [(_, key)] = keyed_candidates(CUDA, tmp_path / "model.onnx", where.settings.worker)
    store(tmp_path / "cache", key, TrialVerdict(when=0.0, right=True, faster=faster, reason="so and so fast"))
    found = providers(where).found
    assert f"{CUDA if faster else CPU} is taken" in found
    assert f"{CUDA}: so and so fast ({'taken' if faster else 'not taken'})" in found


@pytest.mark.parametrize(("age", "verdict"), [("never", Severity.OK), ("30d", Severity.OK), ("7d", Severity.WARNING)])
def test_a_verdict_that_is_stale(tmp_path, cuda, age, verdict):
    where = with_model(tmp_path, verdict_age=age)
    [(_, key)] = keyed_candidates(CUDA, tmp_path / "model.onnx", where.settings.worker)
    when = time.time() - 9.2 * 86_400
    store(tmp_path / "cache", key, TrialVerdict(when=when, right=True, faster=True, reason="so and so fast"))
    found = providers(where)
    assert found.verdict is verdict
    assert ("a verdict is 9 days old" in found.found) == (verdict is Severity.WARNING)
    assert f"{CUDA} is taken" in found.found


def test_one_that_is_asked_for_and_not_there(tmp_path):
    found = providers(with_model(tmp_path, provider="cuda"))
    assert found.verdict is Severity.WARNING
    assert f"The CPU speaks in place of {CUDA}: this onnxruntime has only" in found.found
    assert "--provider" in found.cure


def test_a_bad_option_keeps_the_server_from_starting(tmp_path):
    found = providers(with_model(tmp_path, provider="cuda", provider_options=("device=1",)))
    assert found.verdict is Severity.WRONG
    assert "device is no option" in found.found
    assert "--provider-options" in found.cure


def test_without_a_model_or_with_espeak_there_is_nothing_to_choose(tmp_path):
    empty = Circumstances(Settings.of({"model_dir": tmp_path / "nothing"}), Path("config.toml"), "")
    assert f"{CPU} is taken" in providers(empty).found
    assert "espeak-ng needs none" in providers(with_model(tmp_path, engine="espeak")).found
