"""`kokoro-live status`: shows the running server's `/status`, once or at each change."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from supervisor.commands.client_command import AskingCommand, address_options, server_url

Display = Callable[[str, Mapping[str, Any]], RenderableType]
"""Shows the answer of the server at an address."""

_MEGABYTE = 1e6

_COLUMNS: dict[str, dict[str, str]] = {
    "processes": {
        "role": "role",
        "state": "state",
        "pid": "pid",
        "uptime_seconds": "up",
        "resident_memory_bytes": "memory",
        "restarts": "restarts",
        "last_exit": "last exit",
    },
    "streams": {
        "request_id": "request",
        "seconds_sent": "sent",
        "seconds_ready": "ready",
        "seconds_ahead": "ahead",
        "waiting_segments": "waiting",
    },
    "slowest_requests": {"seconds": "first sound", "seconds_ago": "ago", "request_id": "request"},
    "errors": {"at": "at", "kind": "error", "request_id": "request"},
}
"""Fields shown of lists with many fields, with their headings. `--json` has all of them."""

_ELSEWHERE = ("ready", "recommendations", "latest_requests")
"""Shown above the figures, or by `kokoro-live trace`."""

_FIRST = ("reason", "engine", "tuning", "totals", "memory", "cache")
"""Figures that most people look for, in this order; the others follow in the server's order."""

_REQUEST_ID = 12
"""Shown characters of a request's id, enough to find it in the log."""


def all_figures(url: str, answer: Mapping[str, Any]) -> RenderableType:
    parts = _head(url, answer)
    lines = Table.grid(padding=(0, 2))
    tables: list[RenderableType] = []
    rest = {name: value for name, value in answer.items() if name not in _ELSEWHERE}
    for name in sorted(rest, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
        value = rest[name]
        if isinstance(value, list) and value and all(isinstance(thing, dict) for thing in value):
            tables.append(_table(name, value))
        elif value not in ([], {}):
            lines.add_row(Text(_words(name), "dim"), Text(_shown(name, value), overflow="fold"))
    return Group(*parts, lines, *tables)


def summary(url: str, answer: Mapping[str, Any]) -> RenderableType:
    """A line for each part that is well; any other has its reason, and its remedy where the server knows one."""
    parts, engine, totals = _head(url, answer), answer.get("engine") or {}, answer.get("totals") or {}
    if answer.get("reason"):
        parts.append(Text(str(answer["reason"]), "red"))
    if engine:
        parts.append(Text(f"{engine.get('name')} speaks ({engine.get('model')}, on {engine.get('provider')})"))
    heard = [each for each in answer.get("first_sounds") or () if each.get("heard")]
    sound = f", first sound after {_seconds(heard[-1]['median_seconds'])}" if heard else ""
    if totals:
        refused, cut = (totals.get(name, 0) for name in ("refused", "streams_cut"))
        parts.append(Text(f"{totals.get('requests')} requests: {refused} refused, {cut} cut off{sound}"))
    jobs, player = answer.get("jobs") or {}, answer.get("player") or {}
    now = [f"{answer['active_streams']} being spoken"] if answer.get("active_streams") else []
    now += [f"{jobs[name]} books {name}" for name in ("making", "queued") if jobs.get(name)]
    now += [f"the player is {player['state']}"] if player.get("state") not in (None, "idle") else []
    parts.append(Text(f"Now: {', '.join(now)}" if now else "Now: nobody listens"))
    processes = answer.get("processes") or ()
    used = sum(each.get("resident_memory_bytes", 0) for each in processes)
    restarts = sum(count for count in (answer.get("restarts") or {}).values() if isinstance(count, int))
    if processes:
        parts.append(Text(f"{len(processes)} processes, {_megabytes(used)}; {restarts} restarts"))
    if answer.get("errors"):
        parts.append(_table("errors", answer["errors"]))
    parts.append(Text("-v shows all figures.", "dim"))
    return Group(*parts)


def _head(url: str, answer: Mapping[str, Any]) -> list[RenderableType]:
    state = ("ready", "bold green") if answer.get("ready") else ("can't speak", "bold red")
    advice = [Text(f"! {each.get('message', each)}", "yellow") for each in answer.get("recommendations") or ()]
    return [Text.assemble((url, "bold"), "  ", state), *advice]


def lost(url: str, why: str) -> RenderableType:
    return Group(Text(url, "bold"), Text(why, "red"))


def _table(name: str, things: Sequence[Mapping[str, Any]]) -> RenderableType:
    columns = _COLUMNS.get(name)
    if columns is None:
        return Group(Text(_words(name), "dim"), *(Text(f"  {_shown(name, thing)}") for thing in things))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", title=_words(name), title_style="dim")
    table.title_justify = "left"
    there = [field for field in columns if any(field in thing for thing in things)]
    for field in there:
        table.add_column(columns[field])
    for thing in things:
        table.add_row(*(Text(_shown(field, thing[field]) if field in thing else "") for field in there))
    return table


def _shown(name: str, value: Any) -> str:
    if isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
        return "\n".join(f"{key}: {_shown(name, each)}" for key, each in value.items())
    if isinstance(value, dict):
        return ", ".join(f"{_words(path)} {_shown(path, figure)}" for path, figure in _flat(value)) or "none"
    if isinstance(value, list):
        return ", ".join(_shown(name, each) for each in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _unit(name)(value)
    return str(value)[:_REQUEST_ID] if name == "request_id" else str(value)


def _megabytes(value: float) -> str:
    return f"{value / _MEGABYTE:.0f} MB"


def _seconds(value: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if value >= 2 * length:
            return f"{value / length:.0f} {unit}"
    return f"{value:.3g} s"


def _unit(name: str) -> Callable[[float], str]:
    """The unit in a figure's name, at its beginning or its end."""
    words = name.replace(" ", "_").split("_")
    if words[-1] == "bytes":
        return _megabytes
    return _seconds if "seconds" in (words[0], words[-1]) else "{:.6g}".format


def _flat(group: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Figures by their path. Lists within a group are only in `--json`."""
    for name, value in group.items():
        if isinstance(value, list) and any(isinstance(each, dict) for each in value):
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name} ")
        elif value not in ([], {}, ""):
            yield f"{prefix}{name}", value


def _words(name: str) -> str:
    """A figure's name without its unit, which its value carries."""
    return name.removesuffix("_bytes").removesuffix("_seconds").removeprefix("seconds_").replace("_", " ")


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
