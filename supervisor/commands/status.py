"""`kokoro-live status`: shows the running server's `/status`, once or at each change."""

from __future__ import annotations

import json
import sys
import time
from enum import IntEnum
from typing import Any

import click

from supervisor.commands.client_command import AskingCommand, address_options, server_url


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
def status(context: click.Context, /, once: bool, as_json: bool, interval: float, **_settings: Any) -> None:
    """Show what the running server does: who speaks, what is being spoken, what was restarted.

    Exits with 0 if it can speak, with 1 if it runs and can't, with 3 if no server runs there.
    """
    url = server_url(context)
    try:
        answer = _ask(url)
        if as_json:
            click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        elif once or not sys.stdout.isatty():
            _show(url, answer)
        else:
            _follow(url, answer, interval)
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
        raise _NotWell(f"{error}. Start a server with `kokoro-live serve`.", StatusCode.NOT_RUNNING) from error
    status = answer.json
    if answer.status == 200 and isinstance(status, dict) and "ready" in status:
        return status
    said = answer.error or f"it answers with {answer.status}, and not as a kokoro-live does"
    raise _NotWell(f"{url}: {said}", StatusCode.UNWELL)


def _show(url: str, answer: dict[str, Any]) -> None:
    from rich.console import Console

    from supervisor.commands.status_display import display

    Console().print(display(url, answer))


def _follow(url: str, answer: dict[str, Any], interval: float) -> None:
    """Show each change until interrupted; a server that went away is shown again when it returns."""
    from rich.live import Live

    from supervisor.commands.status_display import display, lost

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
