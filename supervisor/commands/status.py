"""`kokoro-live status`: shows the running server's `/status`, once or at each change."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from rich.console import Console

from supervisor.commands.client_command import AskingCommand, address_options, server_url
from supervisor.commands.status_display import Display, all_figures, lost, summary

if TYPE_CHECKING:
    import psutil


class StatusCode(IntEnum):
    """Exit statuses of init scripts (LSB, "init script actions")."""

    READY = 0
    UNWELL = 1
    """A server answers that can't speak now, or has no status."""
    NOT_RUNNING = 3


class _NotWell(Exception):
    def __init__(self, message: str, code: StatusCode) -> None:
        super().__init__(message)
        self.code = code


@click.command(cls=AskingCommand)
@click.option("--once", is_flag=True, help="Show it once and end. This is the default where the output is no terminal.")
@click.option("-v", "--verbose", is_flag=True, help="Show all figures.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's own answer once, for programs.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    help="Seconds between two updates.",
)
@address_options
@click.pass_context
def status(
    context: click.Context, /, once: bool, verbose: bool, as_json: bool, interval: float, **_settings: Any
) -> None:
    """Show in a few lines how the running server is; with -v all that it tells: who speaks, what was restarted.

    Exits with 0 if it can speak, with 1 if it runs and can't, with 3 if no server runs there.
    """
    url, display = server_url(context), all_figures if verbose else summary
    try:
        answer = _ask(url)
        if as_json:
            click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        elif once or not sys.stdout.isatty():
            Console().print(display(url, answer))
        else:
            _follow(url, answer, interval, display)
    except _NotWell as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.code)
    sys.exit(StatusCode.READY if answer["ready"] else StatusCode.UNWELL)


def _ask(url: str) -> dict[str, Any]:
    from client.answers import NoAnswer
    from client.blocking import BlockingClient

    try:
        answer = BlockingClient(url).ask("GET", "/status")
    except NoAnswer as error:
        raise _NotWell(str(error), StatusCode.NOT_RUNNING) from error
    status = answer.json
    if answer.status == 200 and isinstance(status, dict) and "ready" in status:
        return status
    said = answer.error or f"it answers with {answer.status}, and not as a kokoro-live does"
    raise _NotWell(f"{url}: {said}", StatusCode.UNWELL)


def _follow(url: str, answer: dict[str, Any], interval: float, display: Display) -> None:
    """Show each change until interrupted; a server that went away is shown again when it returns."""
    from rich.live import Live

    try:
        with Live(display(url, answer), auto_refresh=False) as live:
            while True:
                time.sleep(interval)
                try:
                    answer = _ask(url)
                    live.update(display(url, answer), refresh=True)
                except _NotWell as error:
                    live.update(lost(url, str(error)), refresh=True)
    except KeyboardInterrupt:
        return


@click.command(cls=AskingCommand)
@address_options
@click.pass_context
def reload(context: click.Context, /, **_settings: Any) -> None:
    """Have the running server read its settings again, and try a worker that keeps dying at once.

    Open streams finish. Only a server of this user's, on this machine, can be told. Exits with 3 if there is none.
    """
    url = server_url(context)
    if pid := signal_server(url, signal.SIGHUP):
        click.echo(f"The server on {url} (pid {pid}) reads its settings again.")
        return
    click.echo(f"Error: no server of yours listens on port {urlsplit(url).port} here.", err=True)
    sys.exit(StatusCode.NOT_RUNNING)


def signal_server(url: str, number: int, wanted: Callable[[psutil.Process], bool] = lambda server: True) -> int | None:
    """Send a signal to this user's server on this machine that listens on the URL's port, if it is `wanted`.

    Returns:
        Its process id; None if there is no such server.
    """
    import psutil

    from supervisor.commands.checks.machine import listens, supervisors

    for process in supervisors():
        with contextlib.suppress(psutil.Error):
            if listens(process, urlsplit(url).port) and wanted(process):
                process.send_signal(number)
                return int(process.pid)
    return None
