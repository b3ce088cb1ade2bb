"""A machine that becomes slower is noticed, within a stream or over days, once; noise and other engines are not it."""

import json
from pathlib import Path

import pytest
from msgspec import UNSET, structs

from frontend.monitoring.drift import PART, WINDOW, DriftMonitor, identity
from frontend.monitoring.metrics import Metrics
from shm.engine_info import Priority
from tests.frontend.http_fakes import ENGINE

TWO_SECONDS = 48_000


def makes(
    drift: DriftMonitor, factor: float, segments: int = WINDOW, stream: int | None = None, load: float = 1.0
) -> None:
    """Segments of two seconds at that real-time factor; each of a stream of its own unless one is named."""
    for number in range(segments):
        drift.observe(ENGINE, stream or 1000 + number, factor * 2, TWO_SECONDS, load)


def test_what_is_normal_is_stored_and_found_again_by_the_next_front(tmp_path: Path) -> None:
    file = tmp_path / "state" / "factors.json"
    first = DriftMonitor(file)
    makes(first, 0.4, WINDOW - 1)
    assert first.report() is None and not file.exists(), "too few to say"
    makes(first, 0.4, 1)
    assert json.loads(file.read_text()) == {"version": 1, identity(ENGINE): pytest.approx(0.4)}
    assert first.ratio == pytest.approx(1)
    again = DriftMonitor(file)
    assert again.report() is None, "this one has measured nothing"
    makes(again, 0.6)
    assert again.ratio == pytest.approx(1.5)
    report = again.report()
    assert report is not None
    assert (report.baseline, report.recent, report.ratio) == (0.4, 0.6, 1.5)


def test_it_is_said_once_until_it_has_passed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    drift = DriftMonitor(tmp_path / "factors.json")
    for factor in (0.4, 0.5, 0.52, 0.55):
        makes(drift, factor)
    assert [record.getMessage()[:18] for record in caplog.records] == ["slower than before"]
    makes(drift, 0.4)
    makes(drift, 0.6)
    assert len(caplog.records) == 2


def test_a_fifth_slower_is_still_as_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    drift = DriftMonitor(tmp_path / "factors.json")
    makes(drift, 0.4)
    makes(drift, 0.479)
    assert not caplog.records


def test_a_machine_that_has_become_faster_is_compared_with_that_from_then_on(tmp_path: Path) -> None:
    drift = DriftMonitor(tmp_path / "factors.json")
    makes(drift, 0.4)
    makes(drift, 0.2)
    makes(drift, 0.3)
    assert drift.ratio == pytest.approx(1.5)


def test_single_slow_segments_are_no_drift(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    drift = DriftMonitor(tmp_path / "factors.json")
    makes(drift, 0.4)
    makes(drift, 4.0, WINDOW // 2 - 1)
    assert drift.ratio == pytest.approx(1) and not caplog.records


def test_segments_that_say_nothing_about_the_machine_do_not_count() -> None:
    drift = DriftMonitor()
    makes(drift, 0.4, load=2.0)
    makes(drift, 0.001)
    for stream in range(WINDOW):
        drift.observe(ENGINE, stream, 0.4, 12_000, 1.0)
    assert drift.report() is None


def test_another_engine_has_a_baseline_of_its_own(tmp_path: Path) -> None:
    drift = DriftMonitor(tmp_path / "factors.json")
    makes(drift, 0.4)
    slower = structs.replace(ENGINE, model="large.onnx")
    for stream in range(WINDOW):
        drift.observe(slower, stream, 1.6, TWO_SECONDS, 1.0)
    assert drift.ratio == pytest.approx(1)
    makes(drift, 0.4)
    assert drift.ratio == pytest.approx(1)


def test_a_stream_that_slows_down_is_noticed_without_anything_stored(caplog: pytest.LogCaptureFixture) -> None:
    drift = DriftMonitor()
    makes(drift, 0.4, PART, stream=7)
    makes(drift, 0.6, PART - 1, stream=7)
    assert drift.report() is None
    makes(drift, 0.6, PART + 1, stream=7)
    report = drift.report()
    assert report is not None and report.stream_ratio == pytest.approx(1.5)
    assert ["stream has become 1.50" in record.getMessage() for record in caplog.records].count(True) == 1


def test_streams_side_by_side_are_each_compared_with_themselves() -> None:
    drift = DriftMonitor()
    for _ in range(PART * 2):
        makes(drift, 0.4, 1, stream=1)
        makes(drift, 0.8, 1, stream=2)
    report = drift.report()
    assert report is not None and report.stream_ratio == pytest.approx(1)


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": "b"}', b"\xff"])
def test_a_file_that_makes_no_sense_is_begun_again(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "factors.json"
    file.write_bytes(content)
    drift = DriftMonitor(file)
    assert "what was normal here is forgotten" in caplog.text
    makes(drift, 0.4)
    assert json.loads(file.read_text())


def test_a_folder_that_cannot_be_written_is_said_once_and_costs_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    drift = DriftMonitor(tmp_path / "file" / "factors.json")
    caplog.clear()
    makes(drift, 0.4)
    makes(drift, 0.2)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert drift.ratio == pytest.approx(1)


def test_metrics_have_the_ratios_that_are_known() -> None:
    metrics = Metrics()
    name = "kokoro_live_real_time_factor_drift_ratio"
    assert name not in metrics.exposition("")[0].decode()
    for number in range(PART * 2):
        metrics.segment_made(ENGINE, 1, 0.5 if number < PART else 0.75, TWO_SECONDS, 1.0)
    shown = metrics.exposition("")[0].decode()
    assert f'{name}{{over="stream"}} 1.5' in shown
    assert f'{name}{{over="days"}} 1.0' in shown
    assert metrics.drift.report() is not UNSET


@pytest.mark.parametrize(
    "change",
    [
        {"concurrency": 3},
        {"priority": Priority(0, (0, 1))},
        {"threads": 7},
        {"provider": "CUDAExecutionProvider"},
        {"model_sha256": "x"},
        {"rendering": "whole"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_speeds_under_other_conditions_are_not_compared(change: dict[str, object]) -> None:
    assert identity(structs.replace(ENGINE, **change)) != identity(ENGINE)
