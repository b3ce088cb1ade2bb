"""`kokoro-live connect`: changes another program's settings so that it speaks by this server, and tries it."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from client.answers import CannotSpeak, user_key
from client.blocking import BlockingClient
from supervisor.commands.client_command import AskingCommand, address_options, server_url
from supervisor.connect.changes import USUAL_WYOMING_PORT, Asked, Change, ShownLines
from supervisor.connect.clients import CLIENTS, Client, connected
from supervisor.connect.files import FileEdit
from supervisor.speechd.installation import install, uninstall
from worker.voices.kokoro_voices import DEFAULT_VOICE


class _ConnectCommand(AskingCommand):
    reads = frozenset({"wyoming_port", "wyoming_host"})


class _Known(click.Choice[str]):
    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        import difflib

        near = difflib.get_close_matches(value.lower(), self.choices, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        others = "one that takes an address of OpenAI's connects as openai."
        return f"{value!r} isn't known.{meant} `kokoro-live connect` lists the programs; {others}"


@click.command(cls=_ConnectCommand)
@click.argument("client", required=False, type=_Known([client.name for client in CLIENTS]), metavar="[CLIENT]")
@click.option("--voice", help="The voice that the client is to use.  [default: the server's]")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), help="The client's settings file.")
@click.option("--address", metavar="URL", help="The server's address as the client sees it, from another machine.")
@click.option("--docker", is_flag=True, help="The client runs in a container on this machine.")
@click.option("--yes", is_flag=True, help="Write the change without a question.")
@click.option("--print", "only_show", is_flag=True, help="Show the change, and write and speak nothing.")
@click.option("--undo", is_flag=True, help="Give the client's settings the values that they had.")
@address_options
@click.pass_context
def connect(
    context: click.Context, /, client: str | None, yes: bool, only_show: bool, undo: bool, **values: Any
) -> None:
    """Have CLIENT speak by the running server: show the change of its settings, write it, and speak a sentence its way.

    Without CLIENT: list those that are known, and which are connected.
    """
    row = next((each for each in CLIENTS if each.name == client), None)
    if row is None or undo:
        asked = _asked(context, values, None, DEFAULT_VOICE)
        if row is None:
            _list(asked)
        else:
            _undo(row, row.change(asked))
        return
    url = server_url(context)
    asked = _asked(context, values, url, _voice(url, values["voice"]))
    missing = _missing(row)
    if missing and not only_show:
        raise click.ClickException(missing)
    change = row.change(asked)
    is_shown = _show(row, change)
    for line in _to_open(row, asked):
        click.echo(line)
    if only_show:
        click.echo(missing, nl=bool(missing))
        return
    if is_shown and not (yes or (sys.stdin.isatty() and click.confirm("Write it?"))):
        click.echo("Nothing was written: --yes writes it.")
        return
    _write(change)
    if row.then:
        click.echo(row.then)
    _try(row, asked, change)


def _asked(context: click.Context, values: dict[str, Any], url: str | None, voice: str) -> Asked:
    here = url or server_url(context)
    seen = values["address"] or (_in_container(here) if values["docker"] else here)
    port = values["wyoming_port"] or USUAL_WYOMING_PORT
    wyoming = (values["wyoming_host"], port)
    return Asked(here, seen.rstrip("/"), user_key(), voice, values["file"], wyoming, os.environ, Path.home())


def _in_container(url: str) -> str:
    return f"http://host.docker.internal:{urlsplit(url).port or 80}"


def _voice(url: str, wanted: str | None) -> str:
    """The voice that the client is to use, which the server has; the key is tried too."""
    server = BlockingClient(url)
    known = server.get("/v1/audio/voices")
    listed = [str(voice["id"]) for voice in known["voices"]]
    refused = server.ask("POST", "/v1/audio/speech", {})
    if refused.status == 401:
        refused.checked()
    if wanted is None:
        return str(known["default_voice"])
    if wanted not in listed and "+" not in wanted and "(" not in wanted:
        raise click.ClickException(f"No voice is called {wanted!r}: `kokoro-live voices` lists them.")
    return wanted


def _missing(row: Client) -> str:
    """The command that installs the extra which the client's way needs; empty if it is there."""
    from importlib.util import find_spec

    if not row.extra or find_spec(row.extra):
        return ""
    from kokoro_live.installation import this_installation

    return f"{row.title} needs the extra {row.extra}: {this_installation().add(row.extra)}"


def _list(asked: Asked) -> None:
    there = {client.name for client, _ in connected(asked.environment, asked.home)}
    width = max(len(client.name) for client in CLIENTS)
    for client in CLIENTS:
        state = " (connected)" if client.name in there else ""
        click.echo(f"{client.name.ljust(width)}  {client.title}{state}")
    click.echo("\n`kokoro-live connect NAME` shows the change, writes it after a yes, and speaks.")


def _show(row: Client, change: Change) -> bool:
    """Show a change; True if there is something to write."""
    if isinstance(change, ShownLines):
        click.echo(f"{row.title}. {change.words}:\n\n{change.lines}\n")
        return False
    if isinstance(change, FileEdit):
        diff = change.diff
        click.echo(f"{row.title}: {change.path}" + ("" if diff else " has these settings already."))
        if diff:
            click.echo(f"{diff}\n")
        return bool(diff)
    for path in (change.files.program, change.files.config, change.files.dispatcher):
        click.echo(f"{row.title}: writes {path}")
    return True


def _write(change: Change) -> None:
    if isinstance(change, FileEdit) and change.diff:
        change.write()
        click.echo(f"wrote {change.path} (as it was: {change.backup.name})")
    elif not isinstance(change, (FileEdit, ShownLines)):
        for path in install(change.files, change.config, as_default=True):
            click.echo(f"wrote {path}")


def _undo(row: Client, change: Change) -> None:
    if isinstance(change, FileEdit):
        undone = [change.path] if change.undo() else []
    else:
        undone = [] if isinstance(change, ShownLines) else uninstall(change.files)
    if not undone:
        raise click.ClickException(f"{row.title} isn't connected by a file that this command knows.")
    for path in undone:
        click.echo(f"{row.title}: {path} is as it was before.")


def _try(row: Client, asked: Asked, change: Change) -> None:
    try:
        heard = row.hear(asked, change).checked()
    except CannotSpeak as error:
        if row.name == "home-assistant" and isinstance(change, FileEdit):
            click.echo("Start the server again, which opens that port; then the same command speaks by it.")
            return
        raise click.ClickException(f"{row.title} isn't heard by {row.way}: {error}") from error
    click.echo(f"Heard {heard.seconds:.1f} s of speech at {heard.level:.0f} dBFS, by {row.way}.")


def _to_open(row: Client, asked: Asked) -> list[str]:
    """Steps for a client outside this machine's own network, where the server doesn't answer there yet."""
    if asked.url == asked.here:
        return []
    lines = []
    if asked.in_container:
        lines.append("On Linux, its container needs --add-host=host.docker.internal:host-gateway.")
    if _is_open(urlsplit(asked.here).port or 80):
        return lines
    keys = "~/.config/kokoro-live/keys"
    if asked.key is None:
        lines.append(f"A key for it: echo {json.dumps(secrets.token_urlsafe(24))} >> {keys} && chmod 600 {keys}")
        lines.append("Give this command the same key in KOKORO_LIVE_API_KEY, so that it writes it.")
    lines.append(f"The server must listen there: kokoro-live serve --host 0.0.0.0 --api-key-file {keys}")
    return lines


def _is_open(port: int) -> bool:
    """True if a connection to an address of this machine that others can reach is taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: the system says which address it would use
            own = probe.getsockname()[0]
            socket.create_connection((own, port), 1).close()
        except OSError:
            return False
    return not own.startswith("127.")
