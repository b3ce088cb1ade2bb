"""`kokoro-live say`: a text to the loudspeakers, a file or a pipe. `kokoro-live pronounce`: the ways to say a word, to
be heard and chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from client.answers import CannotSpeak, SpokenPiece
from frontend.audio.formats import BY_EXTENSION
from shm.timing import WordTiming
from supervisor.commands.client_command import (
    PaceType,
    SpeakingCommand,
    client_options,
    local_speech,
    server_to_ask,
)
from supervisor.settings.composition import Settings
from supervisor.speaking.interruption import tidied_up_when_killed

if TYPE_CHECKING:
    from supervisor.speaking.sinks import Write
    from text.g2p import WayToSay

_KINDS_SHOWN = 20
"""Most kinds of unspoken characters that the note names."""


def _checked_part(_context: click.Context, _parameter: click.Parameter, part: str | None) -> str | None:
    if part is not None:
        from text.lexicon_formats import PARTS

        if part not in PARTS:
            raise click.BadParameter(f"{part!r} is none of {', '.join(PARTS)}.")
    return part


@click.command(cls=SpeakingCommand)
@click.argument("words", metavar="[TEXT|FILE|-]", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=f"The file: {', '.join(BY_EXTENSION)}; .pcm and .raw are bare samples, as on standard output, which is -.",
)
@click.option("--voice", help="A voice, or a blend such as 'af_heart(2)+af_bella'; `kokoro-live voices` lists them.")
@click.option("--speed", type=PaceType(), help="The pace, 0.25 to 5.  [default: the server's]")
@click.option("--lang", help="The text's language, as in en-gb or es.  [default: the voice's own]")
@click.option("--subtitles", metavar="FILE", help="A .srt or .vtt file to write, with each word at its time.")
@client_options
@click.pass_context
def say(
    context: click.Context,
    /,
    words: tuple[str, ...],
    output: str | None,
    subtitles: str | None,
    **values: Any,
) -> None:
    """Speak TEXT, the FILE of that name, or standard input if there is none or it is `-`.

    Without -o it is played: by the server's player, where one runs on this machine, else by a program. Bare samples
    are mono, signed 16-bit little-endian, 24 kHz.
    """
    from supervisor.speaking.sinks import sink_for
    from supervisor.speaking.texts import is_input, pieces_of_input, text_of

    voice, lang, speed = values["voice"], values["lang"], values["speed"]
    with tidied_up_when_killed(), _told_what_is_kept(output):
        url = server_to_ask(context)
        given = None if is_input(words) else text_of(words)
        if url is not None and output is None and subtitles is None and _played_by_server(url, given, values):
            return
        sink = sink_for(output)
        write_subtitles = _subtitles_file(subtitles, lang) if subtitles is not None else None
        grows = url is not None and given is None and output in (None, "-") and subtitles is None
        text, _ = ("", "") if grows else given or text_of(words)
        if url is None:
            speech = local_speech(context)
            pieces = speech.speak(text, voice, lang, speed, timestamps=subtitles is not None)
            _deliver(pieces, sink, text, write_subtitles, measured=True)
            _tell_unspoken(speech.unspoken)
        else:
            from client.blocking import BlockingClient, GrowingInput
            from supervisor.speaking.progress_bars import tell_wait

            server = BlockingClient(url, tell_wait)
            asked: dict[str, Any] = {"model": "kokoro", "voice": voice, "lang": lang, "speed": speed}
            asked["input"] = GrowingInput(pieces_of_input()) if grows else text
            if output is not None:
                asked["priority"] = "file"
            pieces = server.speak_with_words(asked) if write_subtitles else server.speak(asked)
            _deliver(pieces, sink, text, write_subtitles, measured=False)


def _played_by_server(url: str, given: tuple[str, str] | None, values: dict[str, Any]) -> bool:
    """True if the player of a server on this machine has played the text and its title, or what comes on standard
    input; False if it has none that can."""
    from client.play import PlayClient
    from supervisor.speaking.progress_bars import tell_wait
    from supervisor.speaking.texts import pieces_of_input

    client = PlayClient(url)
    if not client.is_here:
        return False
    asked = {name: values[name] for name in ("voice", "lang", "speed")}
    text, title = given or ("", "")
    asked |= {"input": text, "more": given is None, "title": title, "source": "say", "on_busy": "queue"}
    try:
        name = client.play(asked)
    except CannotSpeak:
        return False  # without a player or a sound card there; or the text is wrong, which the next request tells
    if given is None:
        client.go_on(name, pieces_of_input())
    try:
        told = ""
        for state in client.until_heard(name):
            reason = state["reason"] or "" if state["id"] == name else ""
            if reason != told:
                tell_wait(told := reason)
    except KeyboardInterrupt:
        client.end(name)
        raise
    return True


def _subtitles_file(file: str, lang: str | None) -> Callable[[list[WordTiming]], None]:
    from books.writing.subtitles import FORMATS, cues, subtitles
    from supervisor.speaking.sinks import text_file

    write = text_file(file, FORMATS)
    form = FORMATS[PurePath(file).suffix.lower()]

    def write_words(words: list[WordTiming]) -> None:
        write(subtitles(cues(words, lang or "en"), form))

    return write_words


def _deliver(
    pieces: Generator[SpokenPiece, None, None],
    sink: AbstractContextManager[Write],
    text: str,
    write_subtitles: Callable[[list[WordTiming]], None] | None,
    *,
    measured: bool,
) -> None:
    from supervisor.speaking.progress_bars import speaking_progress

    words: list[WordTiming] = []
    with closing(pieces):
        # No file is begun and no player started for a text that is rejected.
        first = next(pieces, None)
        if first is None:
            raise CannotSpeak("There is nothing in the text that can be spoken.")
        with sink as write, speaking_progress(text, measured=measured) as advance:
            for piece in chain([first], pieces):
                words += piece.words
                write(piece.pcm)
                advance(piece)
        if write_subtitles:
            # A player that was quit has played only a part; the file contains the whole text.
            words += chain.from_iterable(piece.words for piece in pieces)
            write_subtitles(words)


@contextmanager
def _told_what_is_kept(output: str | None) -> Iterator[None]:
    """Say after an interruption what became of the file: it appears whole or not at all."""
    try:
        yield
    except KeyboardInterrupt:
        if output not in (None, "-"):
            click.echo(f"\nStopped. Nothing was written: {output} appears when it is whole.", err=True)
        raise


def _tell_unspoken(unspoken: Counter[str]) -> None:
    if unspoken:
        kinds = unspoken.most_common()
        shown = " ".join(f"{character!r} ({count})" for character, count in kinds[:_KINDS_SHOWN])
        more = f" and {len(kinds) - _KINDS_SHOWN} more kinds" if len(kinds) > _KINDS_SHOWN else ""
        click.echo(f"Not spoken, because there is no sound for it: {shown}{more}", err=True)


@click.command(cls=SpeakingCommand)
@click.argument("word")
@click.option("--lang", default="en-us", show_default=True, help="The word's language.")
@click.option("--voice", help="The voice that says them.")
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Keep the Nth way in the lexicon.")
@click.option("--forget", is_flag=True, help="Take your lexicon's first way back, or that of --part.")
@click.option(
    "--part",
    metavar="PART",
    callback=_checked_part,
    help="Keep it, or take it back, for this part of speech alone, in English: noun, verb, adjective, adverb.",
)
@client_options
@click.pass_context
def pronounce(
    context: click.Context,
    /,
    word: str,
    lang: str,
    voice: str | None,
    keep: int | None,
    forget: bool,
    part: str | None,
    **_: Any,
) -> None:
    """Show the ways to say WORD. On a terminal they are heard by their number, and one can be kept in --lexicon.

    A word with capitals is kept for that spelling alone, one in small letters for any.
    """
    import sys

    from text.east_asian import LanguageUnavailable
    from text.espeak.espeak import EspeakUnavailable
    from text.g2p import G2P, ways_to_say
    from text.lexicon import LexiconFile, NotKept, take_back, word_of
    from text.lexicon import keep as keep_word
    from text.words.language import UnknownLanguage, language_code

    try:
        language, word = language_code(lang), word_of(word)
    except (UnknownLanguage, NotKept) as error:
        hint = "WORD" if isinstance(error, NotKept) else "--lang"
        raise click.BadParameter(str(error), param_hint=hint) from error
    lexicon = Settings.given(context).text.own_lexicon
    try:
        ways = ways_to_say(word, language, G2P(), LexiconFile(lexicon).current())
    except (EspeakUnavailable, LanguageUnavailable) as error:
        raise click.ClickException(str(error)) from error
    if not ways:
        raise click.ClickException(f"no voice of {language} can say {word}")
    for number, way in enumerate(ways, 1):
        share = "" if way.probability is None else f" {way.probability:.0%}"
        click.echo(f"{number}  {way.phonemes}  {way.how}{share}")
    entry = next((way.entry for way in ways if way.entry and part in (None, way.part)), None)
    if forget and keep:
        raise click.UsageError("--keep and --forget can't go together.")
    if forget and not entry:
        raise click.BadParameter("your lexicon has no such word", param_hint="--forget")
    if keep is None and not forget and sys.stdin.isatty():
        keep = _chosen(context, word, ways, language, voice)
    if keep and keep > len(ways):
        raise click.BadParameter(f"there are {len(ways)} ways", param_hint="--keep")
    try:
        if forget and entry:
            take_back(lexicon, entry)
            click.echo(f"{lexicon}: {word} is taken back")
        elif keep:
            keep_word(lexicon, word, f"/{ways[keep - 1].phonemes}/", language, part)
            click.echo(f"{lexicon}: {word} is {ways[keep - 1].phonemes}")
    except (NotKept, OSError) as error:
        raise click.ClickException(f"{lexicon}: {getattr(error, 'strerror', None) or error}") from error


def _chosen(
    context: click.Context, word: str, ways: Sequence[WayToSay], language: str, voice: str | None
) -> int | None:
    """Number of the way that the user keeps, after those that they hear."""
    while answer := click.prompt("A number to hear, k and a number to keep, Enter to leave", "", show_default=False):
        digits = answer.removeprefix("k").strip()
        if not digits.isdecimal() or not 1 <= int(digits) <= len(ways):
            continue
        if answer.startswith("k"):
            return int(digits)
        spoken = f"[{word}](/{ways[int(digits) - 1].phonemes}/)"
        values = context.params | {"words": (spoken,), "voice": voice, "lang": language}
        own = ("word", "keep", "forget", "part")
        context.invoke(say, **{name: value for name, value in values.items() if name not in own})
    return None
