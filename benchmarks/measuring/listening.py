"""One request's history as its client saw it: when each byte came, when the first sample could be heard."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.measuring.playback import Arrival, FirstAudible
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

TIMEOUT = 3600.0
"""Seconds without a byte after which a request counts as broken."""

AHEAD = 2.0
"""Seconds of audio that a player keeps before it reads on."""

TOO_MANY = 429
"""The HTTP status of a rejected request."""

FRESH = {"Cache-Control": "no-store"}
"""Nothing that was spoken before is taken, nor kept."""


@dataclass
class Heard:
    """Times are monotonic seconds."""

    started: float
    """Before the connection was opened."""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    arrivals: list[Arrival] = field(default_factory=list)
    audible: float | None = None
    """Time at which the first audible sample arrived; None if there was none."""
    ended: float = 0.0
    error: str = ""

    @property
    def to_first_audible(self) -> float | None:
        """Seconds from the request; None if nothing could be heard."""
        return None if self.audible is None else self.audible - self.started

    @property
    def to_end(self) -> float:
        return self.ended - self.started

    @property
    def audio_seconds(self) -> float:
        return sum(size for _, size in self.arrivals) / SAMPLE_BYTES / SAMPLE_RATE

    @property
    def complete(self) -> bool:
        return self.status == 200 and not self.error

    def assert_complete(self) -> Heard:
        """
        Raises:
            ConnectionError: it isn't.
        """
        if not self.complete or self.to_first_audible is None:
            raise ConnectionError(f"a request that is measured wasn't answered: {self.status} {self.error}")
        return self


def listen(
    port: int,
    text: str,
    voice: str,
    *,
    headers: dict[str, str] | None = None,
    paced: bool = False,
    going: Callable[[], bool] = lambda: True,
    extra: dict[str, object] | None = None,
) -> Heard:
    """Ask for bare samples and hear them out.

    Args:
        paced: read as a player does, no more than `AHEAD` ahead of what is played.
        going: asked between reads; when it is false, the listener leaves.
        extra: more fields of the request.
    """
    body = json.dumps({"input": text, "voice": voice, "response_format": "pcm", **(extra or {})})
    first = FirstAudible()
    heard = Heard(time.monotonic())
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        try:
            connection.request(
                "POST", "/v1/audio/speech", body, {"Content-Type": "application/json", **(headers or {})}
            )
            response = connection.getresponse()
            heard.status, heard.headers = response.status, dict(response.getheaders())
            if response.status != 200:
                heard.error = response.read().decode(errors="replace")
                return heard
            while going() and (data := response.read1(1 << 16)):
                now = time.monotonic()
                heard.arrivals.append((now, len(data)))
                if first.push(data):
                    heard.audible = now
                if paced:
                    _wait_for_playback(heard)
        except (OSError, http.client.HTTPException) as error:
            heard.error = repr(error)
        finally:
            heard.ended = time.monotonic()
    return heard


def _wait_for_playback(heard: Heard) -> None:
    ahead = heard.arrivals[0][0] + heard.audio_seconds - time.monotonic()
    if ahead > AHEAD:
        time.sleep(ahead - AHEAD)
