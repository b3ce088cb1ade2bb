"""`kokoro-live read`: how a text is read, in words and phonemes, and why. It needs no server and no model."""

from __future__ import annotations

import click

from client.answers import CannotSpeak


@click.command()
@click.argument("text", required=False)
@click.option("--lang", default="en-us", show_default=True, help="The text's language.")
@click.option("--why", is_flag=True, help="Show tokens, readings that were considered with their costs, and phonemes.")
def read(text: str | None, lang: str, why: bool) -> None:
    """Show how TEXT is read: words, a file's name, or nothing for standard input."""
    from supervisor.speaking.texts import text_of
    from text.normalization.normalize import normalize
    from text.normalization.settings import Normalization
    from text.words.language import UnknownLanguage, language_code
    from text.words.sanitize import sanitize

    try:
        lang = language_code(lang)
        clean = sanitize(text_of(() if text is None else (text,))[0])
    except UnknownLanguage as error:
        raise click.BadParameter(str(error), param_hint="--lang") from error
    except CannotSpeak as error:
        raise click.UsageError(str(error)) from error
    if why:
        _explain(clean, lang)
    else:
        click.echo(normalize(clean, lang, Normalization()))


def _explain(clean: str, lang: str) -> None:
    from text.east_asian import LanguageUnavailable
    from text.espeak.espeak import EspeakUnavailable
    from text.g2p import G2P
    from text.normalization.reasons import reasons
    from text.normalization.settings import Normalization

    g2p = G2P()
    for sentence in reasons(clean, lang, Normalization()):
        click.echo(sentence.said)
        if sentence.tokens:
            click.echo(f"  tokens    {' '.join(sentence.tokens)}")
        for reading in sentence.considered:
            mark = "chosen" if reading.chosen else ""
            click.echo(f"  {mark:8}  {reading.cost:4.2f}  {reading.kind:12} {reading.written} → {reading.said}")
        for written, spoken in sentence.rewritten:
            click.echo(f"  words     {written} → {spoken}")
        try:
            for word in g2p.words(sentence.said, lang):
                click.echo(f"  phonemes  {word.text} → {word.phonemes.strip()}  ({word.source.value})")
        except (EspeakUnavailable, LanguageUnavailable) as error:
            raise click.ClickException(str(error)) from error
