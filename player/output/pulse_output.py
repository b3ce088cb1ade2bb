"""The output through PulseAudio or PipeWire: the only one that fades what the device already has."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import numpy as np

from player.deck import FADE, faded_out
from player.output.output import Fill, NoOutput
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE, Pcm

# The functions of PulseAudio's client library that the output needs; PipeWire's server speaks the same protocol.
#
# No library for Python rewrites samples that the server already has, which a fade at once needs (`pa_stream_write` with
# an offset). Reference: www.freedesktop.org/software/pulseaudio/doxygen.

CONTEXT_READY, CONTEXT_FAILED = 4, 5
STREAM_READY, STREAM_FAILED = 2, 3
"""States; greater numbers have failed or ended too."""

NO_AUTOSPAWN = 1
INTERPOLATE_TIMING, AUTO_TIMING_UPDATE, ADJUST_LATENCY = 0x0002, 0x0008, 0x2000
SEEK_RELATIVE = 0
SAMPLE_S16LE = 3
DEFAULT = 2**32 - 1

Notify = CFUNCTYPE(None, c_void_p, c_void_p)
Request = CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)
Success = CFUNCTYPE(None, c_void_p, c_int, c_void_p)


class SampleSpec(Structure):
    _fields_ = (("format", c_int), ("rate", c_uint32), ("channels", c_uint8))


class BufferAttributes(Structure):
    """`pa_buffer_attr`, in bytes."""

    _fields_ = tuple((name, c_uint32) for name in ("maxlength", "tlength", "prebuf", "minreq", "fragsize"))


_SIGNATURES = {
    "threaded_mainloop_new": (c_void_p,),
    "threaded_mainloop_get_api": (c_void_p, c_void_p),
    "threaded_mainloop_start": (c_int, c_void_p),
    "threaded_mainloop_stop": (None, c_void_p),
    "threaded_mainloop_free": (None, c_void_p),
    "threaded_mainloop_lock": (None, c_void_p),
    "threaded_mainloop_unlock": (None, c_void_p),
    "threaded_mainloop_wait": (None, c_void_p),
    "threaded_mainloop_signal": (None, c_void_p, c_int),
    "context_new": (c_void_p, c_void_p, c_char_p),
    "context_set_state_callback": (None, c_void_p, Notify, c_void_p),
    "context_connect": (c_int, c_void_p, c_char_p, c_int, c_void_p),
    "context_get_state": (c_int, c_void_p),
    "context_errno": (c_int, c_void_p),
    "context_disconnect": (None, c_void_p),
    "context_unref": (None, c_void_p),
    "strerror": (c_char_p, c_int),
    "stream_new": (c_void_p, c_void_p, c_char_p, POINTER(SampleSpec), c_void_p),
    "stream_set_state_callback": (None, c_void_p, Notify, c_void_p),
    "stream_set_write_callback": (None, c_void_p, Request, c_void_p),
    "stream_connect_playback": (
        *(c_int, c_void_p, c_char_p, POINTER(BufferAttributes), c_int, c_void_p),
        c_void_p,
    ),
    "stream_get_state": (c_int, c_void_p),
    "stream_write": (c_int, c_void_p, c_char_p, c_size_t, c_void_p, c_int64, c_int),
    "stream_get_latency": (c_int, c_void_p, POINTER(c_uint64), POINTER(c_int)),
    "stream_update_timing_info": (c_void_p, c_void_p, Success, c_void_p),
    "operation_unref": (None, c_void_p),
    "stream_disconnect": (c_int, c_void_p),
    "stream_unref": (None, c_void_p),
}
"""Result and arguments of each function, without the prefix `pa_`."""


def load() -> ctypes.CDLL:
    """The library.

    Raises:
        OSError: it isn't installed.
    """
    library = ctypes.CDLL("libpulse.so.0")
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(library, f"pa_{name}")
        function.restype, function.argtypes = result, arguments
    return library


MARGIN = SAMPLE_RATE * 10 // 1000
"""Samples between the one that sounds and the beginning of a fade: 10 ms, the error of the server's timing."""

FILL_MARGIN = 6 * MARGIN
"""Samples between the one that sounds and samples that take the place of silence: a sample that comes too late is lost.
The server is asked for its timing first; with 20 ms a buffer of 800 ms lost the first samples each time."""

CONNECT_SECONDS = 5.0

_REQUESTS = 4
"""Parts in which the server asks for its buffer."""


class PulseOutput:
    """The library's thread calls `fill`.

    Closing rewrites what the server holds with a fade of 20 ms and silence, and waits until that has sounded.
    """

    name = "PulseAudio"
    takes_fade = False

    def __init__(self, fill: Fill, buffer_ms: int) -> None:
        """
        Raises:
            NoOutput: there is no such server, or it has no device.
        """
        try:
            self._pa = load()
        except OSError as error:
            raise NoOutput("libpulse is not installed") from error
        self._fill = fill
        self._recent: Pcm = np.zeros(buffer_ms * SAMPLE_RATE // 500, np.int16)
        """The last samples that were written, twice the server's buffer."""
        self._delay, self._measured = 0, time.monotonic()
        self._closing = threading.Lock()
        self._is_late = False
        """True once the server has taken `CONNECT_SECONDS` to open the stream."""
        self._loop: int | None = None
        self._context: int | None = None
        self._stream: int | None = None
        """Pointers of the library's; None before they are made and after they were freed."""
        self._on_state = Notify(lambda *_: self._pa.pa_threaded_mainloop_signal(self._loop, 0))
        self._on_request = Request(lambda _stream, count, _data: self._write(count // SAMPLE_BYTES))
        self._on_timing = Success(lambda _stream, success, _data: self._refill() if success else None)
        self._silence: tuple[Callable[[], int], Callable[[int], None]] = (lambda: 0, lambda count: None)
        """The functions that `fill_silence` was given."""
        self._loop = self._pa.pa_threaded_mainloop_new()
        self._pa.pa_threaded_mainloop_start(self._loop)
        try:
            self._establish(buffer_ms)
        except NoOutput:
            self._release()
            raise

    @property
    def delay(self) -> int:
        """The server's last figure, less the time since."""
        return max(self._delay - round((time.monotonic() - self._measured) * SAMPLE_RATE), 0)

    def fill_silence(self, most: Callable[[], int], taken_back: Callable[[int], None]) -> None:
        """The server has up to its whole buffer of silence when the first sample comes: that would sound first. The
        library's thread replaces it, once the server has said what it has."""
        with self._closing:
            if self._loop:
                with self._locked():
                    self._silence = most, taken_back
                    asked = self._pa.pa_stream_update_timing_info(self._stream, self._on_timing, None)
                    if asked:
                        self._pa.pa_operation_unref(asked)

    def close(self) -> None:
        """Blocks for the 30 ms of the margin and the fade."""
        with self._closing:
            if not self._loop:
                return
            with self._locked():
                faded = self._fade()
            time.sleep(faded / SAMPLE_RATE)
            self._release()

    def _establish(self, buffer_ms: int) -> None:
        limit = threading.Timer(CONNECT_SECONDS, self._give_up)
        limit.start()
        try:
            with self._locked():
                self._connect()
                self._open(buffer_ms)
        finally:
            limit.cancel()
            limit.join()  # it uses the loop, which may be freed next

    def _give_up(self) -> None:
        with self._locked():
            self._is_late = True
            self._pa.pa_threaded_mainloop_signal(self._loop, 0)

    # -- with the library's lock held

    def _connect(self) -> None:
        api = self._pa.pa_threaded_mainloop_get_api(self._loop)
        self._context = self._pa.pa_context_new(api, b"kokoro-live")
        self._pa.pa_context_set_state_callback(self._context, self._on_state, None)
        self._pa.pa_context_connect(self._context, None, NO_AUTOSPAWN, None)
        self._until(self._pa.pa_context_get_state, self._context, CONTEXT_READY)

    def _open(self, buffer_ms: int) -> None:
        spec = SampleSpec(SAMPLE_S16LE, SAMPLE_RATE, 1)
        self._stream = self._pa.pa_stream_new(self._context, b"speech", ctypes.byref(spec), None)
        self._pa.pa_stream_set_state_callback(self._stream, self._on_state, None)
        self._pa.pa_stream_set_write_callback(self._stream, self._on_request, None)
        length = buffer_ms * SAMPLE_RATE // 1000 * SAMPLE_BYTES
        part = length // _REQUESTS
        # Without a pre-buffer the server's clock runs from the beginning, and it drops samples that come late.
        wanted = BufferAttributes(DEFAULT, length, 2 * part, part, DEFAULT)
        flags = INTERPOLATE_TIMING | AUTO_TIMING_UPDATE | ADJUST_LATENCY
        self._pa.pa_stream_connect_playback(self._stream, None, ctypes.byref(wanted), flags, None, None)
        self._until(self._pa.pa_stream_get_state, self._stream, STREAM_READY)

    def _until(self, state: Callable[[Any], int], of: Any, ready: int) -> None:
        """Wait until the state is `ready`; the library wakes this thread at each change."""
        while (now := state(of)) != ready:
            if now > ready:
                reason = self._pa.pa_strerror(self._pa.pa_context_errno(self._context)).decode()
                raise NoOutput(f"PulseAudio: {reason}")
            if self._is_late:
                raise NoOutput(f"PulseAudio: the server hasn't answered within {CONNECT_SECONDS:g} s")
            self._pa.pa_threaded_mainloop_wait(self._loop)

    def _write(self, count: int) -> None:
        samples = self._fill(count)
        self._recent = np.concatenate([self._recent, samples])[-len(self._recent) :]
        self._pa.pa_stream_write(self._stream, samples.tobytes(), count * SAMPLE_BYTES, None, 0, SEEK_RELATIVE)
        self._measure()

    def _measure(self) -> bool:
        """Ask how long a sample takes from the last write to the ear; False while the server doesn't know."""
        microseconds, negative = ctypes.c_uint64(), ctypes.c_int()
        failed = self._pa.pa_stream_get_latency(self._stream, ctypes.byref(microseconds), ctypes.byref(negative))
        if failed or negative.value:
            return False
        self._delay, self._measured = round(microseconds.value * SAMPLE_RATE / 1e6), time.monotonic()
        return True

    def _fade(self) -> int:
        """Rewrite what hasn't sounded; returns the samples until silence."""
        if self._pa.pa_stream_get_state(self._stream) != STREAM_READY or not self._measure():
            return 0
        rest = min(max(self.delay - MARGIN, 0), len(self._recent))
        unheard = self._recent[len(self._recent) - rest :].copy()
        unheard[:FADE] = faded_out(unheard[:FADE])
        unheard[FADE:] = 0
        self._rewrite(rest, unheard)
        return MARGIN + FADE if rest else 0

    def _refill(self) -> None:
        most, taken_back = self._silence
        if self._measure():
            count = min(max(self.delay - FILL_MARGIN, 0), len(self._recent), most())
            taken_back(count)
            self._rewrite(count, self._fill(count))

    def _rewrite(self, count: int, samples: Pcm) -> None:
        """Replace the last `count` samples that were written."""
        if count:
            self._recent = np.concatenate([self._recent[: len(self._recent) - count], samples])
            size = count * SAMPLE_BYTES
            self._pa.pa_stream_write(self._stream, samples.tobytes(), size, None, -size, SEEK_RELATIVE)

    # -- without it

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._pa.pa_threaded_mainloop_lock(self._loop)
        try:
            yield
        finally:
            self._pa.pa_threaded_mainloop_unlock(self._loop)

    def _release(self) -> None:
        with self._locked():
            if self._stream:
                self._pa.pa_stream_disconnect(self._stream)
                self._pa.pa_stream_unref(self._stream)
            if self._context:
                self._pa.pa_context_disconnect(self._context)
                self._pa.pa_context_unref(self._context)
        self._pa.pa_threaded_mainloop_stop(self._loop)
        self._pa.pa_threaded_mainloop_free(self._loop)
        self._loop = None
