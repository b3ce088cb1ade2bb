"""Execution providers that don't work on this machine: they reported a failure, or their workers crash."""

from __future__ import annotations

import logging
import signal
from collections import Counter

from worker.providers.targets import CPU

log = logging.getLogger(__name__)

MANY = 2
"""Crashes on one provider after which it is given up: a single crash may be a segment's fault, and
segments have a limit of their own."""

OWN_FAULT = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
"""Signals that a process causes itself. SIGKILL comes from outside: the system, a person, the supervisor."""


class ProviderFailures:
    """Providers that later workers do without. A crash in a native library doesn't show which provider caused it."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        """The reason for each provider that was given up."""
        self._crashes: Counter[str] = Counter()

    def give_up(self, provider: str, reason: str) -> None:
        log.error("%s is given up: %s", provider, reason)
        self.reasons[provider] = reason

    def crashed(self, provider: str, status: int) -> bool:
        """Count the end of a worker that spoke, or that loaded to speak; returns True if its provider is given up for
        it.

        Args:
            provider: as onnxruntime names it, or `native`; empty if nobody knows.
            status: an exit status; minus a signal's number, if one ended it.
        """
        if provider in (CPU, "native", "") or -status not in OWN_FAULT:
            return False
        self._crashes[provider] += 1
        if self._crashes[provider] < MANY:
            return False
        how = signal.Signals(-status).name
        self.give_up(provider, f"{self._crashes[provider]} workers that ran on it have crashed, the last with {how}")
        return True
