"""Progress of a download: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from worker.models.download import FetchProgress as FileProgress

STEP = 10
"""Percent between two plain lines."""


@contextmanager
def display() -> Iterator[Callable[[FileProgress], None]]:
    """A progress display on stderr, so that stdout holds the results alone."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console) as bars:
        yield Bars(bars)


class Bars:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, state: FileProgress) -> None:
        # A bar begins at the part that an earlier download left, so that its speed counts only this download.
        if state.name not in self._tasks:
            self._tasks[state.name] = self._bars.add_task(
                state.name, total=state.total, completed=state.received, note=state.note
            )
        self._bars.update(self._tasks[state.name], completed=state.received, note=state.note)


class Lines:
    """Progress as lines: one each `STEP` percent, and one for each new note."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, str]] = {}

    def __call__(self, state: FileProgress) -> None:
        percent = 100 * state.received // state.total
        line = (percent - percent % STEP, state.note)
        if self._last.get(state.name) == line:
            return
        self._last[state.name] = line
        click.echo(f"{state.name}: {percent} % of {state.total:,} bytes{state.note and ' - '}{state.note}", err=True)
