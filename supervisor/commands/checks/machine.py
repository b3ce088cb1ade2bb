"""Checks of the machine: settings file, shared memory, port, open files, other servers, the installed service, the
sound card that `/v1/play` plays through, and the media keys that control it. And the list of all checks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from client.answers import NoAnswer, address
from client.blocking import BlockingClient
from kokoro_live.installation import this_installation
from shm.folders import ROOM_TO_WORK, trouble
from shm.playing import Change, PlayerAnswer, PlayerState, Steer
from supervisor.commands.checks import installation
from supervisor.commands.checks.finding import Check, Circumstances, Finding, Severity, ok, warning, wrong
from supervisor.processes.metrics import ROOM as METRICS_ROOM
from supervisor.startup.manager import DEFAULT_NAME, Installed
from supervisor.startup.managers import manager
from supervisor.startup.requirements import (
    PORT,
    REQUIREMENTS,
    TLS_PORT,
    WYOMING_PORT,
    Opening,
    Refused,
    Requirement,
)

ENOUGH_DESCRIPTORS = 1024
"""Descriptors that a server needs: one for each stream, and a few dozen."""


def config(circumstances: Circumstances) -> Finding:
    path = circumstances.config_file
    if circumstances.config_error:
        cure = "Mend the file; `kokoro-live serve --help` lists the settings. The other checks ran without it."
        return wrong(circumstances.config_error, cure)
    return ok(f"{path} is read" if path.is_file() else f"none at {path}; the defaults hold")


def requirement(wanted: Requirement) -> Check:
    def check(circumstances: Circumstances) -> Finding:
        opening = circumstances.opening or Opening(circumstances.settings)
        try:
            return ok(wanted.check(opening))
        except Refused as error:
            return _ours(circumstances, wanted) or wrong(str(error), wanted.cure)
        finally:
            if circumstances.opening is None:
                opening.close()

    return check


def port(circumstances: Circumstances) -> Finding:
    """Check that the port is free, or used by a kokoro-live."""
    settings = circumstances.settings.supervisor
    found = requirement(PORT)(circumstances)
    if found.verdict is Severity.OK:
        return found
    server = BlockingClient(address(settings.plain_host, settings.port))
    if server.is_kokoro_live:
        return _serving(server)
    program = listening_on(settings.port)
    said = f"{found.found} {program} listens there." if program else found.found
    return wrong(said, f"kokoro-live serve --port {settings.port + 1 if settings.port < 65535 else 8880}")


def folders(circumstances: Circumstances) -> Finding:
    """Check the folders without which the server goes on, but without what they are for."""
    settings = circumstances.settings
    wanted = {
        "--jobs-dir": (settings.jobs.folder, ROOM_TO_WORK),
        "--disk-cache": (settings.front.disk_cache, ROOM_TO_WORK),
        "--metrics-dir": (settings.supervisor.metrics_dir, METRICS_ROOM),
        "--cache-dir": (settings.worker.cache_dir, ROOM_TO_WORK),
    }
    bad = {flag: why for flag, (folder, room) in wanted.items() if folder and (why := trouble(folder, room))}
    if bad:
        return warning("; ".join(bad.values()), f"Mend the folder, or choose another: {', '.join(bad)}.")
    return ok("all can be written")


def descriptors(circumstances: Circumstances) -> Finding:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)  # the front raises the soft limit by itself
    if most != resource.RLIM_INFINITY and most < ENOUGH_DESCRIPTORS:
        return warning(f"a process may open {most} files, so that few streams fit", f"ulimit -n {ENOUGH_DESCRIPTORS}")
    return ok(f"a process may open {'any number of' if most == resource.RLIM_INFINITY else most} files")


def _ours(circumstances: Circumstances, wanted: Requirement) -> Finding | None:
    """The finding if a port besides HTTP's is taken by a kokoro-live that serves already."""
    own = circumstances.settings.supervisor
    number = {WYOMING_PORT: own.wyoming_port, TLS_PORT: own.tls_port}.get(wanted)
    if number and listening_on(number).startswith("kokoro-live"):
        return ok(f"a kokoro-live answers on port {number}")
    return None


def _serving(server: BlockingClient) -> Finding:
    try:
        answer = server.ask("GET", "/ready")
    except NoAnswer as error:
        return wrong(f"a kokoro-live listens, but doesn't say whether it is ready: {error}", "Look at its log.")
    if answer.status == 200:
        engine = "{engine} ({model}, {provider})".format_map(answer.json)
        return ok(f"a kokoro-live serves on {server.url} with {engine}")
    reason = answer.error or answer.status
    return warning(f"a kokoro-live on {server.url} can't speak now: {reason}", "Look at its log.")


TITLE = "kokoro-live: supervisor"


def listening_on(port: int) -> str:
    """The program that listens on a port, with its pid; empty if it isn't visible (another user's).

    Connections are read process by process, because macOS shows all of them at once only to root.
    """
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if listens(process, port):
                return f"{_title(process)} (pid {process.pid})"
    return ""


def listens(process: psutil.Process, port: int | None) -> bool:
    """True if the process listens on that TCP port.

    Raises:
        psutil.Error: the process is gone, or another user's.
    """
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in process.net_connections("tcp"))


def supervisors() -> Iterator[psutil.Process]:
    """The supervisors of this user's servers, including those that this process started."""
    user = psutil.Process().username()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if _title(process).startswith(TITLE) and process.username() == user:
                yield process


def other_servers(_: Circumstances) -> Finding:
    """Check for other running servers. They may be intended, each with a port, a name and a model of its own."""
    running = [f"pid {process.pid} on {_address(process)}" for process in supervisors()]
    if len(running) < 2:
        return ok("one server runs" if running else "none runs")
    return warning(
        f"{len(running)} servers run, each with a model of its own in memory: {', '.join(running)}",
        "Unless that is meant, end one (kill PID); if it comes back at login, kokoro-live uninstall-service.",
    )


def _title(process: psutil.Process) -> str:
    return " ".join(process.cmdline()).strip() or str(process.name())


def _address(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        for one in process.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN:
                return f"{one.laddr.ip}:{one.laddr.port}"
    return "an address that can't be seen"


def service(_: Circumstances) -> Finding:
    """Check that the files of `install-service` are whole, name an existing program, and are enabled."""
    try:
        found = manager(None).installed()
    except ValueError as error:
        return warning(str(error), "kokoro-live install-service writes it again, where there is launchd or systemd.")
    if not found:
        return ok("none starts at login (`kokoro-live install-service` sees to that)")
    for one in found:
        if not one.program.exists():
            return wrong(f"{one.file} starts {one.program}, which isn't there", _install(one))
    for one in found:
        if not one.enabled:
            return warning(f"{one.name} is installed in {one.file}, and not enabled", f"{_install(one)} --now")
    return ok(f"{', '.join(one.name for one in found)} starts at login")


def _install(one: Installed) -> str:
    suffix = one.name.removeprefix(DEFAULT_NAME).removeprefix("-")
    return f"kokoro-live install-service{f' --name {suffix}' if suffix else ''}"


def sound_card(circumstances: Circumstances) -> Finding:
    """Opens the output and closes it, without a sound."""
    import numpy as np

    from player.output.output import NoOutput, open_output
    from player.output.program_output import ProgramOutput

    try:
        with _quiet():
            output = open_output(lambda count: np.zeros(count, np.int16), circumstances.settings.player.play_buffer_ms)
            output.close()
    except NoOutput as error:
        return warning(
            f"/v1/play can't be heard: {error}",
            "On a machine with a sound card, install kokoro-live again: its package miniaudio or sounddevice plays. "
            "All else works without.",
        )
    if isinstance(output, ProgramOutput):
        return warning(
            f"/v1/play plays through {output.name}, a program of its own, and may stutter on a busy machine",
            "Install kokoro-live again: its package miniaudio or sounddevice plays; on Linux, libpulse0 does too.",
        )
    return ok(f"/v1/play plays through {output.name}")


def media_keys(_: Circumstances) -> Finding:
    """Takes the player's name on the session bus, and leaves it."""
    from player.media_keys import MissingLibrary, NoMediaKeys

    try:
        return ok(f"media keys control /v1/play, as {asyncio.run(_name_on_bus())}")
    except MissingLibrary as error:
        return warning(
            f"media keys don't control /v1/play: {error}",
            f"Install the extra `mpris`: {this_installation().add('mpris')}",
        )
    except NoMediaKeys as error:
        return ok(f"media keys don't control /v1/play: {error}")


async def _name_on_bus() -> str:
    from player.media_keys import MediaKeys

    found = MediaKeys(_Nothing())
    name = await found.open()
    found.leave_bus()
    return name


class _Nothing:
    """A player with nothing to play, for a look at the bus."""

    state = PlayerState()

    def steer(self, message: Steer) -> PlayerAnswer:
        return PlayerAnswer(message.number)

    async def change(self, message: Change) -> PlayerAnswer:
        return PlayerAnswer(message.number)


@contextmanager
def _quiet() -> Iterator[None]:
    """Drop what C libraries write to standard error: ALSA writes a line for each file that it looked into."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def checks(verify: bool = False) -> dict[str, Check]:
    """Checks by title, in the order in which they are made; with `verify` also the one that reads every file."""
    return {
        "config file": config,
        "Python": installation.python,
        "packages": installation.packages,
        "phonemizer": installation.phonemizer,
        "espeak-ng": installation.espeak,
        "phonemes": installation.phonemes,
        "spaCy": installation.spacy,
        "providers": installation.providers,
        "model files": installation.model_files,
        "voices": installation.voices,
        "tuning": installation.tuning,
        "engine": installation.engine,
        **{each.title: requirement(each) for each in REQUIREMENTS},
        PORT.title: port,
        "folders": folders,
        "other servers": other_servers,
        "service": service,
        "open files": descriptors,
        "sound card": sound_card,
        "media keys": media_keys,
    } | ({"files": installation.files} if verify else {})
