"""`kokoro-live say`: a text to the loudspeakers, a file or a pipe."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import AbstractContextManager, closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from supervisor.client_command import ClientCommand, client_options, engine_settings, server_to_ask
from supervisor.interruption import tidied_up_when_killed
from supervisor.spoken import CannotSpeak, Piece

if TYPE_CHECKING:
    from supervisor.sinks import Write

_KINDS_SHOWN = 20
"""Of the characters that there was no sound for, in the note about them."""


def _checked_speed(_context: click.Context, _parameter: click.Parameter, speed: float) -> float:
    if not 0.25 <= speed <= 4:  # click.FloatRange lets NaN through
        raise click.BadParameter(f"{speed:g} is not from 0.25 to 4.")
    return speed


@click.command(cls=ClientCommand)
@click.argument("words", metavar="[TEXT]", nargs=-1)
@click.option("-o", "--output", metavar="FILE", help="A .wav, or .pcm or .raw for bare samples; - is standard output.")
@click.option("--voice", help="A voice, or a blend such as 'af_heart(2)+af_bella'; `kokoro-live voices` lists them.")
@click.option("--speed", default=1.0, show_default=True, callback=_checked_speed, help="0.25 to 4.")
@click.option("--lang", help="The text's language, as in en-gb or es.  [default: the voice's own]")
@client_options
@click.pass_context
def say(
    context: click.Context,
    /,
    words: tuple[str, ...],
    output: str | None,
    voice: str | None,
    speed: float,
    lang: str | None,
    **_settings: Any,
) -> None:
    """Speak TEXT, or standard input if there is none or it is `-`.

    Without -o it is played. Bare samples are mono, signed 16-bit little-endian, 24 kHz.
    """
    from supervisor.sinks import sink_for

    try:
        with tidied_up_when_killed():
            url = server_to_ask(context)
            sink = sink_for(output)
            text = _text(words)
            if url is None:
                from supervisor.local_speech import LocalSpeech

                speech = LocalSpeech(engine_settings(context))
                _deliver(speech.speak(text, voice, lang, speed), sink, text, measured=True)
                _tell_unspoken(speech.unspoken)
            else:
                from supervisor.server_client import speak

                asked = {"model": "kokoro", "input": text, "voice": voice, "lang": lang, "speed": speed}
                _deliver(speak(url, asked), sink, text, measured=False)
    except CannotSpeak as error:
        raise click.ClickException(str(error)) from error


def _text(words: tuple[str, ...]) -> str:
    text = " ".join(words) if words not in ((), ("-",)) else None
    try:
        if text is None:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        text.encode()  # what isn't UTF-8 on the command line comes as lone surrogates
    except UnicodeError as error:
        raise CannotSpeak(f"The text isn't UTF-8: {error}.") from error
    return text


def _deliver(
    pieces: Generator[Piece, None, None], sink: AbstractContextManager[Write], text: str, *, measured: bool
) -> None:
    from supervisor.speaking_progress import speaking_progress

    with closing(pieces):
        # No file is begun and no player started for a text that is refused.
        first = next(pieces, None)
        if first is None:
            raise CannotSpeak("There is nothing in the text that can be spoken.")
        with sink as write, speaking_progress(text, measured=measured) as advance:
            for piece in chain([first], pieces):
                write(piece.pcm)
                advance(piece)


def _tell_unspoken(unspoken: Counter[str]) -> None:
    if unspoken:
        kinds = unspoken.most_common()
        shown = " ".join(f"{character!r} ({count})" for character, count in kinds[:_KINDS_SHOWN])
        more = f" and {len(kinds) - _KINDS_SHOWN} more kinds" if len(kinds) > _KINDS_SHOWN else ""
        click.echo(f"Not spoken, because there is no sound for it: {shown}{more}", err=True)
