"""`/status` says what is the case, leaves out what nobody knows, and keeps texts to itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import web

from frontend.cache.entry import CachedSegment
from frontend.cache.segments import SegmentCache
from frontend.dispatcher import Dispatcher
from frontend.metrics import Metrics
from frontend.planning.ledger import Account
from frontend.planning.planner import Limits
from frontend.reader import Reader
from frontend.settings import FrontSettings
from frontend.status import Snapshot, Status
from frontend.text.g2p import G2P
from frontend.text.pipeline import TextPipeline
from shm.messages import Situation
from tests.frontend.http_fakes import ENGINE

NOTHING = Snapshot(
    None, "the worker is starting", Situation("starting", "the worker is starting", {}), (), 0, 0, {}, SegmentCache(0)
)


async def shown(snapshot: Snapshot, pronounced: Counter[str] | None = None) -> dict[str, Any]:
    app = web.Application()
    app.add_routes([web.get("/status", Status(lambda: snapshot, pronounced or Counter()).get)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/status"
        async with aiohttp.ClientSession() as client, client.get(url) as response:
            assert response.status == 200
            found: dict[str, Any] = await response.json()
            return found
    finally:
        await runner.cleanup()


async def test_while_nothing_speaks_there_is_a_reason_and_no_engine() -> None:
    found = await shown(NOTHING)
    assert (found["ready"], found["reason"], found["worker"]) == (False, "the worker is starting", "starting")
    assert "engine" not in found
    assert (found["restarts"], found["streams"], found["words_by_source"]) == ({}, [], {})


async def test_a_provider_that_was_given_up_is_there_with_its_reason() -> None:
    situation = Situation("running", "", {"front": 0, "worker": 2}, {"CUDAExecutionProvider": "out of memory"})
    found = await shown(replace(NOTHING, engine=ENGINE, reason="", situation=situation, quarantined=3))
    assert found["provider_failures"] == {"CUDAExecutionProvider": "out of memory"}
    assert (found["ready"], found["restarts"], found["quarantined_segments"]) == (True, {"front": 0, "worker": 2}, 3)
    assert found["engine"] == {"name": "kokoro", "provider": "CPUExecutionProvider", "model": "tiny.onnx"}


async def test_an_engine_that_is_being_restarted_is_shown_and_not_ready() -> None:
    found = await shown(replace(NOTHING, engine=ENGINE, reason="the worker is being restarted"))
    assert (found["ready"], found["engine"]["name"]) == (False, "kokoro")


async def test_costs_are_shown_as_far_as_they_were_measured() -> None:
    account = Account(ENGINE)
    assert (await shown(replace(NOTHING, costs={"kokoro": account})))["costs"] == {}
    for tokens in range(20, 60):
        account.observe(tokens, 1.0, tokens * 1680, tokens * 0.027, 0.0, 1.0)
    costs = (await shown(replace(NOTHING, costs={"kokoro": account})))["costs"]["kokoro"]
    assert costs["seconds_per_100_tokens"] == pytest.approx(2.7, rel=0.02)
    assert costs["audio_seconds_per_token"] == pytest.approx(0.07, rel=0.02)
    assert costs["plans_are_made_for"]["per_token"] == pytest.approx(0.027, rel=0.25)


async def test_the_cache_is_shown() -> None:
    cache = SegmentCache(1 << 20)
    cache.keep(b"a", CachedSegment(np.ones(1000, np.int16)))
    await cache.find(b"a")
    await cache.find(b"b")
    found = (await shown(replace(NOTHING, cache=cache)))["cache"]
    assert (found["segments"], found["hits"], found["misses"]) == (1, 1, 1)
    assert 2000 <= found["bytes"] < 4000


async def test_the_dispatcher_says_how_things_stand_and_counts_providers_once() -> None:
    metrics = Metrics()
    reader = Reader(TextPipeline(G2P()), Limits(), 60.0)
    dispatcher = Dispatcher(reader, metrics, lambda _: None, FrontSettings(), SegmentCache(0))
    situation = Situation("running", "", {"front": 1, "worker": 0}, {"CoreMLExecutionProvider": "it raised"})
    for _ in range(2):
        dispatcher.situation(situation)
    snapshot = dispatcher.snapshot()
    dispatcher.close()
    assert (snapshot.situation, snapshot.engine, list(snapshot.streams)) == (situation, None, [])
    assert failures(metrics, "CoreMLExecutionProvider") == 1


def test_a_provider_that_fails_again_after_a_new_try_counts_again() -> None:
    metrics = Metrics()
    for given_up in ({"CUDAExecutionProvider": "gone"}, {}, {"CUDAExecutionProvider": "gone"}):
        metrics.provider_failures(given_up)
    assert failures(metrics, "CUDAExecutionProvider") == 2


def failures(metrics: Metrics, provider: str) -> float | None:
    return metrics.registry.get_sample_value("kokoro_live_provider_failures_total", {"provider": provider})
