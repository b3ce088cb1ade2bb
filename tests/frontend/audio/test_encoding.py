"""Encoders alongside the event loop: one call at a time, nothing left when the caller goes, few threads."""

import asyncio
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frontend.audio.encoding import MAX_THREADS, Encoders, ThreadEncoding
from frontend.audio.formats import FORMATS, OutputFormat
from frontend.contract import in_flight
from shm.audio import Pcm
from shm.in_flight import BOARD_BYTES, Board, WorkKind, WorkStep, digest_of
from shm.memory import reserve
from tests.frontend.audio.hearing import hear, vowels
from tests.frontend.http_fakes import DEFAULT_TIMEOUT

BYTES_PER_SECOND = 48_000.0
"""The rate that `ThreadEncoding` only hands on to its stream."""


class SlowEncoder:
    """Encodes when the test says so, and notices whoever closes it meanwhile."""

    given_out = 0.0
    seam = (0, 0)

    def __init__(self) -> None:
        self.encoding = threading.Event()
        self.go_on = threading.Event()
        self.closed = threading.Event()
        self.closed_at_work = False
        self._at_work = False

    def encode(self, pcm: Pcm) -> bytes:
        self._at_work = True
        self.encoding.set()
        assert self.go_on.wait(DEFAULT_TIMEOUT)
        self._at_work = False
        return pcm.tobytes()

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        self.closed_at_work |= self._at_work
        self.closed.set()


@pytest.fixture
def threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


async def at_work(encoder: SlowEncoder, encoding: ThreadEncoding, pcm: Pcm) -> asyncio.Task[bytes]:
    task = asyncio.create_task(encoding.encode(pcm))
    assert await asyncio.to_thread(encoder.encoding.wait, DEFAULT_TIMEOUT)
    return task


async def test_a_continued_encoding_is_at_work_on_the_samples_of_its_stream(threads: ThreadPoolExecutor) -> None:
    """So that fronts which die at one place of an answer die at the same one, wherever each of them began."""
    memory = reserve(BOARD_BYTES)
    board = Board(memory)
    os.close(memory)
    encoder = SlowEncoder()
    token = in_flight.current.set(board.enter(digest_of("A text.")))
    try:
        encoding = ThreadEncoding(threads, lambda: encoder, BYTES_PER_SECOND, 24_000)
        task = await at_work(encoder, encoding, np.zeros(50, np.int16))
        working = board.read().working
        encoder.go_on.set()
        await task
        assert working == {digest_of("A text."): {WorkStep(WorkKind.ENCODING, 24_000, 24_050)}}
    finally:
        in_flight.current.reset(token)
        threads.shutdown()
        board.close()


async def test_an_encoder_is_closed_only_when_its_cancelled_call_has_ended(threads: ThreadPoolExecutor) -> None:
    encoder = SlowEncoder()
    encoding = ThreadEncoding(threads, lambda: encoder, BYTES_PER_SECOND)
    task = await at_work(encoder, encoding, np.zeros(5, np.int16))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    encoding.close()
    assert not encoder.closed.is_set()
    encoder.go_on.set()
    assert await asyncio.to_thread(encoder.closed.wait, DEFAULT_TIMEOUT)
    assert not encoder.closed_at_work
    threads.shutdown()


async def test_samples_are_the_callers_again_once_the_call_is_under_way(threads: ThreadPoolExecutor) -> None:
    encoder = SlowEncoder()
    encoding = ThreadEncoding(threads, lambda: encoder, BYTES_PER_SECOND)
    lent = np.arange(5, dtype=np.int16)
    task = await at_work(encoder, encoding, lent)
    lent[:] = 0
    encoder.go_on.set()
    assert await task == np.arange(5, dtype=np.int16).tobytes()
    encoding.close()
    threads.shutdown()


async def test_an_encoder_that_is_never_used_is_closed(threads: ThreadPoolExecutor) -> None:
    encoder = SlowEncoder()
    ThreadEncoding(threads, lambda: encoder, BYTES_PER_SECOND).close()
    assert await asyncio.to_thread(encoder.closed.wait, DEFAULT_TIMEOUT)
    threads.shutdown()


async def test_an_encoder_that_can_not_be_made_says_why_to_each_call(threads: ThreadPoolExecutor) -> None:
    def fail() -> SlowEncoder:
        raise ImportError("no FFmpeg here")

    encoding = ThreadEncoding(threads, fail, BYTES_PER_SECOND)
    for _ in range(2):
        with pytest.raises(ImportError, match="no FFmpeg here"):
            await encoding.encode(np.zeros(5, np.int16))
    encoding.close()
    threads.shutdown()


async def test_many_streams_share_few_threads_and_do_not_mix() -> None:
    encoders = Encoders()
    before = threading.active_count()
    pcm = [vowels(0.3 + number / 20) for number in range(24)]

    async def stream(samples: Pcm) -> bytes:
        encoding = encoders.open(OutputFormat(FORMATS["flac"], 24_000), whole=False)
        data = b""
        for start in range(0, len(samples), 2400):
            data += await encoding.encode(samples[start : start + 2400])
        data += await encoding.finish()
        encoding.close()
        return data

    files = await asyncio.gather(*map(stream, pcm))
    assert threading.active_count() - before <= MAX_THREADS
    for samples, file in zip(pcm, files, strict=True):
        assert np.array_equal(hear(file).samples, samples)
    encoders.stop_threads()
    assert threading.active_count() == before


@pytest.mark.parametrize("audio_format", [name for name, row in FORMATS.items() if row.codec])
async def test_a_stream_that_is_given_up_leaves_no_codec_behind(audio_format: str) -> None:
    encoders = Encoders()
    encoding = encoders.open(OutputFormat(FORMATS[audio_format], 24_000), whole=False)
    await encoding.encode(vowels(0.3))
    assert isinstance(encoding, ThreadEncoding)
    codec = weakref.ref(encoding._made.result())
    encoding.close()
    encoders.stop_threads()
    del encoding
    await asyncio.sleep(0)  # the step that the encoder itself has woken holds its future
    gc.collect()
    assert codec() is None
