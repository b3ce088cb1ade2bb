"""`kokoro-live pronounce`: the ways to say a word, to be heard and chosen."""

from __future__ import annotations

import sys
from typing import Any

import click

from supervisor.commands.client_command import SpeakingCommand, client_options, given_settings
from text.g2p import G2P, WayToSay, ways_to_say
from text.lexicon import PARTS
from text.lexicon import keep as keep_word
from text.words.language import UnknownLanguage, language_code
from text.words.punctuation import speakable
from text.words.sanitize import sanitize


@click.command(cls=SpeakingCommand)
@click.argument("word")
@click.option("--lang", default="en-us", show_default=True, help="The word's language.")
@click.option("--voice", help="The voice that says them.")
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Keep the Nth way in the lexicon.")
@click.option("--part", type=click.Choice(PARTS), help="Keep it for this part of speech alone, in English.")
@client_options
@click.pass_context
def pronounce(
    context: click.Context, /, word: str, lang: str, voice: str | None, keep: int | None, part: str | None, **_: Any
) -> None:
    """Show the ways to say WORD. On a terminal they are heard by their number, and one can be kept in --lexicon.

    A word with capitals is kept for that spelling alone, one in small letters for any.
    """
    try:
        language = language_code(lang)
    except UnknownLanguage as error:
        raise click.BadParameter(str(error), param_hint="--lang") from error
    word = sanitize(word)
    if len(word.split()) != 1 or not speakable(word):
        raise click.BadParameter("it is no single word", param_hint="WORD")
    ways = ways_to_say(word, language, G2P())
    for number, way in enumerate(ways, 1):
        share = "" if way.probability is None else f" {way.probability:.0%}"
        click.echo(f"{number}  {way.phonemes}  {way.how}{share}")
    if keep is None and sys.stdin.isatty():
        keep = _chosen(context, word, ways, language, voice)
    if keep is None:
        return
    if keep > len(ways):
        raise click.BadParameter(f"there are {len(ways)} ways", param_hint="--keep")
    lexicon = given_settings(context).text.lexicon
    if lexicon is None:
        raise click.UsageError("name the file that keeps it: --lexicon FILE, which the server reads too")
    keep_word(lexicon, word, f"/{ways[keep - 1].phonemes}/", language, part)
    click.echo(f"{lexicon}: {word} is {ways[keep - 1].phonemes}")


def _chosen(context: click.Context, word: str, ways: list[WayToSay], language: str, voice: str | None) -> int | None:
    """Number of the way that the user keeps, after those that they hear."""
    from supervisor.commands.say import say

    while answer := click.prompt("A number to hear, k and a number to keep, Enter to leave", "", show_default=False):
        digits = answer.removeprefix("k").strip()
        if not digits.isdecimal() or not 1 <= int(digits) <= len(ways):
            continue
        if answer.startswith("k"):
            return int(digits)
        spoken = f"[{word}](/{ways[int(digits) - 1].phonemes}/)"
        values = context.params | {"words": (spoken,), "voice": voice, "lang": language}
        context.invoke(say, **{name: value for name, value in values.items() if name not in ("word", "keep", "part")})
    return None
