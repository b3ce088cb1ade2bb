"""`kokoro-live voices`: the voices that can speak."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from supervisor.commands.client_command import ClientCommand, client_options, server_to_ask
from supervisor.settings.composition import Settings

_COLUMNS = {"id": "voice", "language": "language", "gender": "sex", "engine": "engine"}
"""Headings by the field of `GET /v1/audio/voices`."""


@click.command(cls=ClientCommand)
@click.option("--json", "as_json", is_flag=True, help="Print the list for programs.")
@click.option("-v", "--verbose", is_flag=True, help="A row for each voice, as in a pipe.")
@client_options
@click.pass_context
def voices(context: click.Context, /, as_json: bool, verbose: bool, **_settings: Any) -> None:
    """List the voices of the running server, or of the engine that would speak.

    A terminal shows them by language; a pipe, or -v, gets a row for each.
    """
    url = server_to_ask(context)
    listed = _of_engine(context) if url is None else _of_server(url)
    if as_json:
        click.echo(json.dumps(listed, indent=2))
        return
    if sys.stdout.isatty() and not verbose:
        _show(listed)
        return
    # A server of another version may give more or fewer fields of a voice.
    rows = [tuple(_COLUMNS.values()), *(tuple(str(voice.get(field) or "") for field in _COLUMNS) for voice in listed)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


_LANGUAGES = {
    "en-us": "American English",
    "en-gb": "British English",
    "es": "Spanish",
    "fr-fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "pt-br": "Brazilian Portuguese",
    "cmn": "Mandarin Chinese",
}


def _show(listed: list[dict[str, Any]]) -> None:
    """Languages with their voices, the best first, women before men."""
    from rich.console import Console
    from rich.table import Table

    groups: dict[tuple[str, str], list[str]] = {}
    for voice in sorted(listed, key=_grade):
        groups.setdefault((str(voice.get("language") or ""), str(voice.get("gender") or "")), []).append(voice["id"])
    graded = {voice["id"] for voice in listed if voice.get("grade")}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    order = {language: place for place, language in enumerate(_LANGUAGES)}
    for language, gender in sorted(groups, key=lambda group: (order.get(group[0], len(order)), *group)):
        names = ((f"[bold]{name}[/]*" if name in graded else name) for name in groups[language, gender])
        table.add_row(", ".join(filter(None, (_LANGUAGES.get(language, language), gender))), " ".join(names))
    Console().print(table)
    click.echo("* best by their authors' grades. Hear one: kokoro-live say --voice af_bella Hi")


def _grade(voice: dict[str, Any]) -> tuple[str, bool]:
    """The key that sorts the best voices first: A before A-, and those without a grade last."""
    grade = str(voice.get("grade") or "Z")
    return grade[0], grade.endswith("-")


def _of_server(url: str) -> list[dict[str, Any]]:
    from client.blocking import BlockingClient

    answer = BlockingClient(url).ask("GET", "/v1/audio/voices")
    match answer.json:
        case {"voices": [*listed]} if answer.status == 200 and all(isinstance(voice, dict) for voice in listed):
            return listed
    raise click.ClickException(answer.error or f"{url} answers with {answer.status}, and with no list of voices.")


def _of_engine(context: click.Context) -> list[dict[str, Any]]:
    # Only loading shows the engine that would speak: a model may be installed and unusable.
    from msgspec.structs import asdict

    from frontend.speech.voices import described
    from worker.engine import EngineUnavailable
    from worker.select import choose

    try:
        engine = choose(Settings.given(context).worker).info
    except EngineUnavailable as error:
        raise click.ClickException(str(error)) from error
    return [asdict(described(voice, engine.name)) for voice in engine.voices]
