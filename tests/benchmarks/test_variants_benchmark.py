"""The table of variants: made, measured each in a process of its own, and what fails said."""

import json
import sys

import pytest

from benchmarks import variants
from benchmarks.variants import Subject
from tests.supervisor.clean_environment import clean_environment
from tests.worker.quantization.making import SCRIPTS, Made
from worker.quantization import make, quality
from worker.quantization.kinds import Kind
from worker.quantization.quality import Quality


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "calibration", lambda: SCRIPTS)
    monkeypatch.setattr(quality, "evaluation", lambda: SCRIPTS)
    monkeypatch.setattr(variants, "VOCODERS", ("windowed",))
    with clean_environment(tmp_path / "home", monkeypatch):
        (tmp_path / "home").mkdir()
        yield Made(tmp_path)


def test_variants_are_made_and_measured_and_failures_are_rows(made, monkeypatch, capsys):
    (made.folder / "broken.onnx").write_bytes(b"\xff" * 99)
    arguments = ["variants", "--model", made.model, "--voices", made.voices, "--variant", "fp16", "--threads", "1"]
    arguments += ["--runs", "1", "--work", made.folder / "work", "--also", made.folder / "broken.onnx"]
    arguments += ["--out", made.folder / "page.md", "--json", made.folder / "raw.json"]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in arguments])
    assert variants.main() == 1, "one could not be measured"
    page = (made.folder / "page.md").read_text()
    assert page in capsys.readouterr().out
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    names = ["original", "fp16", "broken.onnx"]
    assert [row.split("|")[1].strip() for row in rows] == ["variant", *names, "variant", *names[1:]]
    assert "broken.onnx: " in page.splitlines()[-1]
    assert set(rows[3].split("|")[3:-1]) == {" – "}, "what wasn't measured is absent"
    original, fp16, broken = json.loads((made.folder / "raw.json").read_text())["variants"]
    for each in (original, fp16):
        [way] = each["runs"]
        assert way["threads"] == 1 and way["vocoder"] == "windowed"
        [run] = way["runs"]
        assert run["rtf"] > 0 and run["load"] > 0 and run["rss"] > 10e6
    assert original["quality"] is None and fp16["quality"]["spread"] > 0
    assert broken["error"] and not broken["runs"]
    assert (made.folder / "work" / "small.fp16.onnx").exists()


def test_a_variant_that_is_there_is_not_made_again(made, monkeypatch):
    made.make(Kind.FP16, check=True)
    monkeypatch.setattr(variants, "make_variant", lambda *_, **__: pytest.fail("made again"))
    monkeypatch.setattr(variants, "_run", lambda *_, **__: None)
    arguments = ["variants", "--model", made.model, "--voices", made.voices, "--variant", "fp16", "--runs", "1"]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in [*arguments, "--work", made.folder / "work"]])
    assert variants.main() == 0


def test_ratios_are_of_the_same_run():
    way = (1, "windowed")
    original = Subject("original", None, runs={way: [{"rtf": 0.4}, {"rtf": 0.8}, {"rtf": 0.4}]})
    fast = Subject("fast", None, Quality(1, 1, 1, 1, 1, 0), runs={way: [{"rtf": 0.2}, {"rtf": 0.4}, {"rtf": 0.1}]})
    assert fast.ratio(way, original) == 2
    assert fast.median(way, "rtf") == 0.2
    assert fast.ratio((2, "windowed"), original) is None
