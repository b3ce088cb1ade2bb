"""Verdicts are kept for what they depend on, and for nothing else."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from worker.providers import verdict as verdicts
from worker.providers.choice import candidates_of
from worker.providers.verdict import Key, Verdict, clear, load, store
from worker.settings import WorkerSettings
from worker.targets import Assignment, StageTarget

COREML = "CoreMLExecutionProvider"
SETTINGS = WorkerSettings()
PLACED = Assignment(generator=StageTarget(COREML, (("ModelFormat", "MLProgram"),), 75))
VERDICT = Verdict(
    when=1.0, right=True, faster=True, reason="4 times", snr=50.0, ratio=4.0, nodes_run={"generator": {COREML: 1}}
)


def key(placed: Assignment = PLACED, settings: WorkerSettings = SETTINGS, model: str = "ab") -> Key:
    return Key.of(COREML, placed, settings, model)


def test_a_verdict_comes_back_as_it_was(tmp_path: Path) -> None:
    assert load(tmp_path, key()) is None
    assert store(tmp_path, key(), VERDICT)
    assert load(tmp_path, key()) == VERDICT
    assert [file.suffix for file in (tmp_path / "verdicts").iterdir()] == [".msgpack"], "and nothing unfinished"


OTHERS: dict[str, Any] = {
    "model": key(model="cd"),
    "option": key(Assignment(generator=StageTarget(COREML, (("ModelFormat", "NeuralNetwork"),), 75))),
    "window": key(Assignment(generator=StageTarget(COREML, (("ModelFormat", "MLProgram"),), 99))),
    "stage": key(replace(PLACED, decoder=PLACED.generator)),
    "threads": key(settings=replace(SETTINGS, threads=1)),
    "processors": key(settings=replace(SETTINGS, worker_cpus="0")),
    "options": key(settings=replace(SETTINGS, provider_options=("num_of_threads=1",))),
    "machine": msgspec.structs.replace(key(), machine="another"),
    "onnxruntime": msgspec.structs.replace(key(), onnxruntime="1.20.1"),
    "format": msgspec.structs.replace(key(), format=0),
    "stages' files": msgspec.structs.replace(key(), stages_format=0),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_it_depends_on_has_changed(tmp_path: Path, other: Key) -> None:
    store(tmp_path, key(), VERDICT)
    assert load(tmp_path, other) is None


def test_what_it_does_not_depend_on_may_change(tmp_path: Path) -> None:
    store(tmp_path, key(), VERDICT)
    assert load(tmp_path, key(settings=replace(SETTINGS, compile_timeout=5.0, mirror="http://x"))) == VERDICT


@pytest.mark.parametrize("provider", ["CoreMLExecutionProvider", "OpenVINOExecutionProvider"])
def test_a_worker_with_a_share_of_the_cores_finds_what_a_trial_with_all_has_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    keys = []
    for cpus in ({0, 1, 2, 3}, {0}):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cpus=cpus: cpus, raising=False)
        placed = candidates_of(provider, SETTINGS, tmp_path, "1.24.1")[0]
        keys.append(Key.of(provider, placed, SETTINGS, "ab"))
    assert keys[0] == keys[1]


def test_more_time_than_was_not_enough_is_worth_another_trial() -> None:
    late = msgspec.structs.replace(VERDICT, right=False, timeout=60.0)
    assert [late.had_less(seconds) for seconds in (30.0, 60.0, 61.0)] == [False, False, True]
    assert not VERDICT.had_less(9e9)


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x81", msgspec.msgpack.encode({"verdict": 1})])
def test_a_damaged_one_is_as_if_it_were_not_there(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store(tmp_path, key(), VERDICT)
    [file] = (tmp_path / "verdicts").iterdir()
    file.write_bytes(content)
    assert load(tmp_path, key()) is None
    assert f"{COREML} is tried again" in caplog.text


def test_one_about_something_else_under_its_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store(tmp_path, OTHERS["model"], VERDICT)
    [file] = (tmp_path / "verdicts").iterdir()
    file.rename(verdicts._path(tmp_path, key()))
    assert load(tmp_path, key()) is None
    assert "about something else" in caplog.text


def test_where_it_cannot_be_kept_that_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "verdicts").write_text("a file where a folder should be")
    assert not store(tmp_path, key(), VERDICT)
    assert f"the verdict on {COREML} can't be kept" in caplog.text


def test_cleared_ones_are_gone(tmp_path: Path) -> None:
    clear(tmp_path)
    store(tmp_path, key(), VERDICT)
    clear(tmp_path)
    assert load(tmp_path, key()) is None
