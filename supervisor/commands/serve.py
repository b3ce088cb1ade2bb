"""`kokoro-live serve`: starts the front and the workers, watches them, drains on SIGTERM and SIGINT."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click
from setproctitle import setproctitle

from shm.handover import Handover
from shm.listeners import Listeners
from shm.messages import ChildReady
from shm.situation import Situation, TuningState
from supervisor.processes.errands import Errand
from supervisor.processes.lifecycle import Changes, Lifecycle, Outside
from supervisor.processes.loop import Loop
from supervisor.processes.metrics import CountsFolder, SupervisorMetrics, metrics_folder
from supervisor.processes.spawning import ProcessSpawner
from supervisor.processes.standing import ExitCode, Standing
from supervisor.processes.succession import Inheritance, Update, inherited
from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS, Settings, parse_settings
from supervisor.settings.options import removed_settings, settings_options
from supervisor.settings.profile import Applied, status_of, tuned_settings
from supervisor.settings.supervisor import configure_logging
from supervisor.startup.requirements import (
    REQUIREMENTS,
    BadActivation,
    Opening,
    Refused,
    activated_listener,
    assert_wanted,
    written,
)
from supervisor.startup.service_manager import LOG_VARIABLE, Notifications, ServiceManager, keep_small
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
    sys.exit(run(tuned_settings(context), context.meta[_ARGUMENTS], removed_settings(context)))


def run(applied: Applied, arguments: list[str], removed: Sequence[str] = ()) -> ExitCode:
    """Serve until stopped, and give the exit status. `removed`: lines about settings of earlier versions."""
    settings = applied.settings
    inheritance = inherited(os.environ)
    environment = dict(os.environ)
    setproctitle("kokoro-live: supervisor")
    configure_logging(settings.supervisor.logs, "supervisor")
    for line in removed:
        logging.warning("%s", line)
    applied.log()
    try:
        return _opened(applied, arguments, inheritance, environment)
    except OSError as error:  # no descriptor is left, say
        logging.critical("the supervisor has failed: %s", error)
        logging.debug("it failed here", exc_info=True)
        return ExitCode.FAILED


def _opened(
    applied: Applied, arguments: list[str], inheritance: Inheritance | None, environment: dict[str, str]
) -> ExitCode:
    settings = applied.settings
    notifications = Notifications(os.environ, os.getpid())
    try:
        opening = Opening(settings, **_passed(inheritance))
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
            logging.info("Wyoming's clients are answered on tcp://%s", written(listeners.wyoming))
        if listeners.tls is not None:
            logging.info("clients are answered over TLS on https://%s", written(listeners.tls))
        counted = None
        if inheritance and inheritance.metrics:
            counted = CountsFolder(Path(inheritance.metrics), inheritance.metrics_lock)
        with metrics_folder(settings.supervisor.metrics_dir, counted) as counts:
            started = StartedAs(arguments, environment, inheritance, counts)
            return _serve(settings, status_of(applied), listeners, started, notifications)


def _serve(
    settings: Settings,
    tuning: TuningState,
    listeners: Listeners,
    started: StartedAs,
    notifications: Notifications,
) -> ExitCode:
    metrics = started.counts.path if started.counts else None
    spawner = ProcessSpawner(settings, listeners, metrics)
    loop = Loop(spawner, listeners, started.inheritance)
    if service_log := os.environ.get(LOG_VARIABLE):
        keep_small(Path(service_log), loop.timers)
    manager = ServiceManager(
        notifications, lambda: spawner.settings.front.drain_timeout, is_update=started.inheritance is not None
    )
    outside = Program(spawner, tuning, loop, started.arguments, manager, metrics)
    loop.update = started.update(loop, listeners, outside.become_predecessor)
    return loop.run(Lifecycle(settings.supervisor, loop.spawn, time.monotonic, outside))


@dataclass(frozen=True, slots=True)
class StartedAs:
    """Circumstances of a start, which the next version gets too."""

    arguments: list[str]
    environment: dict[str, str]
    inheritance: Inheritance | None
    counts: CountsFolder | None

    def update(self, loop: Loop, listeners: Listeners, become_predecessor: Callable[[Handover], None]) -> Update:
        """The update to the next version, which takes over this process."""

        def left(channel: Handover) -> Inheritance:
            return Inheritance(
                **{name: listener.fileno() for name, listener in listeners.named().items()},
                channels=tuple(each.fileno() for each in (*loop.connections.predecessors, channel)),
                predecessors=tuple(loop.predecessors.living),
                processes=(*loop.predecessors.processes, *loop.process_ids()),
                metrics=str(self.counts.path) if self.counts else "",
                metrics_lock=self.counts.lock if self.counts else -1,
            )

        command = [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - len(self.arguments) - 1]]
        return Update(command, self.arguments, self.environment, loop.timers, left, become_predecessor)


def _passed(inheritance: Inheritance | None) -> dict[str, socket.socket]:
    """The listening sockets of the version whose place this one takes, or the one that a service manager passes.

    Raises:
        BadActivation: that can't be used.
    """
    if inheritance is None:
        activated = activated_listener(os.environ, os.getpid())
        return {"http": activated} if activated else {}
    numbers = {each.name: getattr(inheritance, each.name) for each in fields(Listeners)}
    return {name: socket.socket(fileno=number) for name, number in numbers.items() if number is not None}


class Program(Outside):
    """The `serve` program, as the lifecycle sees it."""

    def __init__(
        self,
        spawner: ProcessSpawner,
        tuning: TuningState,
        loop: Loop,
        arguments: list[str],
        manager: ServiceManager,
        metrics: Path | None,
    ) -> None:
        self._spawner = spawner
        self._tuning = tuning
        self._loop = loop
        self._since = time.time()
        self._arguments = arguments
        self._manager = manager
        self.answer_limit = manager.watchdog_seconds
        self._metrics_folder = metrics
        self._metrics: SupervisorMetrics | None = None
        host, port = loop.connections.address
        self._url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._hosts = loop.connections.hosts
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
        self._loop.connections.stop_listening()
        self._loop.predecessors.stop()
        if self._loop.update:
            self._loop.update.cancel()

    def is_outdated(self) -> bool:
        from kokoro_live.installation import changed_since  # only a reload needs it

        return self._loop.update is not None and changed_since(self._since)

    def update(self) -> None:
        if self._loop.update:
            self._loop.update.begin(self._url)

    def become_predecessor(self, successor: Handover) -> None:
        """Go on in a fork, as the old version."""
        self._manager.leave()
        self._loop.become_predecessor(successor)

    def drain_timeout(self) -> float:
        return self._spawner.settings.front.drain_timeout

    def reload(self) -> Changes:
        old = self._spawner.settings
        try:
            context = parse_settings(self._arguments)
            applied = tuned_settings(context)
            new = applied.settings
            for host in self._hosts:
                assert_wanted(host, replace(new, supervisor=old.supervisor))
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
