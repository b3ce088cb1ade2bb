"""How a search is shown while it goes on, and what it came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from supervisor.tuning.profile_file import TuningProfile, days
from supervisor.tuning.trials import Step


@contextmanager
def display() -> Iterator[Callable[[Step], None]]:
    """On stderr, so that stdout holds the result alone: a bar on a terminal, a line for each trial elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials"),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("", total=None)

        def tell(step: Step) -> None:
            bars.update(task, description=step.doing or "done", completed=step.made, total=step.planned or None)

        yield tell


def _lines() -> Callable[[Step], None]:
    last = -1

    def tell(step: Step) -> None:
        nonlocal last
        if step.doing and step.made != last:
            last = step.made
            of = f" of about {step.planned}" if step.planned > 1 else ""
            click.echo(f"trial {step.made + 1}{of}: {step.doing}", err=True)

    return tell


def show(profile: TuningProfile) -> None:
    """What was tried, and what was chosen and why."""
    table = Table(title="Ratios to what stood before; over 1 is better, but for memory", title_justify="left")
    table.add_column("about")
    table.add_column("tried", overflow="fold")
    for column in ("first audio", "speed alone", "together", "memory", "score"):
        table.add_column(column, justify="right")
    table.add_column("", overflow="fold")
    for each in profile.attempts:
        ratios = (each.first, each.real_time, each.together, each.memory, each.score)
        cells = ("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
        table.add_row(escape(each.stage), escape(each.tried), *cells, escape(each.note))
    Console(width=None if Console().is_terminal else 160).print(table)
    kept = "for good" if profile.lifetime is None else f"for {days(profile.lifetime)}"
    now = time.time()
    age = days(profile.age(now))
    click.echo(f"{profile.verdict} ({profile.trials} trials, {age} ago, kept {kept})")
    if profile.expired(now):
        click.echo("That is too old to be used, so the defaults are; `kokoro-live tune` makes another.")
