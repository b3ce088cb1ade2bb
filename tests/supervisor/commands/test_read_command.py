"""`kokoro-live read` shows how a text is read, and why."""

import pytest
from click.testing import CliRunner

from supervisor.cli import kokoro_live


def printed(*arguments: str, given: str | None = None) -> str:
    result = CliRunner().invoke(kokoro_live, ["read", *arguments], input=given)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_text_is_shown_in_words() -> None:
    assert printed("Meet me jan-15-2020 at 9am.") == "Meet me January fifteenth, twenty twenty at nine a.m.\n"
    assert printed(given="It costs usd 20.") == "It costs twenty US dollars.\n"


def test_why_shows_tokens_readings_with_costs_the_cover_and_phonemes() -> None:
    lines = [line.split() for line in printed("won 3:1 at GATE B22", "--why").splitlines()]
    assert ["tokens", "won", "3", ":", "1", "at", "GATE", "B", "22"] in lines
    shown = printed("won 3:1 at GATE B22", "--why")
    chosen = [line for line in shown.splitlines() if line.startswith("  chosen")]
    assert [line.split()[2] for line in chosen] == ["Score", "Labelled"]
    rejected = [line.split()[1] for line in shown.splitlines() if line.split()[0] == "0.60"]
    assert rejected == ["Ratio"]
    assert "words     3:1 → three to one" in shown
    assert any(line.startswith("  phonemes  B → ") for line in shown.splitlines())


def test_an_unknown_language_is_named() -> None:
    result = CliRunner().invoke(kokoro_live, ["read", "Hi.", "--lang", "xx"])
    assert result.exit_code == 2
    assert "xx" in result.output


@pytest.mark.parametrize("lang", ["es", "en-gb"])
def test_every_language_says_what_was_rewritten(lang: str) -> None:
    assert "words     5" in printed("5 km", "--lang", lang, "--why")
