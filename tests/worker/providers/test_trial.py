"""Trials in real processes. Azure's execution provider plays the accelerator: it loads, and has no kernels."""

import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import multiprocess
import numpy as np
import pytest

from shm.lifeline import FAILED, NOTHING_NEW
from tests.split_model import make_split_model, make_split_voices, stages_of
from tests.worker.providers import actors
from tests.worker.providers.actors import AZURE
from tests.worker.split.splitting import SCRIPT, blocks_of, joined
from worker.engine import EngineUnavailable, ProviderUnavailable
from worker.engines.kokoro import KokoroEngine
from worker.models import sources
from worker.providers import choice
from worker.providers.choice import decide_providers, keyed_candidates
from worker.providers.table import PROVIDERS
from worker.providers.trial import trial
from worker.providers.verdict import Verdict, load, store
from worker.settings import WorkerSettings
from worker.targets import CPU, Assignment

PLENTY = 100.0


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkerSettings:
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(PROVIDERS, "cuda", actors.named("cuda", AZURE))
    monkeypatch.setattr(choice, "sys", SimpleNamespace(platform="linux"))
    model, voices = make_split_model(tmp_path / "small.onnx"), make_split_voices(tmp_path / "voices.bin")
    stages_of(model, tmp_path / "cache")
    return WorkerSettings(
        model=model, voices=voices, cache_dir=tmp_path / "cache", first_window=3.0, window=3.0, threads=1
    )


def asked(settings: WorkerSettings) -> WorkerSettings:
    return replace(settings, provider="cuda")


def engine(settings: WorkerSettings) -> KokoroEngine:
    assert settings.model and settings.voices
    return KokoroEngine(settings.model, settings.voices, settings)


def kept(settings: WorkerSettings) -> Any:
    assert settings.model
    return load(settings.cache_dir, keyed_candidates(AZURE, settings.model, settings)[0][1])


def tried(settings: WorkerSettings, provider: str, seconds: float, measure: Any) -> Verdict:
    verdicts = trial(settings, provider, seconds, measure)
    assert verdicts and len(verdicts) == 1
    return verdicts[0]


def test_without_a_verdict_the_cpu_speaks_and_says_what_could_be_tried(settings: WorkerSettings) -> None:
    for each in (settings, asked(settings)):
        info = engine(each).info
        assert (info.provider, info.untried, info.providers) == (CPU, (AZURE,), (AZURE, CPU))
        assert [stage.provider for stage in info.stages] == [CPU] * 4
        assert info.trials == ()


@pytest.mark.slow
def test_a_provider_that_runs_nothing_is_found_out(settings: WorkerSettings) -> None:
    """Loaded, compared and timed; all of it by the CPU, as the profile says."""
    verdict = tried(settings, AZURE, PLENTY, actors.is_quick)
    assert verdict == kept(settings)
    assert (verdict.right, verdict.faster) == (False, False)
    assert verdict.reason == f"onnxruntime gave it nothing to run: all of the model fell to {CPU}"
    assert verdict.snr is not None and verdict.snr > 100, "it was compared all the same"
    assert verdict.ratio is not None and verdict.compile_seconds is not None
    assert {"prosody", "source", "generator"} <= verdict.nodes_run.keys()
    assert all(set(nodes) == {CPU} for nodes in verdict.nodes_run.values())
    info = engine(settings).info
    assert (info.provider, info.untried) == (CPU, ())
    assert [(found.provider, found.reason) for found in info.trials] == [(AZURE, verdict.reason)]


def test_a_stale_verdict_is_made_again_and_a_change_is_told(settings: WorkerSettings) -> None:
    """1. An old verdict in favour. 2. With `never` it stays. 3. With an age it holds, a trial is due, and is made once.
    4. The new verdict is against it: that is a change."""
    assert settings.model
    [(_, key)] = keyed_candidates(AZURE, settings.model, settings)
    old = Verdict(when=time.time() - 8 * 86_400, right=True, faster=True, reason="it was fast")
    store(settings.cache_dir, key, old)
    changed: list[Verdict] = []
    assert trial(settings, AZURE, PLENTY, actors.crashes, changed) == []
    assert decide_providers(settings.model, settings).choice.untried == ()
    aged = replace(settings, verdict_age="7d")
    assert decide_providers(settings.model, replace(settings, verdict_age="30d")).choice.untried == ()
    due = decide_providers(settings.model, aged).choice
    assert due.untried == (AZURE,) and due.assignment.provider == AZURE
    verdicts = trial(aged, AZURE, PLENTY, actors.crashes, changed)
    assert verdicts == changed == [kept(settings)] and not changed[0].right
    now = decide_providers(settings.model, aged)
    assert now.choice == choice.Choice(Assignment()), now
    assert trial(aged, AZURE, PLENTY, actors.crashes, changed) == [] and len(changed) == 1


@pytest.mark.slow
def test_one_that_wants_static_windows_is_tried_with_them(
    settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generator runs as it would be compiled, and says the same as the one that takes any length."""
    monkeypatch.setitem(PROVIDERS, "openvino", actors.named("openvino", AZURE))
    monkeypatch.setitem(PROVIDERS, "cuda", actors.named("cuda", "nobody's"))
    wanted = replace(settings, provider="openvino", first_window=0.3, window=0.6)
    verdict = tried(wanted, AZURE, PLENTY, actors.is_quick)
    assert verdict.snr is not None, verdict
    assert verdict.snr > 60
    assert verdict.nodes_of("generator", choice.window_frames(wanted)), verdict.nodes_run


@pytest.mark.slow
def test_coreml_is_tried_in_half_precision(settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The windows that CoreML would compile are made in the trial's process, and say what they say in float32."""
    monkeypatch.setitem(PROVIDERS, "coreml", actors.named("coreml", AZURE))
    monkeypatch.setitem(PROVIDERS, "cuda", actors.named("cuda", "nobody's"))
    wanted = replace(
        settings,
        provider="coreml",
        provider_options=("MLComputeUnits=CPUAndNeuralEngine",),
        first_window=0.3,
        window=0.6,
    )
    verdict = tried(wanted, AZURE, PLENTY, actors.is_quick)
    assert verdict.snr is not None and 35 < verdict.snr < 80, verdict
    assert verdict.nodes_of("generator", choice.window_frames(wanted), half=True), verdict.nodes_run
    assert verdict.reason == f"onnxruntime gave it nothing to run: all of the model fell to {CPU}"


def test_what_lost_its_trial_and_was_asked_for_by_name_is_refused_with_the_reason(settings: WorkerSettings) -> None:
    trial(asked(settings), AZURE, PLENTY, actors.crashes)
    with pytest.raises(ProviderUnavailable, match="its trial crashed"):
        engine(asked(settings))
    assert settings.model
    assert decide_providers(settings.model, asked(settings), without=(AZURE,)).choice.assignment.provider == CPU


@pytest.mark.slow
def test_what_won_its_trial_is_used_and_shows_where_its_nodes_ran(settings: WorkerSettings) -> None:
    verdict = tried(asked(settings), AZURE, PLENTY, actors.is_placed)
    assert verdict.right, verdict
    info = engine(asked(settings)).info
    assert (info.provider, info.untried) == (AZURE, ())
    stages = {stage.name: stage for stage in info.stages}
    assert stages["generator"].nodes == {AZURE: 771}
    assert (stages["source"].provider, stages["source"].nodes) == (CPU, None)
    assert stages["generator"].options == {"cudnn_conv_algo_search": "HEURISTIC"}


def test_a_segment_on_an_accelerator_has_the_windows_of_the_cpu(settings: WorkerSettings) -> None:
    """1. A verdict in its favour. 2. The generator is loaded for it in static windows, and nothing else. 3. A segment
    comes in the windows that the CPU makes, with nearly its samples; a short one whole."""
    wanted = replace(asked(settings), first_window=0.3, window=0.6, threads=0)
    assert wanted.model
    [(_, key)] = keyed_candidates(AZURE, wanted.model, wanted)
    store(wanted.cache_dir, key, Verdict(when=0.0, right=True, faster=False, reason="it is right"))
    accelerated, on_cpu = engine(wanted), engine(replace(wanted, provider="cpu"))
    assert [stage.name for stage in accelerated.info.stages if stage.provider == AZURE] == ["generator"]
    for script in (SCRIPT[:3], SCRIPT):
        made, expected = blocks_of(accelerated, script), blocks_of(on_cpu, script)
        assert [len(block.samples) for block in made] == [len(block.samples) for block in expected]
        assert np.abs(joined(made).astype(int) - joined(expected)).max() <= 1
    assert len(made) > 3


@pytest.mark.parametrize(
    ("crash", "status"),
    [(actors.crashes, "SIGABRT"), pytest.param(actors.crashes_late, "SIGSEGV", marks=pytest.mark.slow)],
)
def test_a_crash_costs_one_trial(settings: WorkerSettings, crash: Any, status: str) -> None:
    verdict = tried(settings, AZURE, PLENTY, crash)
    assert (verdict.right, verdict.reason) == (False, f"its trial crashed ({status})")
    assert engine(settings).info.untried == ()


def test_a_provider_that_takes_too_long_is_left_alone(settings: WorkerSettings) -> None:
    verdict = tried(settings, AZURE, 0.5, actors.never_ends)
    assert (verdict.right, verdict.reason) == (False, "it wasn't ready within 0.5 s")
    assert kept(settings) == verdict
    assert engine(settings).info.untried == ()
    longer = replace(settings, compile_timeout=settings.compile_timeout + 1)
    assert engine(longer).info.untried == (AZURE,), "who allows more has it tried again"


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (actors.has_no_sound_cpu, "the CPU can't speak"),
        (actors.fails, "failed with status 1"),
        (actors.is_killed, "was killed, for want of memory perhaps"),
    ],
)
def test_what_is_not_the_providers_fault_is_no_verdict_on_it(settings: WorkerSettings, fails: Any, said: str) -> None:
    with pytest.raises(EngineUnavailable, match=said):
        trial(settings, AZURE, PLENTY, fails)
    assert kept(settings) is None


def test_a_verdict_that_cannot_be_kept_changes_nothing(settings: WorkerSettings) -> None:
    (settings.cache_dir / "verdicts").write_text("a file where a folder should be")
    assert trial(settings, AZURE, PLENTY, actors.crashes) is None


def test_as_the_supervisor_starts_it(settings: WorkerSettings, tmp_path: Path) -> None:
    context = multiprocess.get_context("spawn")
    end, lifeline = context.Pipe(duplex=False)
    process = context.Process(target=actors.run_trial, args=(end, asked(settings)))
    process.start()
    assert actors.status_of(process) == NOTHING_NEW
    assert kept(asked(settings)).reason == "its trial crashed (SIGABRT)"
    nothing = replace(settings, model=None, voices=None, model_dir=tmp_path / "nothing", packaged_model=False)
    process = context.Process(target=actors.run_trial, args=(end, nothing))
    process.start()
    assert actors.status_of(process) == FAILED
    lifeline.close()


def test_one_that_took_too_long_may_be_tried_again_by_this_server_and_not_by_each_start(
    settings: WorkerSettings,
) -> None:
    context = multiprocess.get_context("spawn")
    end, lifeline = context.Pipe(duplex=False)
    short = replace(asked(settings), compile_timeout=0.5)
    process = context.Process(target=actors.run_endless_trial, args=(end, short))
    process.start()
    assert actors.status_of(process) == FAILED
    assert kept(short).timeout == 0.5
    lifeline.close()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux ties processes to processors")
def test_it_is_compared_on_the_workers_processors(settings: WorkerSettings) -> None:
    last = max(os.sched_getaffinity(0))
    context = multiprocess.get_context("spawn")
    end, lifeline = context.Pipe(duplex=False)
    process = context.Process(target=actors.run_tied_trial, args=(end, replace(settings, worker_cpus=str(last))))
    process.start()
    assert actors.status_of(process) == FAILED
    assert (settings.cache_dir / "processors").read_text() == f"{{{last}}}"
    lifeline.close()


def test_a_trial_that_is_killed_with_its_server_leaves_no_process_and_no_verdict(settings: WorkerSettings) -> None:
    alive = actors.fifo(settings.cache_dir)
    process = multiprocess.get_context("spawn").Process(target=actors.trial_that_never_ends, args=(settings,))
    process.start()
    with alive.open() as held:
        assert held.readline() == "alive\n"
        process.kill()
        assert held.read() == "", "the end comes when whoever measured has gone"
    actors.status_of(process)
    assert kept(settings) is None


def test_what_is_wrong_with_an_option_is_said_at_start(settings: WorkerSettings, caplog: Any) -> None:
    caplog.set_level(logging.WARNING)
    with pytest.raises(EngineUnavailable, match="is no option of this provider") as refused:
        engine(replace(asked(settings), provider_options=("device=1",)))
    assert not isinstance(refused.value, ProviderUnavailable)
    assert not caplog.records, "it doesn't run whole, or on another provider, instead"
