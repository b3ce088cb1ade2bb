"""Reports: what is written, what is left out, and what comes into the README."""

import json
from pathlib import Path

import pytest

from benchmarks import readme_section, ttfa
from benchmarks.measuring.report import Report, Table, Verdict, read, shown, write
from benchmarks.readme_section import MARKER, NoMarkers, inserted, section

TABLE = Table("Waits", ("who", "ms", "rate"), [("one", 12.3456, None), ("a|b", 1234.5, 3)])
REPORT = Report(
    "ttfa",
    "kokoro (model.onnx, CPU)",
    [TABLE],
    [Verdict("soon", "12 ms", True), Verdict("cheap", "9 %", False)],
    ["A note."],
    {"raw": [1.5]},
)
TIMES = {
    "phrase": {"kokoro-live": {"first": [0.2, 0.1, 0.3]}, "kokoro-onnx create_stream": {"first": [0.7, 0.6, 0.8]}},
    "sentence": {"kokoro-live": {"first": [0.25]}},
}
MACHINE = {"processor": "A processor", "cores": "2", "load before": "0.1"}


def test_a_figure_has_three_digits_and_what_was_not_measured_has_none() -> None:
    assert [shown(cell) for cell in (0.012345, 12.3456, 1234.5, 7, "x", None, 0.0)] == [
        "0.0123",
        "12.3",
        "1,234",
        "7",
        "x",
        "–",
        "0",
    ]


def test_a_table_is_markdown_with_one_cell_for_each_column() -> None:
    """A bar in a cell is no end of it."""
    lines = TABLE.as_markdown().splitlines()
    assert lines[0] == "**Waits**"
    assert lines[-1] == "| a\\|b | 1,234 | 3 |"
    assert lines[-2] == "| one | 12.3 | – |"


def test_a_missed_target_is_said_so_and_counts() -> None:
    assert not REPORT.met
    assert "| cheap | 9 % | MISSED |" in REPORT.as_markdown()
    assert "| soon | 12 ms | met |" in REPORT.as_markdown()


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    """JSON with the raw figures, the command and the machine; Markdown with the same tables."""
    paths = write([REPORT], MACHINE, "kokoro-live bench ttfa", False, tmp_path / "new" / "out")
    data = read(paths[0])
    assert data["command"] == "kokoro-live bench ttfa"
    assert data["machine"] == MACHINE
    assert data["reports"][0]["raw"] == {"raw": [1.5]}
    assert TABLE.as_markdown() in paths[1].read_text()
    assert "A quick run" not in paths[1].read_text()


def test_something_else_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(ValueError, match="isn't a report"):
        read(tmp_path / "other.json")


def test_the_section_takes_the_place_of_the_last_one(tmp_path: Path) -> None:
    """Text around the markers stays; the section names the command and the machine; twice is the same as once."""
    write([REPORT], MACHINE, "kokoro-live bench ttfa", False, tmp_path)
    made = section([read(tmp_path / "bench.json")])
    document = f"# Title\n\n{MARKER}\nold\n{MARKER}\n\nThe end.\n"
    found = inserted(document, made)
    assert found.startswith("# Title\n") and found.endswith("The end.\n")
    assert "old" not in found
    assert "`kokoro-live bench ttfa` on processor A processor, cores 2." in found
    assert "| cheap | 9 % | missed |" in found
    assert inserted(found, made) == found


def test_the_headline_has_medians_and_how_much_sooner_they_are(tmp_path: Path) -> None:
    report = Report("ttfa", "kokoro", [TABLE], [], (), TIMES)
    write([report], MACHINE, "kokoro-live bench ttfa", False, tmp_path)
    made = readme_section.headline([read(tmp_path / "bench.json")])
    assert "| phrase | 200 | 700 | 3.5 |" in made
    assert "| sentence | 250 | – | – |" in made


def test_without_such_times_there_is_no_headline(tmp_path: Path) -> None:
    write([Report("streams", "kokoro", [TABLE], [])], MACHINE, "kokoro-live bench streams", False, tmp_path)
    with pytest.raises(ValueError, match="bench ttfa"):
        readme_section.headline([read(tmp_path / "bench.json")])


def test_a_readme_without_markers_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoMarkers):
        inserted(f"# Title\n{MARKER}\n", "new")
    readme = tmp_path / "README.md"
    readme.write_text("# Title\n")
    write([Report("ttfa", "kokoro", [TABLE], [], (), TIMES)], MACHINE, "kokoro-live bench", False, tmp_path)
    monkeypatch.setattr("sys.argv", ["readme_section", str(tmp_path / "bench.json"), "--readme", str(readme)])
    assert readme_section.main() == 1
    assert readme.read_text() == "# Title\n"


def test_a_quick_run_comes_into_no_readme(tmp_path: Path) -> None:
    (path, *_) = write([REPORT], MACHINE, "kokoro-live bench --quick", True, tmp_path)
    assert json.loads(path.read_text())["quick"] is True
    with pytest.raises(ValueError, match="--quick"):
        section([read(path)])


def test_a_report_begins_with_its_figures_in_a_sentence() -> None:
    results = {"phrase": {ttfa.COLD: ttfa.Measured([0.1, 0.3, 0.2], [])}, "article": {ttfa.COLD: ttfa.Measured([], [])}}
    short = ttfa.in_short(results)
    assert short == "The first sound came after 200 ms (phrase): medians, nothing from the cache."
    lines = Report("ttfa", "kokoro", [TABLE], [], in_short=short).as_markdown().splitlines()
    assert lines[:3] == ["## ttfa", "", short]
    assert ttfa.in_short({}) == ""
