"""The fetcher: the process that fetches the model while another engine speaks. Exit status 0 means that Kokoro can be
started."""

from __future__ import annotations

import logging
import sys
import time
from typing import NoReturn

from setproctitle import setproctitle

from shm.errand_status import DONE, FAILED
from worker.models.fetch import FetchError, FetchProgress, fetch_blocking
from worker.models.model_files import DEFAULT, BadManifest, known_files
from worker.settings import WorkerSettings

log = logging.getLogger(__name__)

LOG_EVERY = 10.0
"""Seconds between two log lines on progress."""


def run(settings: WorkerSettings) -> NoReturn:
    """Fetch the files that `kokoro-live models fetch` would, then exit: with 0, or with 1 after a log line that tells
    the user how to fix it."""
    setproctitle("kokoro-live: fetcher")
    try:
        known = known_files(settings.manifest, settings.packaged_model)
        names = DEFAULT if settings.manifest is None else tuple(known)
        log.info("fetching %s into %s", ", ".join(names), settings.model_dir)
        fetch_blocking(names, settings.model_dir, settings.mirror or None, _Reporter(), known)
    except (FetchError, BadManifest) as error:
        log.warning("the model was not fetched: %s", error)
        sys.exit(FAILED)
    log.info("the model is there")
    sys.exit(DONE)


class _Reporter:
    """Logs progress from time to time, and each obstacle once."""

    def __init__(self) -> None:
        self._next_line = time.monotonic() + LOG_EVERY
        self._note = ""

    def __call__(self, progress: FetchProgress) -> None:
        if progress.note and progress.note != self._note:
            log.warning("%s: %s", progress.name, progress.note)
        elif time.monotonic() >= self._next_line:
            log.info("%s: %.0f of %.0f MB", progress.name, progress.received / 1e6, progress.total / 1e6)
        else:
            return
        self._note = progress.note
        self._next_line = time.monotonic() + LOG_EVERY
