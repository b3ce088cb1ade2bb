"""Quick forms of all benchmarks, whole: real servers, a real session and kokoro-onnx, on the miniature model."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import suite
from benchmarks.measuring.report import read
from supervisor.cli import kokoro_live
from supervisor.commands import bench
from tests.miniature import make_miniature, make_voices


def flags(folder: Path) -> list[str]:
    model, voices = make_miniature(folder / "miniature.onnx"), make_voices(folder / "voices.bin")
    return ["--engine", "kokoro", "--model", str(model), "--voices", str(voices), "--cache-dir", str(folder / "cache")]


def cells(report: dict[str, object], table: int) -> list[list[object]]:
    tables = report["tables"]
    assert isinstance(tables, list)
    rows: list[list[object]] = tables[table]["rows"]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "competitors"),
    [
        (
            "ttfa",
            {"kokoro-live", "its engine alone", "bare session", "kokoro-onnx create_stream", "kokoro-onnx, whole text"},
        ),
        ("streams", {"kokoro-live", "first come, first served"}),
        ("short-behind-long", {"kokoro-live", "first come, first served"}),
        ("parallel", {"serially", "side by side"}),
        ("overhead", {"front", "supervisor", "worker"}),
    ],
)
def test_a_quick_run_measures_and_writes_everything(name: str, competitors: set[str], tmp_path: Path) -> None:
    """The command ends with 0 whatever the figures are; JSON and Markdown have each competitor and each target."""
    out = tmp_path / "out"
    found = CliRunner().invoke(kokoro_live, ["bench", name, "--quick", "--out", str(out), *flags(tmp_path)])
    assert found.exit_code == 0, found.output
    data = read(out / "bench.json")
    assert data["quick"]
    assert data["command"].startswith(f"kokoro-live bench {name} --quick --engine kokoro --model miniature.onnx")
    (report,) = data["reports"]
    assert report["name"] == name
    assert "kokoro (miniature.onnx" in report["engine"]
    assert competitors <= {cell for row in cells(report, 0) for cell in row[:2]}
    assert report["verdicts"]
    for verdict in report["verdicts"]:
        assert verdict["target"] in (out / "bench.md").read_text()


@pytest.mark.slow
def test_a_quick_look_is_one_sentence(tmp_path: Path) -> None:
    found = CliRunner().invoke(kokoro_live, ["bench", "--quick", "--engine", "espeak", "--out", str(tmp_path / "out")])
    assert found.exit_code == 0, found.output
    _, sentence = found.output.splitlines()
    assert re.match(
        r"First sound after \d+\.\d\d s, \d+\.\d × real time: espeak-ng, one sentence heard \d times", sentence
    )
    assert not [*tmp_path.iterdir()]


def test_reading_is_measured_by_language(tmp_path: Path) -> None:
    found = CliRunner().invoke(kokoro_live, ["bench", "g2p", "--quick", "--runs", "1", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    (report,) = read(tmp_path / "bench.json")["reports"]
    rows = cells(report, 0)
    assert {"en-us", "es", "fr-fr", "it", "pt-br", "hi"} <= {row[0] for row in rows}
    assert all(isinstance(figure, float) and figure > 0 for row in rows for figure in row[1:] if figure is not None)
    assert report["verdicts"]


@pytest.mark.slow
def test_espeak_is_measured_without_what_it_cannot_be_compared_with(tmp_path: Path) -> None:
    """No bare session and no kokoro-onnx: their figures are absent, and nothing is judged by them."""
    found = CliRunner().invoke(kokoro_live, ["bench", "ttfa", "--quick", "--engine", "espeak", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    (report,) = read(tmp_path / "bench.json")["reports"]
    assert "espeak-ng" in report["engine"]
    # The server's second answers come from its cache, if it took them there.
    assert {row[1] for row in cells(report, 0)} - {"kokoro-live, spoken before"} == {"kokoro-live", "its engine alone"}
    assert not any("session" in verdict["target"] or "times" in verdict["target"] for verdict in report["verdicts"])


def test_a_model_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    found = CliRunner().invoke(
        kokoro_live,
        ["bench", "ttfa", "--engine", "kokoro", "--model", "none.onnx", "--voices", "none.bin", "--out", str(tmp_path)],
    )
    assert found.exit_code == 1
    assert "none.bin" in found.output
    assert not list(tmp_path.iterdir())


def test_the_command_offers_what_there_is() -> None:
    assert bench._NAMES == suite.NAMES
