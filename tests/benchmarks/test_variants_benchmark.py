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
from worker.quantization.metadata import properties_of
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
    monkeypatch.setattr(variants, "_turn", lambda *_, **__: {"rtf": 1.0, "load": 1.0, "rss": 1e6})
    arguments = ["variants", "--model", made.model, "--voices", made.voices, "--variant", "fp16", "--runs", "1"]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in [*arguments, "--work", made.folder / "work"]])
    assert variants.main() == 0


def test_an_interruption_loses_the_round_at_work_and_nothing_else(made, monkeypatch, capsys):
    """And what was finished is measured anew by the next command."""
    made.make(Kind.FP16, check=True)
    turns = []
    last = 5

    def turn(subject, way, arguments, repeats):
        if not repeats:
            return None
        turns.append((subject.name, way[0]))
        if len(turns) == last:
            raise KeyboardInterrupt
        return {"rtf": float(len(turns)), "load": 1.0, "rss": 1e6}

    monkeypatch.setattr(variants, "_turn", turn)
    arguments = ["variants", "--model", made.model, "--voices", made.voices, "--variant", "fp16", "--runs", "2"]
    arguments += ["--work", made.folder / "work", "--json", made.folder / "raw.json"]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in arguments])
    assert variants.main() == 130
    assert f"what was done is kept in {made.folder / 'work'}" in capsys.readouterr().err
    assert turns == [("original", 1), ("fp16", 1), ("original", 2), ("fp16", 2), ("original", 1)]
    assert not (made.folder / "raw.json").exists()

    last = 0
    assert variants.main() == 0
    assert "2 rounds are measured" in capsys.readouterr().err
    assert turns[5:] == [("original", 1), ("fp16", 1), ("original", 2), ("fp16", 2)]
    original, fp16 = json.loads((made.folder / "raw.json").read_text())["variants"]
    factors = [[run["rtf"] for run in way["runs"]] for way in original["runs"] + fp16["runs"]]
    assert factors == [[1, 6], [3, 8], [2, 7], [4, 9]]

    assert variants.main() == 0
    assert len(turns) == 9 + 8


def test_what_is_half_a_file_in_the_folder_is_made_again(made, monkeypatch):
    (made.folder / "work").mkdir()
    whole = made.have(Kind.FP16).read_bytes()
    (made.folder / "small.fp16.onnx").unlink()
    (made.folder / "work" / "small.fp16.onnx").write_bytes(whole)  # its quality isn't known
    monkeypatch.setattr(variants, "_turn", lambda *_, **__: {"rtf": 1.0, "load": 1.0, "rss": 1e6})
    arguments = ["variants", "--model", made.model, "--voices", made.voices, "--variant", "fp16", "--runs", "1"]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in [*arguments, "--work", made.folder / "work"]])
    assert variants.main() == 0
    said = properties_of(made.folder / "work" / "small.fp16.onnx")
    assert "kokoro_live.log_mel_distance" in said


def test_missing_files_are_said_in_a_line(made, monkeypatch, capsys):
    monkeypatch.chdir(made.folder)
    for model, voices, says in (("gone.onnx", made.voices, "gone.onnx"), (made.model, "gone.bin", "gone.bin")):
        monkeypatch.setattr(sys, "argv", ["variants", "--model", str(model), "--voices", str(voices), "--work", "w"])
        assert variants.main() == 2
        assert says in capsys.readouterr().err.splitlines()[-1]


def test_ratios_are_of_the_same_run():
    way = (1, "windowed")
    original = Subject("original", None, runs={way: [{"rtf": 0.4}, {"rtf": 0.8}, {"rtf": 0.4}]})
    fast = Subject("fast", None, Quality(1, 1, 1, 1, 1, 0), runs={way: [{"rtf": 0.2}, {"rtf": 0.4}, {"rtf": 0.1}]})
    assert fast.ratio(way, original) == 2
    assert fast.median(way, "rtf") == 0.2
    assert fast.ratio((2, "windowed"), original) is None
