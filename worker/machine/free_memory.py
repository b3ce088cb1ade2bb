"""Memory that the C library holds free goes back to the system."""

from __future__ import annotations

import ctypes


def return_free_memory() -> None:
    """Give back the free pages of the C library's heap, where it can (glibc's `malloc_trim`). Loading a model
    leaves some, which would stay resident for as long as the process lives.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
