"""`kokoro-live pronounce`: the ways to say a word, to be heard and chosen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from supervisor.commands.client_command import SpeakingCommand, client_options, given_settings
from text.english.foreign import ENGLISH, by_rules_of, origins
from text.espeak.espeak_g2p import by_rule, spelled
from text.g2p import G2P
from text.locales.tables import table
from text.words.language import UnknownLanguage, language_code
from text.words.punctuation import speakable
from text.words.sanitize import sanitize

_MOST = 6
_LEAST_PROBABILITY = 0.01


class WayToSay(NamedTuple):
    phonemes: str
    """Phonemes of misaki's alphabet."""
    how: str
    """Origin of the phonemes: the source as it is read now, a language, the voice's rules, or letters."""
    probability: float | None
    """Probability that the word is of that language; None for the other ways."""


def ways_to_say(word: str, language: str, g2p: G2P) -> list[WayToSay]:
    """Each pronunciation once, the one in use first.

    Args:
        word: a single word.
        language: a code of `LANGUAGE_FILES`; only English words have origins.
    """
    now = g2p.words(word, language)[0]
    found = [WayToSay(now.phonemes.strip(), f"now ({now.source.value})", None)]
    if language.startswith("en"):
        likely = [each for each in origins(word) if each.language != ENGLISH and each.probability >= _LEAST_PROBABILITY]
        rules = table("en", "origins")
        for origin, probability in likely[:_MOST]:
            found.append(WayToSay(by_rules_of(word, origin, language), rules[origin]["name"], probability))
    for how, way in (("rules", by_rule), ("letters", spelled)):
        found.append(WayToSay(way(word, language)[0].phonemes.strip(), how, None))
    return list({each.phonemes: each for each in reversed(found) if each.phonemes}.values())[::-1]


@click.command(cls=SpeakingCommand)
@click.argument("word")
@click.option("--lang", default="en-us", show_default=True, help="The word's language.")
@click.option("--voice", help="The voice that says them.")
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Keep the Nth way in the lexicon.")
@client_options
@click.pass_context
def pronounce(context: click.Context, /, word: str, lang: str, voice: str | None, keep: int | None, **_: Any) -> None:
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
    _keep(lexicon, word, ways[keep - 1], language)
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
        context.invoke(say, **{name: value for name, value in values.items() if name not in ("word", "keep")})
    return None


def _keep(lexicon: Path, word: str, way: WayToSay, language: str) -> None:
    content = lexicon.read_text(encoding="utf-8")
    joint = "" if not content or content.endswith("\n") else "\n"
    with lexicon.open("a", encoding="utf-8") as file:
        file.write(f"{joint}{word}\t/{way.phonemes}/\t{language}\n")
