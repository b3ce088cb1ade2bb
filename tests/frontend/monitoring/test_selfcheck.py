"""The self-check: when it is due and nobody listens, it speaks, remembers, and says so when it has become slower."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from frontend.contract.errors import Broken, Unavailable
from frontend.contract.request import Urgency
from frontend.monitoring.drift import identity
from frontend.monitoring.selfcheck import KEPT, TEXT, Check, History, SelfChecker
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
