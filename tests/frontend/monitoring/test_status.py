"""`/status` says what is the case, execution providers included, leaves out the unknown, and keeps texts to itself."""

import asyncio
import json
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import aiohttp
import msgspec
import numpy as np
import pytest
from aiohttp import web
from msgspec import UNSET, structs
from multiprocess import resource_tracker

from frontend.monitoring.metrics import Event, Metrics, RecentErrors
from frontend.monitoring.processes import processes, speaking
from frontend.monitoring.report import Status
from frontend.monitoring.status_handler import Snapshot, Sources, StatusHandler, tuning
from frontend.planning.costs import CostModel
from frontend.planning.planner import Limits
from frontend.planning.reader import Reader
from frontend.scheduling.scheduler import Scheduler
from frontend.settings.front import FrontSettings
from frontend.streams.cache import CachedSegment, SegmentCache
from shm.engine_info import ModelFile, Priority, StageInfo, TrialInfo
from shm.situation import ProcessReport, Situation, TuningState
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, ENGINE
from text.g2p import G2P
from text.pipeline import TextPipeline

NOTHING = Snapshot(
    None, "the worker is starting", Situation("starting", "the worker is starting", {}), (), 0, 0, {}, SegmentCache(0)
)


async def shown(
    snapshot: Snapshot,
    pronounced: Counter[str] | None = None,
    metrics: Metrics | None = None,
    settings: FrontSettings | None = None,
) -> dict[str, Any]:
    """The answer of /status, checked against its description."""
    app = web.Application()
    handler = StatusHandler(
        Sources(
            snapshot=lambda: snapshot,
            pronounced=pronounced or Counter(),
            metrics=metrics or Metrics(),
            settings=settings or FrontSettings(),
        )
    )
    app.add_routes([web.get("/status", handler.get)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/status"
        async with aiohttp.ClientSession() as client, client.get(url) as response:
            assert response.status == 200
            msgspec.json.decode(await response.read(), type=Status)
            found: dict[str, Any] = await response.json()
            return found
    finally:
        await runner.cleanup()


async def test_while_nothing_speaks_there_is_a_reason_and_no_engine() -> None:
    found = await shown(NOTHING)
    assert (found["ready"], found["reason"], found["worker"]) == (False, "the worker is starting", "starting")
    assert "engine" not in found
    assert found["english_tagger"] == "perceptron"
    assert (found["restarts"], found["streams"], found["words_by_source"]) == ({}, [], {})


async def test_a_provider_that_was_given_up_is_there_with_its_reason() -> None:
    situation = Situation("running", "", {"front": 0, "worker": 2}, {"CUDAExecutionProvider": "out of memory"})
    found = await shown(replace(NOTHING, engine=ENGINE, reason="", situation=situation, quarantined=3))
    assert found["provider_failures"] == {"CUDAExecutionProvider": "out of memory"}
    assert (found["ready"], found["restarts"], found["quarantined_segments"]) == (True, {"front": 0, "worker": 2}, 3)
    engine = {name: found["engine"][name] for name in ("name", "provider", "model")}
    assert engine == {"name": "kokoro", "provider": "CPUExecutionProvider", "model": "tiny.onnx"}
    assert not {"sha256", "threads", "first_block_seconds"} & found["engine"].keys(), "nobody knows them"


async def test_safeguards_that_are_off_say_why() -> None:
    found = (await shown(NOTHING))["off"]
    assert set(found) == {"selfcheck_hours", "disk_cache", "worker_max_rss"}
    assert all(len(why) > 20 for why in found.values())


async def test_an_engine_that_is_being_restarted_is_shown_and_not_ready() -> None:
    found = await shown(replace(NOTHING, engine=ENGINE, reason="the worker is being restarted"))
    assert (found["ready"], found["engine"]["name"]) == (False, "kokoro")


async def test_costs_are_shown_as_far_as_they_were_measured() -> None:
    costs = CostModel()
    assert (await shown(replace(NOTHING, costs={"kokoro": costs})))["costs"] == {}
    for tokens in range(20, 60):
        costs.observe(tokens, 1.0, tokens * 1680, tokens * 0.027, 0.0, 1.0)
    told = (await shown(replace(NOTHING, costs={"kokoro": costs})))["costs"]["kokoro"]
    assert told["seconds_per_100_tokens"] == pytest.approx(2.7, rel=0.02)
    assert told["audio_seconds_per_token"] == pytest.approx(0.07, rel=0.02)
    assert told["plans_are_made_for"]["per_token"] == pytest.approx(0.027, rel=0.25)


async def test_the_cache_is_shown() -> None:
    cache = SegmentCache(1 << 20)
    cache.keep(b"a", CachedSegment(np.ones(1000, np.int16)))
    await cache.find(b"a")
    await cache.find(b"b")
    found = (await shown(replace(NOTHING, cache=cache)))["cache"]
    assert (found["segments"], found["hits"], found["misses"]) == (1, 1, 1)
    assert 2000 <= found["bytes"] <= 16384


async def test_the_scheduler_says_how_things_stand() -> None:
    reader = Reader(TextPipeline(G2P()), Limits())
    scheduler = Scheduler(reader, Metrics(), lambda _: None, FrontSettings(), SegmentCache(0))
    situation = Situation("running", "", {"front": 1, "worker": 0}, {"CoreMLExecutionProvider": "it raised"})
    scheduler.situation(situation)
    snapshot = scheduler.snapshot()
    scheduler.shut_down()
    assert (snapshot.situation, snapshot.engine, list(snapshot.streams)) == (situation, None, [])


async def test_the_tracker_of_named_resources_is_among_the_processes() -> None:
    """The real one, which multiprocess starts for the first process that it spawns."""
    resource_tracker.ensure_running()
    situation = Situation("running", "", {}, processes=(ProcessReport(role="front", state="running"),))
    named = [process for process in processes(situation, os.getpid()) if process.role == "resource_tracker"]
    assert [process.pid for process in named] == [resource_tracker._resource_tracker._pid]
    assert named[0].resident_memory_bytes is not UNSET and named[0].resident_memory_bytes > 1e6


async def test_processes_have_what_the_supervisor_reports_and_their_memory() -> None:
    now = time.monotonic()
    reports = (
        ProcessReport(role="front", state="running", generation=2, pid=os.getpid(), started=now - 60, restarts=0),
        ProcessReport(role="worker", state="backoff", restarts=3, last_exit="SIGKILL", last_exit_at=now - 5),
    )
    situation = Situation("backoff", "the worker is being restarted", {"front": 0, "worker": 3}, {}, reports)
    supervisor, front, worker = (await shown(replace(NOTHING, situation=situation)))["processes"]
    assert (supervisor["role"], supervisor["pid"]) == ("supervisor", os.getppid())
    assert (front["generation"], front["pid"], front["restarts"]) == (2, os.getpid(), 0)
    assert 60 <= front["uptime_seconds"] < 60 + DEFAULT_TIMEOUT
    assert front["resident_memory_bytes"] > 1_000_000
    assert "last_exit" not in front and "load_seconds" not in front
    assert (worker["state"], worker["restarts"], worker["last_exit"]) == ("backoff", 3, "SIGKILL")
    assert 5 <= worker["last_exit_seconds_ago"] < 5 + DEFAULT_TIMEOUT
    assert not {"pid", "uptime_seconds", "generation", "resident_memory_bytes"} & worker.keys()


async def test_each_worker_has_its_own_processors_and_tuning_is_told() -> None:
    workers = [
        ProcessReport(role="worker", state="running", slot=slot, priority=Priority(0, (slot,))) for slot in (0, 1)
    ]
    situation = Situation("running", "", {}, {}, tuple(workers), TuningState(reason="nothing was tuned here"))
    found = await shown(replace(NOTHING, situation=situation))
    assert [each["scheduling"]["processors"] for each in found["processes"][1:]] == [[0], [1]]
    assert found["tuning"] == {"in_use": False, "reason": "nothing was tuned here"}
    assert "tuning" not in await shown(NOTHING), "nobody has told"


async def test_a_process_that_has_just_gone_has_no_memory() -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    report = ProcessReport(role="worker", state="running", pid=gone.pid, restarts=0)
    situation = Situation("running", "", {}, {}, (report,))
    assert "resident_memory_bytes" not in (await shown(replace(NOTHING, situation=situation)))["processes"][1]


async def test_each_provider_of_the_chain_says_why_it_was_taken_or_not() -> None:
    engine = structs.replace(
        ENGINE,
        providers=("CUDAExecutionProvider", "CPUExecutionProvider", "Another"),
        threads=2,
        files=(ModelFile("tiny.onnx", 12, "ab"), ModelFile("voices", 3)),
    )
    situation = Situation("running", "", {}, {"CUDAExecutionProvider": "no device"})
    found = (await shown(replace(NOTHING, engine=engine, reason="", situation=situation)))["engine"]
    assert [(each["name"], each["state"]) for each in found["providers"]] == [
        ("CUDAExecutionProvider", "refused"),
        ("CPUExecutionProvider", "taken"),
        ("Another", "not tried"),
    ]
    assert found["providers"][0]["reason"] == "no device"
    assert found["files"] == [{"name": "tiny.onnx", "bytes": 12, "sha256": "ab"}, {"name": "voices", "bytes": 3}]
    assert (found["threads"], found["inference_threads"]) == (2, 1)


async def test_the_last_errors_are_there_with_time_and_request_and_no_more_than_twenty() -> None:
    metrics = Metrics()
    metrics.errors = RecentErrors(clock=lambda: 86_400.0)
    for number in range(25):
        metrics.errors.add(f"r{number}", "unavailable")
    errors = (await shown(NOTHING, metrics=metrics))["errors"]
    assert errors[0] == {"at": "1970-01-02T00:00:00+00:00", "request_id": "r24", "kind": "unavailable"}
    assert [error["request_id"] for error in errors] == [f"r{number}" for number in range(24, 4, -1)]


async def test_totals_are_what_metrics_has_and_what_follows_from_them_is_recommended() -> None:
    metrics = Metrics()
    for _ in range(30):
        metrics.request_finished("/v1/audio/speech", 429, 0.001)
        metrics.count(Event.REFUSED)
    metrics.speech_began(0.1)
    metrics.count(Event.UNDERRUN)
    found = await shown(NOTHING, metrics=metrics)
    assert found["totals"] == {
        "requests": 30,
        "refused": 30,
        "underruns": 1,
        "streams_cut": 0,
        "segments_resubmitted": 0,
        "spoken": 1,
    }
    assert "refused" in {each["code"] for each in found["recommendations"]}


async def test_settings_in_force_are_read_back_and_keys_are_not() -> None:
    found = await shown(NOTHING, settings=FrontSettings(max_streams=3, api_keys=("sk-secret-secret",)))
    assert found["settings"]["max_streams"] == 3
    assert "secret" not in json.dumps(found)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            TuningState(created=86_400.0, chosen={"threads": "1", "concurrency": "4"}, verdict="1.1 times better"),
            {
                "in_use": True,
                "chosen": {"threads": "1", "concurrency": "4"},
                "verdict": "1.1 times better",
                "made_at": "1970-01-02T00:00:00+00:00",
                "age_seconds": 3600,
            },
        ),
        (TuningState(reason="the profile is stale"), {"in_use": False, "reason": "the profile is stale"}),
    ],
)
def test_tuning_says_what_is_in_use_and_how_old_it_is_or_why_nothing_is(
    told: TuningState, expected: dict[str, object]
) -> None:
    assert msgspec.to_builtins(tuning(told, 90_000.0)) == expected


CPU, COREML, CUDA = "CPUExecutionProvider", "CoreMLExecutionProvider", "CUDAExecutionProvider"
QUIET = Situation("running", "", {})
TRYING = structs.replace(QUIET, processes=(ProcessReport(role="trial", state="running", pid=1),))
WON = TrialInfo(
    provider=COREML,
    when=0.0,
    stale_from=86_400.0,
    right=True,
    faster=True,
    reason="4 times",
    snr=51.23456,
    ratio=4.0,
    compile_seconds=90.0,
)
LOST = TrialInfo(provider=COREML, when=0.0, right=False, faster=False, reason="its trial crashed (SIGSEGV)")


def shown_of(situation: Situation = QUIET, **engine: Any) -> dict[str, Any]:
    told = structs.replace(ENGINE, providers=(COREML, CPU), **engine)
    found: dict[str, Any] = msgspec.to_builtins(speaking(told, situation))
    return found


def providers(situation: Situation = QUIET, **engine: Any) -> list[tuple[str, str]]:
    return [(each["state"], each["reason"]) for each in shown_of(situation, **engine)["providers"]]


def test_while_a_trial_goes_on_the_cpu_speaks_until_it_has_ended() -> None:
    first, cpu = providers(TRYING, untried=(COREML,))
    assert first == ("being tried", "it is compiled and compared with the CPU, which speaks meanwhile")
    assert cpu == ("taken", "it speaks until those before it have been tried")


def test_without_a_trial_process_nothing_is_being_tried() -> None:
    assert providers(QUIET, untried=(COREML,))[0][0] == "not tried"


def test_a_provider_that_won_has_its_figures() -> None:
    found = shown_of(provider=COREML, trials=(WON,))["providers"]
    assert found[0].pop("verdict_age_seconds") == pytest.approx(time.time(), abs=60)
    assert found[0] == {
        "name": COREML,
        "state": "taken",
        "reason": "4 times",
        "right": True,
        "faster": True,
        "tried_at": "1970-01-01T00:00:00+00:00",
        "next_trial_from": "1970-01-02T00:00:00+00:00",
        "snr_db": 51.235,
        "times_as_fast_as_cpu": 4.0,
        "compile_seconds": 90.0,
    }
    assert found[1] == {"name": CPU, "state": "not tried", "reason": "one before it works"}


def test_one_that_lost_has_the_reason_and_no_figure_that_was_not_measured() -> None:
    lost, cpu = shown_of(trials=(LOST,))["providers"]
    assert (lost["state"], lost["reason"], lost["right"]) == ("refused", "its trial crashed (SIGSEGV)", False)
    assert not {"snr_db", "times_as_fast_as_cpu", "compile_seconds"} & lost.keys()
    assert (cpu["state"], cpu["reason"]) == ("taken", "each one before it was refused, or waits for its trial")


def test_each_trial_of_coremls_compute_units_has_its_row() -> None:
    """One lost, one won and is taken, one was right and slower than that, and a fourth is due."""
    units = [
        structs.replace(LOST, compute_units="ALL"),
        structs.replace(WON, compute_units="CPUAndNeuralEngine"),
        structs.replace(WON, compute_units="CPUAndGPU", ratio=2.0),
    ]
    stages = (
        StageInfo(name="generator", provider=COREML, options={"MLComputeUnits": "CPUAndNeuralEngine"}, window=70),
    )
    found = shown_of(TRYING, provider=COREML, trials=units, stages=stages, untried=(COREML,))["providers"]
    assert [(each["name"], each.get("compute_units"), each["state"]) for each in found] == [
        (COREML, "ALL", "refused"),
        (COREML, "CPUAndNeuralEngine", "taken"),
        (COREML, "CPUAndGPU", "refused"),
        (COREML, None, "being tried"),
        (CPU, None, "not tried"),
    ]
    waiting = shown_of(QUIET, trials=units[:1], untried=(COREML, COREML))["providers"]
    assert [each["state"] for each in waiting] == ["refused", "not tried", "taken"]


def test_one_that_was_given_up_says_why_whatever_its_trial_said() -> None:
    failed = structs.replace(QUIET, provider_failures={COREML: "it raised"})
    assert providers(failed, trials=(WON,))[0] == ("refused", "it raised")


def test_stages_have_what_is_known_of_them() -> None:
    stages = (
        StageInfo(name="source", provider=CPU),
        StageInfo(
            name="generator",
            provider=COREML,
            options={"ModelFormat": "MLProgram"},
            window=76,
            nodes={COREML: 1, CPU: 4},
        ),
    )
    source, generator = shown_of(provider=COREML, stages=stages)["stages"]
    assert source == {"name": "source", "provider": CPU}
    assert generator == {
        "name": "generator",
        "provider": COREML,
        "options": {"ModelFormat": "MLProgram"},
        "window_frames": 76,
        "nodes": {COREML: 1, CPU: 4},
    }


def test_processors_are_those_of_a_worker_that_has_moved() -> None:
    """The figures that the engine reported when it loaded are older."""
    loaded = Priority(5, (0, 1))
    others = [
        ProcessReport(role="worker", state="backoff", provider=CPU, priority=Priority(1, (0,))),
        ProcessReport(role="standby", state="running", provider=CPU, priority=Priority(2, (0,))),
        ProcessReport(role="worker", state="running", provider="native", priority=Priority(3, (0,))),
    ]
    moved = ProcessReport(role="worker", state="running", provider=CPU, priority=Priority(5, (1,)))
    situation = structs.replace(QUIET, processes=(*others, moved))
    assert shown_of(situation, priority=loaded)["scheduling"] == {"nice": 5, "processors": [1]}
    situation = structs.replace(QUIET, processes=tuple(others))
    assert shown_of(situation, priority=loaded)["scheduling"] == {"nice": 5, "processors": [0, 1]}
    assert "scheduling" not in shown_of()
