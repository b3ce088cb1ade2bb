"""`kokoro-live voices`, `pronounce`, `read` and `cache`: what they show is what the server has, and would speak."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import asdict

from frontend.speech.voices import described
from frontend.streams.cache import CachedSegment, DiskCache
from shm.folders import state_folder
from supervisor.cli import kokoro_live
from supervisor.commands import voices as voices_command
from supervisor.commands.cache import CACHES
from supervisor.commands.voices import voices
from supervisor.settings.composition import Settings
from tests.file_server import file_server, page
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, serving
from tests.frontend.served import served
from tests.miniature import make_miniature, make_voices
from tests.split_model import make_split_model
from text.g2p import G2P
from text.lexicon import LexiconFile
from worker.providers.choice import keyed_candidates
from worker.providers.verdict import Verdict, load, store
from worker.split.prepared import prepare
from worker.targets import CPU
from worker.voices.kokoro_voices import KOKORO_VOICES

VOICES = [sys.executable, "-m", "supervisor", "voices"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(voices, [str(argument) for argument in arguments])


def test_espeaks_voices_have_kokoros_names():
    result = run("--engine", "espeak")
    assert result.exit_code == 0
    header, *rows = result.stdout.splitlines()
    assert header.split() == ["voice", "language", "sex", "engine"]
    assert [row.split()[0] for row in rows] == [voice.name for voice in KOKORO_VOICES]
    assert ["bm_lewis", "en-gb", "male", "espeak-ng"] in [row.split() for row in rows]
    assert {row.index("espeak-ng") for row in rows} == {header.index("engine")}, "columns aren't below each other"


def test_a_terminal_shows_languages_with_the_best_voices_first(capsys: pytest.CaptureFixture[str]):
    own = {"id": "emma", "language": "tlh", "gender": None}
    voices_command._show([asdict(described(voice, "kokoro")) for voice in KOKORO_VOICES] + [own])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100 and len(lines) < 25
    assert re.match("American English, female +af_heart[*] af_bella[*] af_nicole[*] af_alloy", lines[0])
    assert lines[-2].split() == ["tlh", "emma"] and "kokoro-live say --voice" in lines[-1]


def test_a_models_voices_are_those_of_its_file(tmp_path: Path):
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin", ["zf_xiaobei", "emma"])
    listed = json.loads(run("--json", "--model-dir", tmp_path).stdout)
    assert [(voice["id"], voice["language"], voice["gender"], voice["engine"]) for voice in listed] == [
        ("emma", "en-us", None, "kokoro"),
        ("zf_xiaobei", "cmn", "female", "kokoro"),
    ]


def test_an_engine_that_cant_be_loaded(tmp_path: Path):
    result = run("--engine", "kokoro", "--model-dir", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "kokoro-live models fetch" in result.stderr


def test_the_running_servers_list_is_the_one(monkeypatch: pytest.MonkeyPatch):
    with served(serving(FakeSpeaker())) as server:
        monkeypatch.setenv("KOKORO_LIVE_PORT", str(server.port))
        done = subprocess.run([*VOICES, "--json"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    assert [voice["id"] for voice in listed] == list(ENGINE.voice_names)
    assert {voice["engine"] for voice in listed} == {"kokoro"}


def test_both_sources_say_the_same_of_a_voice(tmp_path: Path):
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin", ENGINE.voice_names)
    with served(serving(FakeSpeaker())) as server:
        of_server = run("--url", server.url).stdout
    of_engine = run("--model-dir", tmp_path).stdout
    assert sorted(of_server.splitlines()) == sorted(of_engine.splitlines())
    assert len(of_server.splitlines()) == 1 + len(ENGINE.voice_names)


def test_a_server_that_has_no_list():
    with served(serving(FakeSpeaker(engine=None))) as server:
        result = run("--url", server.url)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Error: the model is loading\n")


def test_what_answers_there_may_be_something_else():
    with file_server() as server:
        server.script.append(page)
        result = run("--url", server.url)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"{server.url} answers with 200, and with no list of voices." in result.stderr
    result = run("--url", server.url)
    assert result.exit_code == 1
    assert f"no server answers at {server.url}" in result.stderr


def pronounced(*arguments: str) -> Result:
    return CliRunner().invoke(kokoro_live, ["pronounce", *arguments])


def test_the_ways_to_say_a_word_are_shown_each_once_the_one_in_use_first() -> None:
    lines = pronounced("Wierzbowski").output.splitlines()
    said = [line.split("  ")[1] for line in lines]
    assert said[0] == G2P().words("Wierzbowski", "en-us")[0].phonemes
    assert len(set(said)) == len(said) >= 3
    assert lines[-1].endswith("  letters")
    assert any("%" in line for line in pronounced("Dumas").output.splitlines())
    assert "%" not in pronounced("queso", "--lang", "es").output


@pytest.mark.parametrize("word", ["record", "read", "lead", "live", "resume", "bow"])
def test_a_homograph_has_a_way_for_each_part_of_speech(word: str) -> None:
    lines = pronounced(word).output.splitlines()
    assert "now" in lines[0]
    assert re.search(r"  (?:as \w[\w ]+|otherwise)$", lines[1])


@pytest.mark.parametrize("language", ["es", "fr", "hi"])
def test_a_word_has_the_ways_of_other_languages_in_any_voice(language: str) -> None:
    lines = pronounced("Goethe", "--lang", language).output.splitlines()
    assert any(line.endswith("  English") for line in lines)
    assert not any("%" in line for line in lines)
    assert len(pronounced("123", "--lang", language).output.splitlines()) <= 3


def test_a_way_is_kept_in_the_lexicon_with_the_words_capitals(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("nginx\tengine x")
    chosen = pronounced("Dumas").output.splitlines()[1].split("  ")[1]
    result = pronounced("Dumas", "--keep", "2", "--lexicon", str(lexicon))
    assert result.exit_code == 0, result.output
    current = LexiconFile(lexicon).current()
    found = current.find("Dumas", "en-us")
    assert found is not None and found.phonemes == chosen
    assert current.find("dumas", "en-us") is None and current.find("nginx", "en-us") is not None


def test_what_can_not_be_kept_is_told(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.touch()
    for arguments in (["two words"], ["x" * 201], ["Dumas", "--lang", "xx"], ["Dumas", "--forget"]):
        assert pronounced(*arguments, "--lexicon", str(lexicon)).exit_code == 2
    assert pronounced("Dumas", "--keep", "99", "--lexicon", str(lexicon)).exit_code == 2
    assert lexicon.read_text() == ""
    lexicon.write_text(pls := "<lexicon><lexeme><grapheme>A</grapheme><alias>b</alias></lexeme></lexicon>")
    result = pronounced("Dumas", "--keep", "1", "--lexicon", str(lexicon))
    assert (result.exit_code, lexicon.read_text()) == (1, pls) and "document of PLS" in result.output


def test_a_word_is_kept_where_no_lexicon_is_named_shown_first_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = pronounced("Dumas").output.splitlines()
    assert pronounced("Dumas", "--keep", "2").exit_code == 0
    shown = pronounced("Dumas").output.splitlines()
    assert shown[0].split("  ")[1:] == [before[1].split("  ")[1], "now (your lexicon)"]
    assert pronounced("Dumas", "--forget").exit_code == 0
    assert pronounced("Dumas").output.splitlines() == before


def test_what_is_taken_back_is_of_the_part_named(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text(lines := "zork\tark\nzork\t/zˈOk/\ten\tnoun\n")
    options = ("--forget", "--lexicon", str(lexicon))
    for wrong in (["--keep", "1"], ["--part", "verb"]):
        assert pronounced("zork", *options, *wrong).exit_code == 2
        assert lexicon.read_text() == lines
    assert "zork is taken back" in pronounced("zork", *options, "--part", "noun").output
    assert lexicon.read_text() == "zork\tark\n"


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


@pytest.mark.parametrize("lang", ["es", "en-gb"])
def test_every_language_says_what_was_rewritten(lang: str) -> None:
    assert "words     5" in printed("5 km", "--lang", lang, "--why")


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(kokoro_live, ["cache", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def shown(*arguments: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(ran("show", "--json", *arguments))}


def filled(folder: Path) -> tuple[list[str], Settings]:
    """The arguments and the settings of a cache in which each kind has something, made by what makes it."""
    cache, audio = folder / "cache", folder / "audio"
    make_split_model(folder / "model.onnx")
    settings = Settings.of({"cache_dir": cache, "disk_cache": audio, "model_dir": folder})
    prepare(folder / "model.onnx", cache)
    [(_, key)] = keyed_candidates(CPU, folder / "model.onnx", settings.worker)
    store(cache, key, Verdict(when=time.time(), right=True, faster=False, reason="as fast"))
    (cache / "tuning.json").write_text("{}")
    state_folder().mkdir(parents=True, exist_ok=True)
    (state_folder() / "real_time_factors.json").write_text("{}")
    with closing(DiskCache(audio, 1 << 24)) as segments:
        segments.put(b"key", CachedSegment(np.ones(24_000, np.int16)))
        segments.put(b"short", CachedSegment(np.ones(100, np.int16)))
    (jieba,) = next(kind for kind in CACHES if kind.name == "phonemes").paths(settings)
    jieba.parent.mkdir(parents=True, exist_ok=True)
    jieba.write_bytes(b"x" * 100)
    return ["--cache-dir", str(cache), "--disk-cache", str(audio)], settings


def test_all_that_is_kept_is_shown_with_size_age_and_purpose(tmp_path: Path) -> None:
    arguments, _ = filled(tmp_path)
    hour_ago = time.time() - 3600
    os.utime(tmp_path / "cache" / "tuning.json", (hour_ago, hour_ago))
    rows = shown(*arguments)
    assert list(rows) == ["verdicts", "profiles", "phonemes", "audio", "stages"]
    assert all(row["files"] and row["bytes"] and row["purpose"] for row in rows.values())
    assert rows["phonemes"]["bytes"] == 100
    assert rows["audio"]["bytes"] > 48_000
    assert (
        rows["profiles"]["youngest_seconds"] < 60 <= rows["profiles"]["oldest_seconds"] == pytest.approx(3600, abs=60)
    )
    told = ran("show", *arguments)
    assert all(row["purpose"] in told for row in rows.values()) and "--verdict-age" in told


def test_one_kind_is_cleared_and_the_others_stay(tmp_path: Path) -> None:
    arguments, _ = filled(tmp_path)
    for name in (kind.name for kind in CACHES):
        before = shown(*arguments)
        assert f"{name}: " in ran("clear", name, *arguments)
        after = shown(*arguments)
        assert [other for other, row in after.items() if row["bytes"] != before[other]["bytes"]] == [name]
        assert after[name]["bytes"] < before[name]["bytes"]


def test_what_was_cleared_is_not_found_again_also_in_an_open_disk_cache(tmp_path: Path) -> None:
    arguments, settings = filled(tmp_path)
    [(_, key)] = keyed_candidates(CPU, tmp_path / "model.onnx", settings.worker)
    assert load(settings.worker.cache_dir, key)
    with closing(DiskCache(tmp_path / "audio", 1 << 24)) as segments:  # as a running server has it
        assert segments.get(b"key")
        ran("clear", "all", *arguments)
        assert segments.get(b"key") is None and segments.get(b"short") is None
        segments.put(b"key", CachedSegment(np.ones(24_000, np.int16)))
        segments.put(b"short", CachedSegment(np.ones(100, np.int16)))
        assert segments.get(b"key")
    assert load(settings.worker.cache_dir, key) is None
    assert not (tmp_path / "cache" / "split").exists()
    assert prepare(tmp_path / "model.onnx", settings.worker.cache_dir).folder.is_dir()
    ran("clear", "all", *arguments)
    ran("clear", "all", *arguments)  # nothing there is no error


def test_another_name_is_refused() -> None:
    assert CliRunner().invoke(kokoro_live, ["cache", "clear", "models"]).exit_code == 2
    assert CliRunner().invoke(kokoro_live, ["cache", "clear"]).exit_code == 2
