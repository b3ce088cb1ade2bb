"""`kokoro-live doctor` on execution providers: what is there, what is taken, and why not the others."""

import time
from pathlib import Path
from typing import Any

import onnxruntime
import pytest

from supervisor.commands.checks.finding import Circumstances, Severity
from supervisor.commands.checks.installation import providers
from supervisor.settings.composition import Settings
from tests.miniature import make_miniature, make_voices
from worker.providers.choice import keyed_candidates
from worker.providers.table import PROVIDERS
from worker.providers.verdict import Verdict as TrialVerdict
from worker.providers.verdict import store
from worker.targets import CPU

CUDA = PROVIDERS["cuda"].name


@pytest.fixture
def cuda(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])


def circumstances(folder: Path, **values: Any) -> Circumstances:
    make_miniature(folder / "model.onnx")
    make_voices(folder / "voices.bin")
    return Circumstances(
        Settings.of({"model_dir": folder, "cache_dir": folder / "cache", **values}), Path("config.toml"), ""
    )


def test_the_cpu_alone(tmp_path):
    found = providers(circumstances(tmp_path))
    assert found.verdict is Severity.OK
    assert f"onnxruntime {onnxruntime.__version__} has" in found.found
    assert f"{CPU} is taken, of the chain {CPU}" in found.found


def test_one_that_was_not_tried_yet(tmp_path, cuda):
    found = providers(circumstances(tmp_path))
    assert found.verdict is Severity.OK
    assert f"{CPU} is taken" in found.found
    assert f"{CUDA} waits for its trial" in found.found


@pytest.mark.parametrize("faster", [True, False])
def test_one_that_was_tried(tmp_path, cuda, faster):
    where = circumstances(tmp_path)
    [(_, key)] = keyed_candidates(CUDA, tmp_path / "model.onnx", where.settings.worker)
    store(tmp_path / "cache", key, TrialVerdict(when=0.0, right=True, faster=faster, reason="so and so fast"))
    found = providers(where).found
    assert f"{CUDA if faster else CPU} is taken" in found
    assert f"{CUDA}: so and so fast ({'taken' if faster else 'not taken'})" in found


@pytest.mark.parametrize(("age", "verdict"), [("never", Severity.OK), ("30d", Severity.OK), ("7d", Severity.WARNING)])
def test_a_verdict_that_is_stale(tmp_path, cuda, age, verdict):
    where = circumstances(tmp_path, verdict_age=age)
    [(_, key)] = keyed_candidates(CUDA, tmp_path / "model.onnx", where.settings.worker)
    when = time.time() - 9.2 * 86_400
    store(tmp_path / "cache", key, TrialVerdict(when=when, right=True, faster=True, reason="so and so fast"))
    found = providers(where)
    assert found.verdict is verdict
    assert ("a verdict is 9 days old" in found.found) == (verdict is Severity.WARNING)
    assert f"{CUDA} is taken" in found.found


def test_one_that_is_asked_for_and_not_there(tmp_path):
    found = providers(circumstances(tmp_path, provider="cuda"))
    assert found.verdict is Severity.WARNING
    assert f"The CPU speaks in place of {CUDA}: this onnxruntime has only" in found.found
    assert "--provider" in found.cure


def test_a_bad_option_keeps_the_server_from_starting(tmp_path):
    found = providers(circumstances(tmp_path, provider="cuda", provider_options=("device=1",)))
    assert found.verdict is Severity.WRONG
    assert "device is no option" in found.found
    assert "--provider-options" in found.cure


def test_without_a_model_or_with_espeak_there_is_nothing_to_choose(tmp_path):
    empty = Circumstances(Settings.of({"model_dir": tmp_path / "nothing"}), Path("config.toml"), "")
    assert f"{CPU} is taken" in providers(empty).found
    assert "espeak-ng needs none" in providers(circumstances(tmp_path, engine="espeak")).found
