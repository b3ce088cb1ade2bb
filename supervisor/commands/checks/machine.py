"""Checks of the machine: settings file, shared memory, port, open files."""

from __future__ import annotations

import os
import resource

from shm.audio import SAMPLE_BYTES
from shm.memory import NoMemory, reserve
from supervisor.client.server_client import NoAnswer, address, error_in, get_json, is_kokoro_live
from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning, wrong
from supervisor.commands.checks.programs import listening_on
from supervisor.startup.listener import PortTaken, listen

ENOUGH_DESCRIPTORS = 1024
"""Descriptors that a server needs: one for each stream, and a few dozen."""


def config(circumstances: Circumstances) -> Finding:
    path = circumstances.config_file
    if circumstances.config_error:
        cure = "Mend the file; `kokoro-live serve --help` lists the settings. The other checks ran without it."
        return wrong(circumstances.config_error, cure)
    return ok(f"{path} is read" if path.is_file() else f"none at {path}; the defaults hold")


def shared_memory(circumstances: Circumstances) -> Finding:
    """Check that the arena of one worker generation can be reserved; it is released at once."""
    settings = circumstances.settings.supervisor
    size = settings.rings * settings.ring_samples * SAMPLE_BYTES
    try:
        os.close(reserve(size))
    except NoMemory as error:
        cure = f"Free memory, or ask for less: --rings below {settings.rings}, or --ring-seconds below "
        return wrong(str(error.strerror), f"{cure}{settings.ring_seconds:g}.")
    return ok(f"{size / 1e6:.0f} MB can be reserved ({settings.rings} rings of {settings.ring_seconds:g} s)")


def port(circumstances: Circumstances) -> Finding:
    """Check that the port is free, or used by a kokoro-live."""
    settings = circumstances.settings.supervisor
    try:
        listener = listen(settings.host, settings.port)
    except PortTaken as taken:
        url = address(settings.host, settings.port)
        if not is_kokoro_live(url):
            program = listening_on(settings.port)
            found = f"{taken} {program} listens there." if program else str(taken)
            return wrong(found, f"kokoro-live serve --port {settings.port + 1 if settings.port < 65535 else 8880}")
        return _serving(url)
    with listener:
        host, number = listener.getsockname()[:2]
        return ok(f"{host}:{number} is free")


def descriptors(circumstances: Circumstances) -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < ENOUGH_DESCRIPTORS:
        return warning(f"a process may open {soft} files, so that few streams fit", f"ulimit -n {ENOUGH_DESCRIPTORS}")
    return ok(f"a process may open {'any number of' if soft == resource.RLIM_INFINITY else soft} files")


def _serving(url: str) -> Finding:
    try:
        status, answer = get_json(url, "/ready")
    except NoAnswer as error:
        return wrong(f"a kokoro-live listens, but doesn't say whether it is ready: {error}", "Look at its log.")
    if status == 200:
        return ok(f"a kokoro-live serves on {url} with {answer['engine']} ({answer['model']}, {answer['provider']})")
    return warning(f"a kokoro-live on {url} can't speak now: {error_in(answer) or status}", "Look at its log.")
