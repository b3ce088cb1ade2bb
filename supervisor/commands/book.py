"""`kokoro-live book`: a file becomes an audiobook."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import platformdirs

from client.answers import START, CannotSpeak, user_key
from shm.atomic import try_lock
from shm.book_formats import BOOK_FORMAT, BOOK_FORMATS, CHAPTER_FORMAT
from supervisor.commands.client_command import (
    PaceType,
    SpeakingCommand,
    client_options,
    local_speech,
    server_to_ask,
)
from supervisor.speaking.texts import web_address

if TYPE_CHECKING:
    from books.making.maker import Order
    from books.making.passages import PassageSpeaker
    from books.making.progress import BookProgress, Pace
    from books.making.settings import BookSettings

_NICENESS = 10
"""Priority of the command alongside a server: the encoding of a finished chapter takes a core for seconds, of which a
listener who comes gets nine tenths."""

_SUFFIXES = ", ".join(f".{row.name}" for row in BOOK_FORMATS.values() if row.audio and row.title)


class _BookCommand(SpeakingCommand):
    """Its `--loudness` is the whole book's, not the setting of the voices."""

    reads = SpeakingCommand.reads - {"loudness"}


class _Source(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if told := web_address(str(value)):
            self.fail(told, param, ctx)
        return super().convert(value, param, ctx)


@click.command(cls=_BookCommand)
@click.argument("file", type=_Source(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"The book: {_SUFFIXES} (to read along), or a folder of chapters.  [default: FILE's name with .{BOOK_FORMAT}]",
)
@click.option(
    "--chapters", default="", metavar="RANGES", help="Chapters to speak, as in 3-9 or 1,4-; --dry-run lists them."
)
@click.option("--all-matter", is_flag=True, help="Speak front matter, notes and back matter too.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="List the chapters, with duration, size and time to make, and make nothing.",
)
@click.option("--unknown-words", is_flag=True, help="List the words that no dictionary has, and make nothing.")
@click.option("--voice", default="", help="The narrator's voice, or a blend.  [default: the server's]")
@click.option("--cast", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A TOML file with voices.")
@click.option("--speed", type=PaceType(), help="The pace, 0.25 to 5.  [default: the server's]")
@click.option("--lang", default="", help="The book's language.  [default: the one that the file names]")
@click.option(
    "--loudness",
    "book_loudness",
    type=click.FloatRange(-40.0, -5.0),
    metavar="LUFS",
    help="Loudness by EBU R 128, as in -18.",
)
@click.option("--captions", type=click.Choice(["srt", "vtt"]), multiple=True, help="Write captions for each chapter.")
@click.option("--by-word", is_flag=True, help="Mark words instead of sentences in an .epub.")
@click.option("--format", "form", default=CHAPTER_FORMAT, show_default=True, help="Format of the chapters in a folder.")
@click.option("--paragraph-pause", type=click.FloatRange(0, 10), metavar="SECONDS", help="Silence after a paragraph.")
@click.option("--scene-pause", type=click.FloatRange(0, 30), metavar="SECONDS", help="Silence at a scene break.")
@click.option("--chapter-pause", type=click.FloatRange(0, 30), metavar="SECONDS", help="Silence after a chapter.")
@click.option("--between", metavar="HOURS", help="Hours of the day in which it is made, as in 01:00-07:00.")
@click.option(
    "--parallel", type=click.IntRange(1, 16), help="Passages made at once.  [default: the server's inference threads]"
)
@click.option("--discard", is_flag=True, help="Delete what is kept of FILE's speech, once the book is finished.")
@client_options
@click.pass_context
def book(context: click.Context, /, file: Path, output: Path | None, **values: Any) -> None:
    """Make an audiobook of FILE: EPUB, HTML, Markdown, plain text or PDF.

    It is made while nobody listens. After an interruption, the same command continues where it stopped.
    """
    from books.book import BookError
    from text.words.language import UnknownLanguage, language_code

    try:
        if values["lang"]:
            language_code(values["lang"])
    except UnknownLanguage as error:
        raise click.BadParameter(str(error), param_hint="--lang") from error
    try:
        _book(context, file, output or file.with_suffix(f".{BOOK_FORMAT}"), values)
    except BookError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{_shown(Path(error.filename or file))}: {error.strerror or error}") from error


def _book(context: click.Context, file: Path, path: Path, values: dict[str, Any]) -> None:
    from books.making.maker import Order
    from books.making.outputs import output_of
    from books.making.settings import chosen
    from books.reading.open import read_book

    if path.resolve() == file.resolve():
        raise click.UsageError(f"{path} is the source itself: name another file with -o.")
    output = output_of(path, form=values["form"], captions=values["captions"], by_word=values["by_word"])
    read = read_book(file.read_bytes(), file.name)
    chapters = chosen(read.chapters if values["all_matter"] else read.body, values["chapters"])
    folder = _kept(file)
    order = Order(read, chapters, _settings(values), output, folder, values["parallel"])
    if values["dry_run"]:
        _list(context, order)
        return
    if values["unknown_words"]:
        asyncio.run(_unknown_words(context, order))
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        if not try_lock(lock):
            raise click.ClickException(f"Another process is making a book of {_shown(file)}.")
        asyncio.run(_make(context, order, values["between"]))
        click.echo(_shown(path), err=True)
        if values["discard"]:
            shutil.rmtree(folder, ignore_errors=True)


def _shown(path: Path) -> str:
    """A path as a terminal takes it: its bytes may be in another encoding than the system's."""
    return click.format_filename(path)


def _kept(file: Path) -> Path:
    """Folder in which what was spoken of a file is kept. The book in another format needs nothing spoken again."""
    name = hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]
    return platformdirs.user_cache_path("kokoro-live", appauthor=False) / "books" / name


def _settings(values: dict[str, Any]) -> BookSettings:
    from books.making.casting import read_cast
    from books.making.settings import BookCast, BookPauses, BookSettings

    cast = read_cast(values["cast"].read_bytes()) if values["cast"] else BookCast()
    narrated = BookCast(values["voice"] or cast.narrator, cast.quotes, cast.speakers)
    pauses = BookPauses.given(values["paragraph_pause"], values["scene_pause"], values["chapter_pause"])
    return BookSettings(narrated, values["speed"], values["lang"], pauses, values["book_loudness"])


def _list(context: click.Context, order: Order) -> None:
    from books.making.progress import spoken_seconds
    from supervisor.speaking.progress_bars import duration

    read, seconds_in_all, pace = order.book, 0.0, _pace(context)
    click.echo(
        f"{read.title}{f', by {read.author}' if read.author else ''}{f' [{read.language}]' if read.language else ''}"
    )
    for number, chapter in enumerate(order.chapters, 1):
        seconds = spoken_seconds(chapter, order.settings, pace)
        seconds_in_all += seconds
        click.echo(f"{number:4} {chapter.words:7} words {duration(seconds):>9}  {chapter.title}")
    size = seconds_in_all * order.output.form.bytes_per_second / 1e6
    words = sum(chapter.words for chapter in order.chapters)
    click.echo(f"{len(order.chapters):4} {words:7} words {duration(seconds_in_all):>9}  about {size:.0f} MB")
    known = "as the server has measured" if pace.measured else "an assumption, because no server has measured it"
    work = duration(seconds_in_all * pace.real_time_factor)
    click.echo(f"about {work} of work: {pace.real_time_factor:.2g} s for each second of audio, {known}")
    others = [chapter for chapter in read.chapters if chapter not in order.chapters]
    if others:
        click.echo("left out: " + ", ".join(f"{chapter.title} ({chapter.matter.value})" for chapter in others))


def _pace(context: click.Context) -> Pace:
    from books.making.progress import Pace, pace_of
    from client.answers import NoAnswer
    from client.blocking import BlockingClient

    url = server_to_ask(context)
    if url is None:
        return Pace()
    try:
        answer = BlockingClient(url).ask("GET", "/status")
    except NoAnswer:
        return Pace()
    return pace_of(answer.json) if answer.status == 200 else Pace()


async def _unknown_words(context: click.Context, order: Order) -> None:
    from books.making.passages import Postponed
    from books.making.server import ServerSpeaker

    url = server_to_ask(context)
    if url is None:
        raise CannotSpeak(f"The dictionaries are the server's: {START}.")
    language = order.settings.language or order.book.language
    found: dict[str, int] = {}
    async with ServerSpeaker(url, user_key()) as server:
        try:
            for chapter in order.chapters:
                for text in (block.text for block in chapter.blocks if block.text):
                    for word in await server.unknown_words(text, language):
                        found[word] = found.get(word, 0) + 1
        except Postponed as error:
            raise CannotSpeak(str(error)) from error
    for word, count in sorted(found.items(), key=lambda each: (-each[1], each[0].casefold())):
        click.echo(f"{count:5} {word}")


async def _make(context: click.Context, order: Order, between: str | None) -> None:
    """Make the book, or end the process with 130 if the user ends it."""
    from shm.book_jobs import Hours
    from supervisor.speaking.progress_bars import book_progress

    try:
        hours = Hours(between) if between else None
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with book_progress() as show:
        async with _speaker(context, order) as speaker:
            making = asyncio.ensure_future(_made(order, speaker, show, hours.closed if hours else lambda: 0.0))
            with _ending(making.cancel), contextlib.suppress(asyncio.CancelledError):
                await making
    if making.cancelled():
        click.echo("Stopped. The same command goes on from here.", err=True)
        sys.exit(130)


async def _made(
    order: Order, speaker: PassageSpeaker, show: Callable[[BookProgress], None], may_work: Callable[[], float]
) -> None:
    """Make the book with the engine that speaks. If that is another one in the middle of the night, begin with it."""
    from books.making.maker import BookMaker
    from books.making.passages import PassageRefused

    while True:
        try:
            await BookMaker(order, speaker, show, may_work).make()
            return
        except PassageRefused as error:
            if error.code != "engine_changed":
                raise


@asynccontextmanager
async def _speaker(context: click.Context, order: Order) -> AsyncIterator[PassageSpeaker]:
    url = server_to_ask(context)
    if url is not None:
        from books.making.server import ServerSpeaker, Unreachable

        os.nice(_NICENESS)
        async with ServerSpeaker(url, user_key()) as server:
            try:
                await server.await_first_answer()
            except Unreachable as error:
                raise CannotSpeak(f"{error}, or make the book without one with --local") from error
            for voice in order.settings.cast.voices:
                await server.check_voice(voice)
            yield server
        return
    from supervisor.speaking.local_speech import LocalBookSpeaker

    yield LocalBookSpeaker(local_speech(context))


@contextlib.contextmanager
def _ending(cancel: Callable[[], object]) -> Any:
    loop = asyncio.get_running_loop()
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, cancel)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
