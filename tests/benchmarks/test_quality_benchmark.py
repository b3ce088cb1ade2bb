"""The comparison of sounds: every way is spoken, heard and shown."""

import json
import re
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measuring.hearing.ears import Ears, Heard
from benchmarks.measuring.hearing.opinion import Opinion
from benchmarks.measuring.hearing.words import spoken_words
from benchmarks.quality import __main__ as command
from benchmarks.quality import corpus
from benchmarks.quality.corpus import Item
from benchmarks.quality.findings import Finding, cut_findings, finding, pause_around, plan_faults
from benchmarks.quality.pitch import pitch_before, pitches
from benchmarks.quality.renderings import Rendering, write_wav
from benchmarks.quality.ways import of_passages
from tests.split_model import make_split_model, make_split_voices, stages_of
from text.words.segment import Cut

SECOND = 24_000
TEXTS = [Item("en-00", "Yes.", "af_heart"), Item("en-01", "What time is it, then?", "am_adam")]
PASSAGES = [Item("plan-0", "Yes, it is late. " * 2 + "And so we go home.", "af_heart")]


def tone(hertz: float, seconds: float = 1.0) -> np.ndarray:
    return (8000 * np.sin(np.arange(int(seconds * SECOND)) * 2 * np.pi * hertz / SECOND)).astype(np.int16)


class FakeEars(Ears):
    """Understands everything, and likes what is loud."""

    def __init__(self, threads: int = 0) -> None: ...

    def heard(self, text: str, samples: np.ndarray, *, english: bool = True) -> Heard:
        return Heard(len(spoken_words(text)), 70.0, 0 if english else None, Opinion(4.0, 3.0, 3.0))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the whole command has run, and what it printed."""
    folder = tmp_path_factory.mktemp("quality")
    stages_of(make_split_model(folder / "small.onnx"), folder / "cache")
    make_split_voices(folder / "voices.bin")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as shown:
        patch.setattr("benchmarks.quality.renderings.Ears", FakeEars)
        patch.setattr(corpus, "texts", lambda quick=False: TEXTS)
        patch.setattr(corpus, "passages", lambda quick=False: PASSAGES)
        named = ["--model", folder / "small.onnx", "--voices", folder / "voices.bin", "--cache-dir", folder / "cache"]
        patch.setattr(sys, "argv", ["quality", *map(str, named), "--out", str(folder / "out"), "--threads", "1"])
        command.main()
    return folder, shown.getvalue()


@pytest.mark.slow
def test_every_way_has_a_row_sound_and_a_place_in_the_picture(finished: tuple[Path, str]) -> None:
    folder, shown = finished
    names = ["model, whole", "model, windows"]
    plans = [way.name for way in of_passages("model", folder)]
    for name in (*names, *plans):
        assert f"| {name} |" in shown
    assert shown.count("the reference") == 2
    assert (folder / "out" / "quality.md").read_text() == shown
    assert {each["way"] for each in json.loads((folder / "out" / "quality.json").read_text())["texts"]} == set(names)
    for picture in ("texts", "plans"):
        assert f"![{picture}]({picture}.png)" in shown
        assert (folder / "out" / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "out" / "model-whole" / "en-01.wav").stat().st_size > SECOND // 4
    pairs = [line for line in shown.splitlines() if "[listen](" in line]
    assert [line.split(" | ")[0] for line in pairs] == [f"| {item.text}" for item in (*TEXTS, *PASSAGES)]
    for line in pairs:
        links = re.findall(r"\[listen\]\(([^)]+)\)", line)
        assert len({*links}) == len(names if "en-" in line else plans), "each way's own"
        assert all((folder / "out" / link).read_bytes().startswith(b"RIFF") for link in links)
    assert "| clause |" in shown or "| sentence |" in shown, "the passage was cut"


def found(folder: Path, samples: np.ndarray, overall: float = 3.5, whole: np.ndarray | None = None) -> Finding:
    made = [replace(rendering(folder, "a", samples), heard=Heard(500, 70.0, 0, Opinion(4.0, overall, 3.0)))]
    return finding("a", made, made, None if whole is None else [rendering(folder, "whole", whole)])


def test_a_plan_is_judged_by_its_length_and_its_opinion_score(tmp_path: Path) -> None:
    one = found(tmp_path / "one", tone(200))
    assert plan_faults(one, found(tmp_path / "same", tone(200, 1.02), 3.49)) == ()
    [longer] = plan_faults(one, found(tmp_path / "longer", tone(200, 1.04)))
    assert longer == "it lasts +4.0% longer than in one segment (limit 3%)"
    [shorter] = plan_faults(one, found(tmp_path / "shorter", tone(200, 0.96)))
    assert "-4.0%" in shorter
    [worse] = plan_faults(one, found(tmp_path / "worse", tone(200), 3.47))
    assert worse == "its overall opinion score is 0.030 lower than in one segment (limit 0.02)"


def test_noise_in_pauses_is_a_fault_of_windows(tmp_path: Path) -> None:
    silence = np.zeros(SECOND, np.int16)
    whole, hissing = (np.concatenate((tone(200), silence + noise)).astype(np.int16) for noise in (1, 10))
    assert found(tmp_path / "quiet", whole, whole=whole).faults == ()
    assert any("its pauses are +20.0 dB off" in fault for fault in found(tmp_path / "b", hissing, whole=whole).faults)


def rendering(folder: Path, name: str, samples: np.ndarray, *cuts: tuple[Cut, int, int], errors: int = 0) -> Rendering:
    folder.mkdir(exist_ok=True)
    write_wav(folder / f"{name}.wav", samples)
    return Rendering(Item(name, "a b", "x"), folder / f"{name}.wav", cuts, (), Heard(500, 70.0, errors))


def test_figures_are_of_all_texts(tmp_path: Path) -> None:
    ours = [rendering(tmp_path / "a", str(n), tone(200)) for n in range(2)]
    theirs = [rendering(tmp_path / "b", str(n), tone(200), errors=n) for n in range(2)]
    found = finding("b", ours, theirs)
    assert found.word_error_rate == pytest.approx(0.1) and found.seconds == 2.0 and found.log_mel == 0.0
    assert found.p808 is None and found.judgement.log_mel_distance is None
    assert finding("b", ours, theirs, whole=ours).judgement.log_mel_distance == 0.0


def test_a_cut_has_the_pause_and_the_pitch_before_it(tmp_path: Path) -> None:
    samples = np.concatenate((tone(200), np.zeros(SECOND * 4 // 10, np.int16), tone(150)))
    [cut] = cut_findings([rendering(tmp_path, "c", samples, (Cut.CLAUSE, SECOND, SECOND + 9600))])
    assert (cut.kind, cut.count) == (Cut.CLAUSE, 1)
    assert cut.pause_ms == pytest.approx(400, abs=20)
    assert cut.pitch == pytest.approx(200, rel=0.02) and cut.end_pitch == pytest.approx(150, rel=0.02)
    assert pause_around(tone(200), 12_000)[1] - pause_around(tone(200), 12_000)[0] <= SECOND // 50


@pytest.mark.parametrize("hertz", [80, 110, 200, 330])
def test_pitch_is_found_and_silence_has_none(hertz: int) -> None:
    voice = sum(tone(hertz * harmonic) // (2 * harmonic) for harmonic in range(1, 8)).astype(np.int16)
    assert pitch_before(voice, len(voice)) == pytest.approx(hertz, rel=0.03)
    assert np.isnan(pitches(np.zeros(SECOND, np.int16))).all()
    assert pitch_before(np.zeros(SECOND, np.int16), SECOND) is None
    noise = np.random.default_rng(0).normal(0, 3000, SECOND).astype(np.int16)
    assert np.isnan(pitches(noise)).mean() > 0.95
