"""`kokoro-live serve`: start the front and the worker, watch both, drain on SIGTERM and SIGINT."""

from __future__ import annotations

import logging
import socket
import sys
import time
from dataclasses import replace
from typing import Any

import click
from setproctitle import setproctitle

from shm.messages import Ready
from supervisor.composition import KINDS, Settings
from supervisor.exit_codes import ExitCode
from supervisor.lifecycle import Changes, Lifecycle, Outside
from supervisor.listener import PortTaken, listen
from supervisor.logs import configure_logging
from supervisor.loop import Loop
from supervisor.options import settings_options
from supervisor.spawn import ProcessSpawner

_ARGUMENTS = "kokoro-live arguments"


class _Serve(click.Command):
    """Remembers its arguments, so that SIGHUP can have them read again beside the settings file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)


@click.command(cls=_Serve)
@settings_options(*KINDS)
@click.pass_context
def serve(context: click.Context, /, **values: Any) -> None:
    """Serve OpenAI's speech API on this machine."""
    try:
        settings = Settings.of(values)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    sys.exit(run(settings, context.meta[_ARGUMENTS]))


def run(settings: Settings, arguments: list[str]) -> ExitCode:
    """Serve until stopped; the exit status."""
    setproctitle("kokoro-live: supervisor")
    configure_logging(settings.supervisor.log_level, "supervisor")
    try:
        listener = listen(settings.supervisor.host, settings.supervisor.port)
    except PortTaken as error:
        logging.critical("%s", error)
        return ExitCode.PORT
    spawner = ProcessSpawner(settings, listener)
    loop = Loop(spawner)
    outside = _Program(spawner, listener, arguments)
    return loop.run(Lifecycle(settings.supervisor, loop.spawn, time.monotonic, outside))


class _Program(Outside):
    """This program, as the lifecycle sees it."""

    def __init__(self, spawner: ProcessSpawner, listener: socket.socket, arguments: list[str]) -> None:
        self._spawner = spawner
        self._listener = listener
        self._arguments = arguments
        host, port = listener.getsockname()[:2]
        self._url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._said = ""

    def wants_model(self, ready: Ready) -> bool:
        return wants_model(self._spawner.settings, ready)

    def announce(self, ready: Ready) -> None:
        """Say in one line where to send text and who speaks it; again only when that changes."""
        engine = ready.engine
        line = f"kokoro-live speaks on {self._url} with {engine.name} ({engine.model}, {engine.provider})"
        if engine.name != "kokoro":
            line += "; for Kokoro's voices: kokoro-live models fetch"
        if line != self._said:
            self._said = line
            print(line, flush=True)

    def stop_listening(self) -> None:
        self._listener.close()

    def drain_timeout(self) -> float:
        return self._spawner.settings.front.drain_timeout

    def reload(self) -> Changes:
        old = self._spawner.settings
        try:
            with serve.make_context("serve", list(self._arguments)) as context:
                new = Settings.of(context.params)
        except (ValueError, click.ClickException) as error:
            message = error.format_message() if isinstance(error, click.ClickException) else str(error)
            logging.error("the settings are as they were: %s", message)
            return Changes(False, False)
        if new.supervisor != old.supervisor:
            logging.warning("the supervisor's own settings take effect at the next start")
        self._spawner.settings = replace(new, supervisor=old.supervisor)
        return Changes(front=new.front != old.front, worker=new.worker != old.worker)


def wants_model(settings: Settings, ready: Ready) -> bool:
    """Should the model be fetched in the background? Yes, if espeak-ng speaks only because there is no model."""
    worker = settings.worker
    asked_for_another = worker.engine != "auto" or worker.model is not None
    return ready.engine.name == "espeak-ng" and not asked_for_another and not settings.supervisor.offline
