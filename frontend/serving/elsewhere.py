"""Addresses of other Kokoro servers, each with the address or the setting that takes its place here."""

from __future__ import annotations

_PLACES = {
    "/performance-stats": "GET /metrics has the histograms of first audio and real-time factor, GET /status the rest",
    "/optimization-status": "GET /status names the providers, stages and the tuning profile in use",
    "/cache-status": "GET /status has the cache, under `cache`",
    "/startup-progress": "GET /ready says whether the engine speaks, and GET /status what is being started",
    "/session-status": "GET /status lists the streams and the processes",
    "/v1/audio/speech/stream": "POST /v1/audio/speech streams by itself",
    "/tts": "POST /v1/audio/speech takes `text`, `voice`, `speed`, `lang`, `stream` and `format`",
    "/web": "the page is at GET /",
    "/dev/unload": "--idle-unload gives the memory back while nobody listens",
    "/dev/tune": "`kokoro-live tune` measures how many threads suit this machine",
    "/debug/system": "GET /status has memory and processes",
    "/debug/storage": "GET /status has memory and processes",
    "/debug/threads": "GET /status has memory and processes",
    "/debug/session_pools": "GET /status has the engine, its stages and the streams",
}


def elsewhere(path: str) -> str:
    """A sentence with the place of what was at this path in another server, after a space; empty if none is known."""
    place = _PLACES.get(path.rstrip("/")) or ("the page is at GET /" if path.startswith("/web/") else "")
    return f" Here {place}." if place else ""
