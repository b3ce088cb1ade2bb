"""`GET /status`: what this front knows of itself and of what speaks, for people and their scripts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from frontend.cache.segments import SegmentCache
from frontend.planned import State
from frontend.planning.ledger import Account
from frontend.stream import Stream
from shm.audio import SAMPLE_RATE
from shm.messages import EngineInfo, Situation


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The dispatcher at one moment."""

    engine: EngineInfo | None
    reason: str
    """Why nothing speaks; empty when something does."""
    situation: Situation
    streams: Sequence[Stream]
    queue_depth: int
    quarantined: int
    """Segments."""
    costs: Mapping[str, Account]
    """By engine."""
    cache: SegmentCache


class Status:
    """The handler. What was not measured is absent; counts begin with the process that counts."""

    def __init__(self, snapshot: Callable[[], Snapshot], pronounced: Mapping[str, int]) -> None:
        """`pronounced` counts words by how their phonemes were found (`frontend.text.word.Source`)."""
        self._snapshot = snapshot
        self._pronounced = pronounced
        self._started = time.monotonic()

    async def get(self, request: web.Request) -> web.Response:
        now = self._snapshot()
        return web.json_response(
            {
                "ready": now.engine is not None and not now.reason,
                **({"reason": now.reason} if now.reason else {}),
                **({"engine": _engine(now.engine)} if now.engine else {}),
                "provider_failures": now.situation.provider_failures,
                "worker": now.situation.worker_state,
                "restarts": now.situation.restarts,
                "active_streams": len(now.streams),
                "streams": [_stream(stream) for stream in now.streams],
                "queue_depth": now.queue_depth,
                "quarantined_segments": now.quarantined,
                "costs": {name: _costs(account) for name, account in now.costs.items() if account.measured},
                "cache": _cache(now.cache),
                "words_by_source": dict(self._pronounced),
                "front_uptime_seconds": round(time.monotonic() - self._started, 3),
            }
        )


def _engine(engine: EngineInfo) -> dict[str, str]:
    found = {"name": engine.name, "provider": engine.provider, "model": engine.model}
    return found | ({"sha256": engine.model_sha256} if engine.model_sha256 else {})


def _costs(account: Account) -> dict[str, Any]:
    """What was measured, and the figures that plans are made from."""
    return account.costs.as_dict() | {"plans_are_made_for": account.profile.as_dict()}


def _cache(cache: SegmentCache) -> dict[str, int]:
    return {"segments": cache.segments, "bytes": cache.bytes, "hits": cache.hits, "misses": cache.misses}


def _stream(stream: Stream) -> dict[str, Any]:
    """Never its text."""
    shown: dict[str, Any] = {
        "request_id": stream.request.request_id,
        "engine": stream.engine.name,
        "seconds_sent": round(stream.samples_given / SAMPLE_RATE, 3),
        "waiting_segments": sum(segment.state is State.PLANNED for segment in stream.planned),
    }
    if stream.begun:
        heard_until = stream.starts + (stream.samples_given + stream.samples_ready) / SAMPLE_RATE
        shown["seconds_ahead"] = round(heard_until - time.monotonic(), 3)
    return shown
