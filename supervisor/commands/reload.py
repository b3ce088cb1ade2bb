"""`kokoro-live reload`: has the running server read its settings again."""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import Any
from urllib.parse import urlsplit

import click

from supervisor.commands.client_command import AskingCommand, address_options, server_url
from supervisor.commands.status import StatusCode


@click.command(cls=AskingCommand)
@address_options
@click.pass_context
def reload(context: click.Context, /, **_settings: Any) -> None:
    """Have the running server read its settings again, and try a worker that keeps dying at once.

    Open streams finish. Only a server of this user's, on this machine, can be told. Exits with 3 if there is none.
    """
    import psutil

    from supervisor.commands.checks.programs import listens, supervisors

    url = server_url(context)
    port = urlsplit(url).port
    for process in supervisors():
        with contextlib.suppress(psutil.Error):
            if listens(process, port):
                process.send_signal(signal.SIGHUP)
                click.echo(f"The server on {url} (pid {process.pid}) reads its settings again.")
                return
    click.echo(f"Error: no server of yours listens on port {port} here.", err=True)
    sys.exit(StatusCode.NOT_RUNNING)
