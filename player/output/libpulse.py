"""The functions of PulseAudio's client library that the output needs; PipeWire's server speaks the same protocol.

No library for Python rewrites samples that the server already has, which a fade at once needs (`pa_stream_write` with
an offset). Reference: www.freedesktop.org/software/pulseaudio/doxygen.
"""

from __future__ import annotations

import ctypes
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


class SampleSpec(Structure):
    """`pa_sample_spec`."""

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
