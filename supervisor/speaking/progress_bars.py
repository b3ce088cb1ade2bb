"""Progress on standard error: a bar on a terminal; a book without one gets a line for each chapter."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from books.making.progress import BookProgress
from client.answers import SpokenPiece
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE


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
        yield _Lines()
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


class _Lines:
    def __init__(self) -> None:
        self._shown: tuple[int, str] | None = None

    def __call__(self, progress: BookProgress) -> None:
        shown = (progress.chapter, progress.waiting)
        if shown != self._shown:
            self._shown = shown
            title = f"chapter {progress.chapter} of {progress.chapters}, {progress.title}"
            print(f"{progress.fraction:4.0%} {title}: {state_of(progress)}", file=sys.stderr, flush=True)
