"""A machine that becomes slower is noticed, once: within a stream, over days, and by the self-check."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import UNSET, structs

from frontend.contract.errors import Broken, Unavailable
from frontend.contract.request import Urgency
from frontend.monitoring.drift import PART, WINDOW, DriftMonitor, identity
from frontend.monitoring.metrics import Metrics
from frontend.monitoring.selfcheck import KEPT, TEXT, Check, History, SelfChecker
from shm.engine_info import Priority
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, ENGINE, FakeSpeaker, Step, speech

HOUR = 3600.0


class Idler(FakeSpeaker):
    """Nobody else ever asks, unless `busy` is cleared."""

    def __init__(self, *steps: Step) -> None:
        super().__init__(*steps)
        self.free = asyncio.Event()
        self.free.set()

    async def idle(self) -> None:
        await self.free.wait()


class Bench:
    """A self-check whose clocks are moved by hand: `works` seconds pass while each piece is made."""

    def __init__(self, file: Path, hours: float = 1.0, works: float = 0.5) -> None:
        self.now = 1_000_000.0
        self.monotonic = 50.0
        self.works = works
        self.naps: list[float] = []
        self.woken = asyncio.Event()
        self.asleep = asyncio.Event()
        self.speaker = Idler(self.work, speech(24_000), self.work, speech(24_000))
        self.history = History(file)
        self.check = SelfChecker(
            self.speaker, hours, self.history, lambda: self.now, self.sleep, lambda: self.monotonic
        )

    def work(self) -> None:
        self.monotonic += self.works

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.asleep.set()
        await self.woken.wait()
        self.woken.clear()
        self.now += seconds

    async def runs(self, times: int, works: Sequence[float] = ()) -> None:
        """Let it check so many times, taking that long for each piece."""
        task = asyncio.create_task(self.check.run())
        try:
            await asyncio.wait_for(self.asleep.wait(), DEFAULT_TIMEOUT)
            for number in range(times):
                self.works = works[number] if works else self.works
                await self.goes_on()
        finally:
            task.cancel()

    async def goes_on(self) -> None:
        """Wake it, and wait until it sleeps again."""
        self.asleep.clear()
        self.woken.set()
        await asyncio.wait_for(self.asleep.wait(), DEFAULT_TIMEOUT)


async def test_it_speaks_at_its_hours_to_nobody_and_past_the_cache(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "checks.jsonl", hours=6)
    await bench.runs(2)
    assert bench.naps == [0.0, 6 * HOUR, 6 * HOUR]
    for request in bench.speaker.opened:
        assert (request.text, request.urgency, request.fresh) == (TEXT, Urgency.IDLE, True)
    assert all(stream.closed.is_set() for stream in bench.speaker.streams)
    first, second = bench.history.checks
    assert (first.real_time_factor, first.first_audio_seconds, first.at) == (0.5, 0.5, 1_000_000.0)
    assert second.at == 1_000_000.0 + 6 * HOUR


async def test_a_restarted_front_waits_for_the_rest_of_the_time(tmp_path: Path) -> None:
    await Bench(tmp_path / "checks.jsonl", hours=6).runs(1)
    again = Bench(tmp_path / "checks.jsonl", hours=6)
    again.now += 2 * HOUR
    await again.runs(0)
    assert again.naps == [4 * HOUR]


async def test_a_clock_that_was_set_back_does_not_put_it_off_for_ever(tmp_path: Path) -> None:
    await Bench(tmp_path / "checks.jsonl").runs(1)
    again = Bench(tmp_path / "checks.jsonl")
    again.now -= 1000 * HOUR
    await again.runs(0)
    assert again.naps == [HOUR]


async def test_it_waits_while_somebody_listens_and_is_tried_again_when_one_came_meanwhile(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "checks.jsonl")
    bench.speaker.free.clear()
    bench.speaker.steps = (Unavailable("listeners come first"),)
    task = asyncio.create_task(bench.check.run())
    try:
        await asyncio.wait_for(bench.asleep.wait(), DEFAULT_TIMEOUT)
        bench.asleep.clear()
        bench.woken.set()
        await asyncio.sleep(0)
        assert not bench.speaker.opened

        def gives_way() -> None:
            bench.speaker.steps = (bench.work, speech(24_000))
            raise Unavailable("listeners come first")

        bench.speaker.steps = (speech(100), gives_way)
        bench.speaker.free.set()
        await asyncio.wait_for(bench.asleep.wait(), DEFAULT_TIMEOUT)
    finally:
        task.cancel()
    assert len(bench.speaker.opened) == 2
    assert [check.real_time_factor for check in bench.history.checks] == [0.5], "the broken one isn't kept"


async def test_slower_than_the_median_by_more_than_a_fifth_is_flagged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path / "checks.jsonl")
    await bench.runs(3, [0.5, 0.4, 0.6])
    assert bench.check.ratio is None, "too few to compare with"
    assert "selfcheck_regression_ratio" not in {name for name, _, _ in bench.check.readings()}
    await bench.runs(1, [0.59])
    assert bench.check.ratio == pytest.approx(1.18)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    await bench.runs(1, [0.66])
    report = bench.check.report()
    assert report is not None
    assert (report.real_time_factor, report.ratio, report.checks) == (0.66, pytest.approx(0.66 / 0.545, abs=0.001), 5)
    assert [r.getMessage() for r in caplog.records if r.levelname == "WARNING"] == [
        "the self-check is 1.21 times slower than those before it"
    ]
    assert {name: value for name, _, value in bench.check.readings()} == {
        "selfcheck_real_time_factor": pytest.approx(0.66),
        "selfcheck_first_audio_seconds": pytest.approx(0.66),
        "selfcheck_regression_ratio": pytest.approx(0.66 / 0.545),
    }


async def test_another_engine_is_not_compared_with_the_one_before(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "checks.jsonl")
    await bench.runs(4)
    bench.speaker.engine = structs.replace(ENGINE, model="another.onnx")
    await bench.runs(1, [5.0])
    assert bench.check.ratio is None
    report = bench.check.report()
    assert report is not None and report.checks == 1


async def test_an_engine_that_fails_is_tried_again_at_the_next_hour(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path / "checks.jsonl")
    bench.speaker.steps = (Broken("it broke"),)
    await bench.runs(1)
    assert bench.naps == [0.0, HOUR]
    assert "the self-check failed: it broke" in caplog.text
    assert bench.check.report() is None and not list(bench.check.readings())


async def test_silence_is_no_measurement_and_no_endless_loop(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "checks.jsonl")
    bench.speaker.steps = ()
    await bench.runs(1)
    assert not bench.history.checks and len(bench.speaker.opened) == 1


def check(at: float) -> Check:
    return Check(at, identity(ENGINE), 0.5, 0.1)


def test_the_history_is_bounded_and_survives_lines_that_make_no_sense(tmp_path: Path) -> None:
    file = tmp_path / "below" / "checks.jsonl"
    history = History(file)
    for number in range(KEPT + 5):
        history.add(check(float(number)))
    assert [kept.at for kept in History(file).checks] == [float(number) for number in range(5, KEPT + 5)]
    file.write_bytes(b'{"at": 1\n\xff\n' + file.read_bytes().splitlines()[-1] + b"\n[]\n")
    assert History(file).checks == [check(KEPT + 4.0)]
    assert [name.name for name in file.parent.iterdir()] == ["checks.jsonl"], "no temporary file stays"


def test_a_history_that_cannot_be_written_is_kept_in_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    history = History(tmp_path / "file" / "checks.jsonl")
    history.add(check(1.0))
    assert history.checks == [check(1.0)]
    assert "the self-check's result is not kept" in caplog.text


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
