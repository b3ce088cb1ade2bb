"""`kokoro-live voices`: who can speak."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from supervisor.commands.client_command import ClientCommand, client_options, engine_settings, server_to_ask

_COLUMNS = ("id", "name", "language", "gender", "engine")


@click.command(cls=ClientCommand)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@client_options
@click.pass_context
def voices(context: click.Context, /, as_json: bool, **_settings: Any) -> None:
    """List the voices of the running server, or of the engine that would speak."""
    url = server_to_ask(context)
    listed = _of_engine(context) if url is None else _of_server(url)
    if as_json:
        click.echo(json.dumps(listed, indent=2))
        return
    # A server may be of another version, and say less or more of a voice.
    rows = [tuple(str(voice.get(column) or "") for column in _COLUMNS) for voice in listed]
    if not sys.stdout.isatty():
        click.echo("\n".join("\t".join(row) for row in (_COLUMNS, *rows)))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"Voices of {url or 'an engine in this process'}", title_justify="left")
    for column in _COLUMNS:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _of_server(url: str) -> list[dict[str, Any]]:
    from supervisor.client.server_client import NoAnswer, error_in, get_json

    try:
        status, answer = get_json(url, "/v1/audio/voices")
    except NoAnswer as error:
        raise click.ClickException(str(error)) from error
    match answer:
        case {"voices": [*listed]} if status == 200 and all(isinstance(voice, dict) for voice in listed):
            return listed
    raise click.ClickException(error_in(answer) or f"{url} answers with {status}, and with no list of voices.")


def _of_engine(context: click.Context) -> list[dict[str, Any]]:
    # Which engine would speak shows only when it is loaded: a model may be there and not be of use.
    from frontend.http.voice_description import described
    from worker.engine import EngineUnavailable
    from worker.select import choose

    try:
        engine = choose(engine_settings(context)).info
    except EngineUnavailable as error:
        raise click.ClickException(str(error)) from error
    return [dict(described(name, engine.name)) for name in engine.voices]
