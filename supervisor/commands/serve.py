"""`kokoro-live serve`: starts the front and the workers, watches them, drains on SIGTERM and SIGINT."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from setproctitle import setproctitle

from shm.listeners import Listeners
from shm.messages import ChildReady
from shm.situation import Situation, TuningState
from supervisor.processes.connections import ClientConnections
from supervisor.processes.errands import Errand
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.lifecycle import Changes, Lifecycle, Outside
from supervisor.processes.loop import Loop, ProcessSpawner
from supervisor.processes.metrics import SupervisorMetrics, metrics_folder
from supervisor.processes.standing import Standing
from supervisor.settings.composition import KINDS, Settings, parse_settings
from supervisor.settings.logs import configure_logging
from supervisor.settings.options import SettingsCommand, removed_settings, settings_options
from supervisor.startup.listener import BadActivation, activated_listener
from supervisor.startup.log_file import VARIABLE, keep_small
from supervisor.startup.requirements import REQUIREMENTS, Opening, Refused, assert_wanted
from supervisor.startup.service_manager import Notifications, ServiceManager
from supervisor.tuning.profile import Applied, status_of, tuned_settings
from worker.select import asked_rows

FETCH_TIMEOUT = 86_400.0
"""Seconds after which a fetch is ended and started again later; it continues where it was."""

_ARGUMENTS = "kokoro-live arguments"


class _Serve(SettingsCommand):
    """A command that stores its arguments: SIGHUP reads them again, with the settings file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        return click.Command.invoke(
            self, ctx
        )  # the log, which isn't configured yet, has the lines that this leaves out


@click.command(cls=_Serve)
@settings_options(*KINDS)
@click.pass_context
def serve(context: click.Context, /, **values: Any) -> None:
    """Serve OpenAI's speech API on this machine."""
    try:
        applied = tuned_settings(context)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    sys.exit(run(applied, context.meta[_ARGUMENTS], removed_settings(context)))


def run(applied: Applied, arguments: list[str], removed: Sequence[str] = ()) -> ExitCode:
    """Serve until stopped, and give the exit status. `removed`: lines about settings of earlier versions."""
    settings = applied.settings
    setproctitle("kokoro-live: supervisor")
    configure_logging(settings.supervisor.logs, "supervisor")
    for line in removed:
        logging.warning("%s", line)
    applied.log()
    notifications = Notifications(os.environ, os.getpid())
    try:
        opening = Opening(settings, activated_listener(os.environ, os.getpid()))
    except BadActivation as error:
        logging.critical("%s", error)
        return ExitCode.BAD_SETTING
    with closing(opening):
        for requirement in REQUIREMENTS:
            try:
                requirement.check(opening)
            except Refused as error:
                logging.critical("%s", error)
                return requirement.status
        listeners = opening.listeners
        if listeners.wyoming is not None:
            host, port = listeners.wyoming.getsockname()[:2]
            logging.info("Wyoming's clients are answered on tcp://%s:%d", f"[{host}]" if ":" in host else host, port)
        with metrics_folder(settings.supervisor.metrics_dir) as metrics:
            return _serve(settings, status_of(applied), listeners, arguments, notifications, metrics)


def _serve(
    settings: Settings,
    tuning: TuningState,
    listeners: Listeners,
    arguments: list[str],
    notifications: Notifications,
    metrics: Path | None,
) -> ExitCode:
    spawner = ProcessSpawner(settings, listeners, metrics)
    loop = Loop(spawner, listeners)
    if service_log := os.environ.get(VARIABLE):
        keep_small(Path(service_log), loop.timers)
    manager = ServiceManager(notifications, lambda: spawner.settings.front.drain_timeout)
    outside = Program(spawner, tuning, loop.connections, arguments, manager, metrics)
    return loop.run(Lifecycle(settings.supervisor, loop.spawn, time.monotonic, outside))


class Program(Outside):
    """The `serve` program, as the lifecycle sees it."""

    def __init__(
        self,
        spawner: ProcessSpawner,
        tuning: TuningState,
        connections: ClientConnections,
        arguments: list[str],
        manager: ServiceManager,
        metrics: Path | None,
    ) -> None:
        self._spawner = spawner
        self._tuning = tuning
        self._connections = connections
        self._arguments = arguments
        self._manager = manager
        self.answer_limit = manager.watchdog_seconds
        self._metrics_folder = metrics
        self._metrics: SupervisorMetrics | None = None
        self._host, port = connections.address
        self._url = f"http://{f'[{self._host}]' if ':' in self._host else self._host}:{port}"
        self._said = ""

    def errands(self, ready: ChildReady) -> Sequence[Errand]:
        return errands(self._spawner.settings, ready)

    def tuning(self) -> TuningState:
        return self._tuning

    def announce(self, ready: ChildReady) -> None:
        """Print the address and the engine in use; again only when they change."""
        engine = ready.engine
        line = f"kokoro-live speaks on {self._url} with {engine.name} ({engine.model}, {engine.provider})"
        if engine.stands_in:
            line += "; for Kokoro's voices: kokoro-live models fetch"
        if line == self._said:
            return
        self._said = line
        if self._spawner.settings.supervisor.log_format == "json":
            logging.info("%s", line, extra={"url": self._url, "engine": engine.name, "model": engine.model})
        else:
            print(line, flush=True)

    def answers(self) -> None:
        self._manager.answers()

    def stands(self, standing: Standing) -> None:
        self._manager.stands(standing)

    def situation(self, situation: Situation) -> None:
        if self._metrics is None:
            self._metrics = SupervisorMetrics(self._metrics_folder)
        self._metrics.follow(situation)

    def stop_listening(self) -> None:
        self._connections.stop_listening()

    def drain_timeout(self) -> float:
        return self._spawner.settings.front.drain_timeout

    def reload(self) -> Changes:
        old = self._spawner.settings
        try:
            context = parse_settings(self._arguments)
            applied = tuned_settings(context)
            new = applied.settings
            assert_wanted(self._host, replace(new, supervisor=old.supervisor))
        except (ValueError, click.ClickException) as error:
            message = error.format_message() if isinstance(error, click.ClickException) else str(error)
            logging.error("the settings are as they were: %s", message)
            return Changes(False, False)
        for line in removed_settings(context):
            logging.warning("%s", line)
        applied.log()
        if new.supervisor != old.supervisor:
            logging.warning("the supervisor's own settings take effect at the next start")
        self._spawner.settings = replace(new, supervisor=old.supervisor)
        self._tuning = status_of(applied)
        front = (new.front, new.text, new.jobs) != (old.front, old.text, old.jobs)
        return Changes(front=front, worker=new.worker != old.worker)


def errands(settings: Settings, ready: ChildReady) -> Sequence[Errand]:
    """The errands that are due: fetching the model if another engine speaks only for lack of one; else trying
    providers without a verdict."""
    worker = settings.worker
    if ready.engine.stands_in and asked_rows(worker)[0].has_model and not settings.supervisor.offline:
        return (Errand("fetcher", "the model was fetched", "the model is being fetched", FETCH_TIMEOUT, again=True),)
    return [
        Errand("trial", f"{name} was tried", f"{name} is being tried", worker.compile_timeout * due, name, again=True)
        for name, due in Counter(ready.engine.untried).items()
    ]
