"""Which execution providers end the processes that run on them."""

from __future__ import annotations

import signal
from collections import Counter

from worker.providers.records import CPU

MANY = 2
"""Crashes on one provider after which it is given up: one may have been a segment's, which has its own two chances."""

_OWN_FAULT = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
"""What a process does to itself. SIGKILL comes from others: the system short of memory, a person, the supervisor."""


class Crashes:
    """Counts, by provider. A native library that crashes can't say which provider failed, as an exception does."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def saw(self, provider: str, status: int) -> str:
        """A worker that spoke, or loaded to do so, ended so; why its provider should be given up, or an empty text.

        Args:
            provider: as onnxruntime names it, or `native`; empty if nobody knows.
            status: an exit status; minus a signal's number, if one ended it.
        """
        if provider in (CPU, "native", "") or -status not in _OWN_FAULT:
            return ""
        self._seen[provider] += 1
        if self._seen[provider] < MANY:
            return ""
        how = signal.Signals(-status).name
        return f"{self._seen[provider]} workers that ran on it have crashed, the last with {how}"
