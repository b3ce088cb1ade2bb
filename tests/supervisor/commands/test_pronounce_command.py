"""`kokoro-live pronounce` shows the ways to say a word, and keeps one in the lexicon."""

from pathlib import Path

from click.testing import CliRunner, Result

from supervisor.cli import kokoro_live
from text.g2p import G2P
from text.lexicon import LexiconFile


def run(*arguments: str) -> Result:
    return CliRunner().invoke(kokoro_live, ["pronounce", *arguments])


def test_the_ways_to_say_a_word_are_shown_each_once_the_one_in_use_first() -> None:
    lines = run("Wierzbowski").output.splitlines()
    said = [line.split("  ")[1] for line in lines]
    assert said[0] == G2P().words("Wierzbowski", "en-us")[0].phonemes
    assert len(set(said)) == len(said) >= 3
    assert lines[-1].endswith("  letters")
    assert any("%" in line for line in run("Dumas").output.splitlines())
    assert "%" not in run("queso", "--lang", "es").output


def test_a_way_is_kept_in_the_lexicon_with_the_words_capitals(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("nginx\tengine x")
    chosen = run("Dumas").output.splitlines()[1].split("  ")[1]
    result = run("Dumas", "--keep", "2", "--lexicon", str(lexicon))
    assert result.exit_code == 0, result.output
    current = LexiconFile(lexicon).current()
    found = current.find("Dumas", "en-us")
    assert found is not None and found.phonemes == chosen
    assert current.find("dumas", "en-us") is None and current.find("nginx", "en-us") is not None


def test_what_can_not_be_kept_is_told(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.touch()
    for arguments in (["two words"], ["Dumas", "--keep", "1"], ["Dumas", "--lang", "xx"]):
        assert run(*arguments).exit_code == 2
    assert run("Dumas", "--keep", "99", "--lexicon", str(lexicon)).exit_code == 2
    assert lexicon.read_text() == ""
