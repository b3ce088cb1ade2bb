"""Verdicts from measurements, kept for what they depend on and for nothing else."""

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from worker.providers import verdict as verdicts
from worker.providers.choice import candidates_of
from worker.providers.verdict import ENOUGH_FASTER, ENOUGH_SNR, Key, Measurements, Verdict, clear, judge, load, store
from worker.settings import WorkerSettings
from worker.targets import CPU, Assignment, StageTarget

COREML = "CoreMLExecutionProvider"


def measured(**other: Any) -> Measurements:
    found: dict[str, Any] = {
        "provider": COREML,
        "compile_seconds": 90.0,
        "snr": (52.0, 48.0),
        "cpu_seconds": (2.0, 2.0, 2.0),
        "seconds": (0.5, 0.5, 0.5),
        "nodes_run": {"prosody": {CPU: 900}, "generator-64": {COREML: 1, CPU: 4}},
    }
    return Measurements(**found | other)


def test_right_and_faster_is_taken_and_has_the_figures() -> None:
    verdict = judge(measured())
    assert (verdict.right, verdict.faster) == (True, True)
    assert verdict.favours(asked_by_name=False) and verdict.favours(asked_by_name=True)
    assert (verdict.snr, verdict.ratio, verdict.compile_seconds) == (48.0, 4.0, 90.0)
    assert verdict.reason == "4.00 times as fast as the CPU, 48.0 dB SNR against it"


def test_what_a_provider_says_is_one_line_of_bounded_length() -> None:
    verdict = judge(measured(failure="it broke\n" + "\n".join(["at some place"] * 10_000)))
    assert verdict.reason.startswith("it broke at some place at") and len(verdict.reason) < 500


def test_a_stages_nodes_are_those_of_the_graph_that_speaks() -> None:
    """Four graphs of the generator may have run; all but one of them only for short segments."""
    graphs = {
        "generator": {CPU: 9},
        "generator-exact": {CPU: 999},
        "generator-40": {COREML: 2},
        "generator-76": {COREML: 1},
    }
    verdict = judge(measured(nodes_run=graphs | {"decoder": {CPU: 5}}))
    assert verdict.nodes_of("generator", 76) == {COREML: 1}
    assert verdict.nodes_of("generator") == {CPU: 9}
    assert verdict.nodes_of("decoder") == {CPU: 5}
    assert verdict.nodes_of("generator", 64) is None
    assert verdict.nodes_of("source") is None


@pytest.mark.parametrize("ratio", [0.3, 1.0, ENOUGH_FASTER - 0.01])
def test_right_and_not_faster_is_taken_only_if_it_was_asked_for(ratio: float) -> None:
    verdict = judge(measured(cpu_seconds=(ratio,) * 3, seconds=(1.0,) * 3))
    assert (verdict.right, verdict.faster) == (True, False)
    assert not verdict.favours(asked_by_name=False)
    assert verdict.favours(asked_by_name=True)


@pytest.mark.parametrize("snr", [(60.0, ENOUGH_SNR - 0.1), (math.nan, 60.0), (60.0, math.nan), (-3.0,)])
def test_another_sound_is_never_taken(snr: tuple[float, ...]) -> None:
    verdict = judge(measured(snr=snr))
    assert (verdict.right, verdict.faster) == (False, False)
    assert not verdict.favours(asked_by_name=True)
    assert "dB SNR" in verdict.reason


@pytest.mark.parametrize(("digits", "right"), [(np.float16, True), (np.int8, False)])
def test_half_precision_is_the_same_sound_and_eight_bits_are_not(digits: type, right: bool) -> None:
    """A tone of -20 dB, rounded to the format's steps, against itself: 8 bits of full scale are an audible hiss."""
    tone = 0.1 * np.sin(np.arange(24_000) * 0.1)
    rounded = tone.astype(np.float16).astype(float) if digits is np.float16 else np.round(tone * 127) / 127
    snr = 10 * np.log10(np.mean(tone**2) / np.mean((rounded - tone) ** 2))
    assert judge(measured(snr=(float(snr),))).right == right


def test_a_failure_is_the_reason_and_what_was_measured_before_it_stays() -> None:
    verdict = judge(measured(failure="it crashed", seconds=(), cpu_seconds=()))
    assert (verdict.right, verdict.reason, verdict.ratio, verdict.snr) == (False, "it crashed", None, 48.0)


def test_a_provider_that_ran_nothing_is_not_taken_even_by_name() -> None:
    verdict = judge(measured(nodes_run={"generator-64": {CPU: 771}, "prosody": {CPU: 900}}))
    assert not verdict.favours(asked_by_name=True)
    assert "nothing to run: all of the model fell to CPUExecutionProvider" in verdict.reason


def test_one_disturbed_round_decides_nothing() -> None:
    verdict = judge(measured(cpu_seconds=(2.0, 2.0, 9.0), seconds=(1.0, 1.0, 1.0)))
    assert verdict.ratio == 2.0


def test_rounds_are_compared_with_their_neighbours() -> None:
    """The machine becomes half as fast in the middle of the trial: each pair saw the same machine."""
    verdict = judge(measured(cpu_seconds=(2.0, 4.0, 4.0), seconds=(1.0, 2.0, 2.0)))
    assert verdict.ratio == 2.0


def test_nothing_measured_is_nothing_shown() -> None:
    verdict = judge(measured(snr=(), cpu_seconds=(), seconds=(), compile_seconds=None))
    assert (verdict.right, verdict.snr, verdict.ratio, verdict.compile_seconds) == (False, None, None, None)


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
