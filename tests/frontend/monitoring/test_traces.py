"""Traces: the slowest requests of an hour and the latest ones are kept, and no others."""

from frontend.contract.stages import Stages
from frontend.monitoring.metrics import LATEST, SLOWEST, RecentTraces
from shm.messages import BlockTimes


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def heard(traces: RecentTraces, clock: Clock, name: str, seconds: float) -> None:
    stages = Stages()
    stages.request_id = name
    traces.add(stages, clock.now - seconds, seconds)


def test_the_slowest_of_an_hour_and_the_latest_are_kept() -> None:
    clock = Clock()
    traces = RecentTraces(clock)
    heard(traces, clock, "slow", 9.0)
    for minute in range(1, 60):
        clock.now = 60.0 * minute
        for number in range(5):
            heard(traces, clock, f"{minute}.{number}", 0.1 + minute / 100 + number / 1000)
    assert [trace.request_id for trace in traces.slowest] == ["slow", "59.4", "59.3", "59.2", "58.4"]
    assert len(traces.slowest) == SLOWEST and len(traces.latest) == LATEST
    assert [trace.request_id for trace in traces.latest] == ["59.4", "59.3", "59.2"]
    clock.now = 3600.0
    assert traces.slowest[0].request_id == "59.4", "an hour later it is forgotten"
    clock.now = 9000.0
    assert traces.slowest == []
    assert traces.latest[0].seconds_ago == 9000 - 59 * 60


def test_a_trace_has_the_places_in_the_order_of_their_times_and_the_worker_s_blocks() -> None:
    stages = Stages()
    stages.reach("dispatched", 10.5)
    stages.block(0, 100, BlockTimes(11.0, 12.0, 0.0, 0.0, 13.0, 14.0))
    stages.block(0, 200, BlockTimes(11.0, 15.0, 0.0, 0.0, 16.0, 17.0))
    stages.reach("connected", 9.5)
    traces = RecentTraces(Clock())
    traces.add(stages, 10.0, 4.0)
    (trace,) = traces.slowest
    assert list(trace.places.items()) == [
        ("connected", -0.5),
        ("dispatched", 0.5),
        ("taken", 1.0),
        ("begun", 2.0),
        ("made", 3.0),
        ("written", 4.0),
    ]
    first, second = trace.blocks
    assert (first.samples, first.begun, first.made, first.written) == (100, 2.0, 3.0, 4.0)
    assert (second.samples, second.begun, second.made, second.written) == (200, 5.0, 6.0, 7.0)


def test_a_long_stream_keeps_its_first_blocks_only() -> None:
    stages = Stages()
    for number in range(1000):
        stages.block(number, 100, BlockTimes())
    assert [block.segment for block in stages.blocks] == list(range(8))
