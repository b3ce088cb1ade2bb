"""`kokoro-live rehearse`: the installed version tries itself before it takes a running server's place.

The running server calls it (`supervisor.processes.succession`), with the protocol in which it would hand over, its own
address, and the arguments of `serve`. The last line of the output says how it went, and the exit status whether all is
well.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path

import click

from client.answers import KEY_VARIABLE, CannotSpeak, NoAnswer, read_wav
from client.blocking import BlockingClient
from frontend.settings.access import read_keys
from shm.handover import PROTOCOL
from shm.lifeline import be_killed_with_parent
from supervisor.connect.hearing import SILENCE, Heard
from supervisor.processes.children import KILL_GRACE
from supervisor.settings.composition import Settings
from supervisor.settings.options import default_config_file
from supervisor.settings.supervisor import SupervisorSettings
from supervisor.startup.requirements import Opening
from supervisor.startup.service_manager import LOG_VARIABLE as SERVICE_LOG

TEXT = "Before this version takes the place of the other one, it says a sentence into nothing."

LONGER = 1.3
"""Ratio of two lengths of the text from which one of the versions speaks wrongly."""
LOUDER = 6.0
"""Difference in dB from which it does: versions may speak otherwise, but not half as loud."""

ANSWER_SECONDS = 120.0
BUSY = 10
"""Times that the running server, which has listeners, is asked for the text; after that it isn't compared."""

_NOT_FOR_A_REHEARSAL = ("port", "Wyoming port", "TLS port", "other servers", "service", "sound card", "media keys")
"""Checks of the doctor's on what the running server has in use, or of what a server does without."""


class NotWell(Exception):
    """The version isn't to take the server's place; the message says why."""


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("protocol", type=int)
@click.argument("url")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def rehearse(protocol: int, url: str, arguments: tuple[str, ...]) -> None:
    """Try the installed version, for the server at URL, which was started with ARGUMENTS."""
    try:
        if protocol != PROTOCOL:
            raise NotWell("the installed version takes no server over from this one: start the server again")
        be_killed_with_parent()
        settings = _settings(arguments)
        _doctor(settings)
        if keys := settings.front.api_keys or (settings.front.api_key_file and read_keys(settings.front.api_key_file)):
            os.environ[KEY_VARIABLE] = keys[0]
        with _server(arguments, ports=settings.supervisor) as own:
            said = _spoken(own, 1)
        _compare(said, _spoken(url, BUSY))
    except (NotWell, CannotSpeak, OSError, ValueError, click.ClickException) as error:
        click.echo(f"\n{error.message if isinstance(error, click.ClickException) else error}")
        sys.exit(1)
    click.echo(f"\nversion {version('kokoro-live')} is installed and speaks, {said}")


def _settings(arguments: Sequence[str]) -> Settings:
    from supervisor.settings.composition import parse_settings
    from supervisor.settings.profile import tuned_settings

    return tuned_settings(parse_settings(arguments)).settings


def _doctor(settings: Settings) -> None:
    """
    Raises:
        NotWell: something is wrong (✗).
    """
    from supervisor.commands.checks.finding import Circumstances, Severity, outcome
    from supervisor.commands.checks.machine import checks

    with closing(Opening(settings)) as opening:
        circumstances = Circumstances(settings, default_config_file(), "", opening=opening)
        for title, check in checks().items():
            if title in _NOT_FOR_A_REHEARSAL:
                continue
            finding = outcome(check, circumstances)
            if finding.verdict is Severity.WRONG:
                raise NotWell(f"{title}: {finding.found}")


@contextmanager
def _server(arguments: Sequence[str], *, ports: SupervisorSettings) -> Iterator[str]:
    """A server of this version with the same settings, for this process alone; its address.

    Raises:
        NotWell: it ended before it could speak.
    """
    environment = {name: value for name, value in os.environ.items() if name != SERVICE_LOG}
    with tempfile.TemporaryDirectory(prefix="kokoro-live-rehearsal-") as folder:
        # The jobs' folder belongs to the running server, and so may a folder of counts.
        own = ["--host", "127.0.0.1", "--port", "0", "--jobs-dir", folder, "--metrics-dir", folder, "--offline"]
        own += ["--workers", "1", "--standby", "off", "--no-standby-front", "--max-deaths", "3", "--log-format=human"]
        if ports.wyoming_port is not None:
            own += ["--wyoming-host", "127.0.0.1", "--wyoming-port", "0"]
        if ports.tls_port is not None:
            own += ["--tls-port", "0"]
        command = [sys.executable, *sys.orig_argv[1 : sys.orig_argv.index("rehearse")], "serve", *arguments, *own]
        log = Path(folder, "log")
        with log.open("wb") as errors:
            server = subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=be_killed_with_parent,
            )
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not (found := re.search(r"http://\S+", line)):
                said = log.read_text(errors="replace").strip().rpartition("\n")[2]
                raise NotWell(f"its server ended with status {server.wait()} before it spoke: {said}")
            yield found[0]
        finally:
            server.terminate()
            try:
                server.wait(KILL_GRACE * 4)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            server.stdout.close()


def _spoken(url: str, tries: int) -> Heard | None:
    """The text as the server at that address speaks it; None if it has no time for it.

    Raises:
        NotWell: it answers, but with no speech.
    """
    body = {"input": TEXT, "response_format": "wav", "stream": False, "speed": 1.0}
    for _ in range(tries):
        try:
            answer = BlockingClient(url).ask("POST", "/v1/audio/speech", body, seconds=ANSWER_SECONDS)
        except NoAnswer:
            answer = None
        if answer is not None and answer.status == 200:
            return Heard.of(read_wav(answer.body))
        if tries > 1:
            time.sleep(1.0)
    return None


def _compare(own: Heard | None, other: Heard | None) -> None:
    """
    Raises:
        NotWell: the new version speaks otherwise than the running one.
    """
    if own is None or own.level < SILENCE:
        raise NotWell(f"it says nothing{f' ({own})' if own else ''}")
    if other is None or other.level < SILENCE:
        return
    ratio = own.seconds / other.seconds
    if not 1 / LONGER < ratio < LONGER or abs(own.level - other.level) > LOUDER:
        raise NotWell(f"it speaks {own}, and the running version {other}")
