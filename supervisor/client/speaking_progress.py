"""Progress of speaking: a bar on standard error, if that is a terminal and the text takes long enough."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from supervisor.client.spoken import SpokenPiece

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

    columns = [TextColumn("{task.fields[seconds]:.1f} s of speech"), BarColumn()]
    if measured:
        columns += [TaskProgressColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(text) if measured else None, seconds=0.0)
        received = 0

        def advance(piece: SpokenPiece) -> None:
            nonlocal received
            received += len(piece.pcm)
            bar.update(task, advance=piece.characters, seconds=received / SAMPLE_BYTES / SAMPLE_RATE)

        yield advance
        bar.update(task, completed=len(text))  # segments don't count the spaces between them
