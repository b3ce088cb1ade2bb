"""Encoders at work for streams: alongside the event loop where that pays, on it where it doesn't."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from secrets import randbits
from typing import Protocol

import numpy as np

from frontend.audio.encoders import Encoder, Seam, make_encoder
from frontend.audio.formats import OutputFormat
from frontend.contract import in_flight
from shm.audio import SAMPLE_RATE, Pcm
from shm.in_flight import WorkKind, WorkStep

NUMBER_BITS = 31
"""Bits of a stream's number."""

STEP = SAMPLE_RATE // 2
"""Most samples that a thread encodes at once: a front that dies of them is told from one that dies of others."""

MAX_THREADS = min(4, os.cpu_count() or 1)
"""Encoding threads of all streams together; a single one encodes faster than many listeners hear."""


class Encoding(Protocol):
    """One stream's `Encoder`, for the event loop. One call at a time."""

    bytes_per_second: float
    """Bytes that a second of audio takes, about."""

    @property
    def given_out(self) -> float: ...

    @property
    def seam(self) -> Seam: ...

    async def encode(self, pcm: Pcm) -> bytes: ...

    async def finish(self) -> bytes: ...

    def close(self) -> None:
        """Give everything back, at the latest when a call that was cancelled has ended. Idempotent."""
        ...


class Encoders:
    """Opens the encodings of one front. Its threads start when they are first needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="encoder")

    def open(
        self,
        output: OutputFormat,
        engine_rate: int = SAMPLE_RATE,
        *,
        whole: bool,
        number: int | None = None,
        seam: Seam = (0, 0),
    ) -> Encoding:
        """Begin to make an encoder, so that it is ready for the first samples. Takes `make_encoder`'s arguments.

        Args:
            number: None: any.
        """
        number = randbits(NUMBER_BITS) if number is None else number
        make = partial(make_encoder, output, engine_rate, whole=whole, number=number, seam=seam)
        if output.needs_thread(engine_rate):
            return ThreadEncoding(self._threads, make, output.bytes_per_second, seam[0])
        return LoopEncoding(make(), output.bytes_per_second)

    def prepare(self, output: OutputFormat) -> Future[None]:
        """Load the codec in a thread: the first stream would otherwise wait for it. Done when it is loaded."""
        return self._threads.submit(load_codec, output)

    def stop_threads(self) -> None:
        self._threads.shutdown(cancel_futures=True)


def load_codec(output: OutputFormat) -> None:
    encoder = make_encoder(output, SAMPLE_RATE, whole=False)
    try:
        encoder.encode(np.zeros(SAMPLE_RATE // 10, np.int16))
    finally:
        encoder.close()


class _Steps:
    """The steps of encoding the text of the request in hand, for the board of texts."""

    def __init__(self, encoded: int = 0) -> None:
        """`encoded`: samples of the stream that a front before has encoded."""
        self._text = in_flight.current.get()
        self._encoded = encoded

    @contextmanager
    def working(self, samples: int = 0) -> Iterator[None]:
        """Around the encoding of so many samples; 0: the end of the sound."""
        start, self._encoded = self._encoded, self._encoded + samples
        with self._text.working(WorkStep(WorkKind.ENCODING, start, max(self._encoded, start + 1))):
            yield


class LoopEncoding:
    """Encodes on the event loop, where a thread would cost more than the work."""

    def __init__(self, encoder: Encoder, bytes_per_second: float) -> None:
        self.bytes_per_second = bytes_per_second
        self._encoder = encoder
        self._steps = _Steps()

    @property
    def given_out(self) -> float:
        return self._encoder.given_out

    @property
    def seam(self) -> Seam:
        return self._encoder.seam

    async def encode(self, pcm: Pcm) -> bytes:
        with self._steps.working(len(pcm)):
            return self._encoder.encode(pcm)

    async def finish(self) -> bytes:
        with self._steps.working():
            return self._encoder.finish()

    def close(self) -> None:
        self._encoder.close()


class ThreadEncoding:
    """Encodes in a thread of the pool, at most one at a time.

    A cancelled call can't be stopped in its thread. So nothing that the caller lends is used there, and the encoder is
    closed by whoever is last: the thread that still works with it, or the caller.
    """

    def __init__(
        self, threads: ThreadPoolExecutor, make: Callable[[], Encoder], bytes_per_second: float, after: int = 0
    ) -> None:
        """`after`: samples of the stream before those that it is given."""
        self.bytes_per_second = bytes_per_second
        self._threads = threads
        self._steps = _Steps(after)
        self._made = threads.submit(make)
        self._latest: Future[Encoder] | Future[bytes] = self._made

    @property
    def given_out(self) -> float:
        return self._made.result().given_out

    @property
    def seam(self) -> Seam:
        return self._made.result().seam if self._made.done() else (0, 0)

    async def encode(self, pcm: Pcm) -> bytes:
        samples = pcm.copy()
        return await self._run(lambda encoder: b"".join(self._encoded(encoder, samples)))

    async def finish(self) -> bytes:
        return await self._run(self._finished)

    def close(self) -> None:
        self._latest.add_done_callback(lambda _: self._close())

    async def _run(self, work: Callable[[Encoder], bytes]) -> bytes:
        encoder = await asyncio.wrap_future(self._made)
        job = self._latest = self._threads.submit(work, encoder)
        return await asyncio.wrap_future(job)

    def _encoded(self, encoder: Encoder, samples: Pcm) -> Iterator[bytes]:
        for start in range(0, len(samples), STEP):
            step = samples[start : start + STEP]
            with self._steps.working(len(step)):
                yield encoder.encode(step)

    def _finished(self, encoder: Encoder) -> bytes:
        with self._steps.working():
            return encoder.finish()

    def _close(self) -> None:
        if not self._made.cancelled() and self._made.exception() is None:
            self._made.result().close()
