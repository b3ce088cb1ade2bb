"""`kokoro-live serve`: start the front and the worker, watch both, drain on SIGTERM and SIGINT."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

import click
from setproctitle import setproctitle

from shm.messages import Ready
from supervisor.composition import KINDS, Settings
from supervisor.exit_codes import ExitCode
from supervisor.lifecycle import Lifecycle
from supervisor.listener import PortTaken, listen
from supervisor.logs import configure_logging
from supervisor.loop import Loop
from supervisor.options import settings_options
from supervisor.spawn import ProcessSpawner


@click.command()
@settings_options(*KINDS)
def serve(**values: Any) -> None:
    """Serve OpenAI's speech API on this machine."""
    try:
        settings = Settings.of(values)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    sys.exit(run(settings))


def run(settings: Settings) -> ExitCode:
    """Serve until stopped; the exit status."""
    setproctitle("kokoro-live: supervisor")
    configure_logging(settings.supervisor.log_level, "supervisor")
    try:
        listener = listen(settings.supervisor.host, settings.supervisor.port)
    except PortTaken as error:
        logging.critical("%s", error)
        return ExitCode.PORT
    host, port = listener.getsockname()[:2]
    loop = Loop(ProcessSpawner(settings, listener))
    lifecycle = Lifecycle(
        settings=settings.supervisor,
        drain_timeout=settings.front.drain_timeout,
        spawn=loop.spawn,
        clock=time.monotonic,
        fetch_model=lambda ready: wants_model(settings, ready),
        announce=_Announcer(f"http://{f'[{host}]' if ':' in host else host}:{port}"),
        stop_listening=listener.close,
    )
    return loop.run(lifecycle)


def wants_model(settings: Settings, ready: Ready) -> bool:
    """Should the model be fetched in the background? Yes, if espeak-ng speaks only because there is no model."""
    worker = settings.worker
    asked_for_another = worker.engine != "auto" or worker.model is not None
    return ready.engine.name == "espeak-ng" and not asked_for_another and not settings.supervisor.offline


class _Announcer:
    """Says in one line where to send text and who speaks it; again only when that changes."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._said = ""

    def __call__(self, ready: Ready) -> None:
        engine = ready.engine
        line = f"kokoro-live speaks on {self._url} with {engine.name} ({engine.model}, {engine.provider})"
        if engine.name != "kokoro":
            line += "; for Kokoro's voices: kokoro-live models fetch"
        if line != self._said:
            self._said = line
            print(line, flush=True)
