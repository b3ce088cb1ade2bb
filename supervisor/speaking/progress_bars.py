"""Progress on standard error, so that standard output has the results alone: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

if TYPE_CHECKING:
    from rich.progress import TaskID

    from books.making.progress import BookProgress
    from client.answers import SpokenPiece
    from worker.models.download import FetchProgress


def tell_wait(reason: str) -> None:
    """Say for what speech is waited, on standard error; an empty reason says that the wait is over."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{reason}", end="", file=sys.stderr, flush=True)
    elif reason:
        print(reason, file=sys.stderr, flush=True)


CHARACTERS_A_SECOND = 14.5
"""Characters of English prose that are spoken in a second at the usual pace, as the page estimates too."""

LONG = 400
"""Characters: about half a minute of speech."""


@contextmanager
def speaking_progress(text: str, *, measured: bool) -> Iterator[Callable[[SpokenPiece], None]]:
    """Call the result with each piece. `measured`: pieces state how many of the text's characters they cover."""
    if len(text) < LONG or not sys.stderr.isatty():
        yield lambda piece: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    total = len(text) if measured else len(text) / CHARACTERS_A_SECOND
    about = f" of about {duration(len(text) / CHARACTERS_A_SECOND)} of speech"
    columns = [TextColumn("{task.fields[spoken]}" + about), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, spoken=duration(0))
        received = 0

        def advance(piece: SpokenPiece) -> None:
            nonlocal received
            received += len(piece.pcm)
            seconds = received / SAMPLE_BYTES / SAMPLE_RATE
            bar.update(task, advance=piece.characters if measured else 0, spoken=duration(seconds))
            if not measured:
                bar.update(task, completed=min(seconds, 0.99 * total))

        yield advance
        bar.update(task, completed=total)  # segments don't count the spaces between them


@contextmanager
def book_progress() -> Iterator[Callable[[BookProgress], None]]:
    """Call the result with each progress."""
    if not sys.stderr.isatty():
        tell = _line_teller()

        def tell_chapter(progress: BookProgress) -> None:
            title = f"chapter {progress.chapter} of {progress.chapters}, {progress.title}"
            line = f"{progress.fraction:4.0%} {title}: {state_of(progress)}"
            tell("", (progress.chapter, progress.waiting), line)

        yield tell_chapter
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[state]}")]
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0, state="")

        def show(progress: BookProgress) -> None:
            title = f"{progress.chapter}/{progress.chapters} {progress.title}"
            bar.update(task, description=title[:50], completed=progress.fraction, state=state_of(progress))

        yield show


def state_of(progress: BookProgress) -> str:
    """The reason for waiting, or the time left and what was made."""
    if progress.waiting:
        return f"waiting: {progress.waiting}"
    made = f"{duration(progress.audio_seconds)} spoken"
    return made if progress.seconds_left is None else f"{duration(progress.seconds_left)} left, {made}"


def duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


FETCH_STEP = 10
"""Percent between two plain lines of a download."""


@contextmanager
def fetch_progress() -> Iterator[Callable[[FetchProgress], None]]:
    """Call the result with each progress of any file."""
    if not sys.stderr.isatty():
        tell = _line_teller()

        def tell_step(state: FetchProgress) -> None:
            percent = 100 * state.received // state.total
            note = f" - {state.note}" if state.note else ""
            line = f"{state.name}: {percent} % of {state.total:,} bytes{note}"
            tell(state.name, (percent // FETCH_STEP, state.note), line)

        yield tell_step
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    name, note = (TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[note]}"))
    columns = (name, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(), note)
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def show(state: FetchProgress) -> None:
            # A bar begins at the part that an earlier download left, so that its speed counts only this download.
            if state.name not in tasks:
                tasks[state.name] = bars.add_task(state.name, total=state.total, completed=state.received, note="")
            bars.update(tasks[state.name], completed=state.received, note=state.note)

        yield show


def _line_teller() -> Callable[[str, object, str], None]:
    """A function that writes a line about a subject, unless it has the same key as the subject's last one."""
    told: dict[str, object] = {}

    def tell(subject: str, key: object, line: str) -> None:
        if told.get(subject) != key:
            told[subject] = key
            print(line, file=sys.stderr, flush=True)

    return tell
