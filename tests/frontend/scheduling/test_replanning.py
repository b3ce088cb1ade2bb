"""Plans and measured costs: a text's stays the same, but a rest that would come too late is cut again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from frontend.contract.progress import Progress
from frontend.contract.request import SpeechRequest, Urgency
from frontend.planning.costs import CostModel, Ledger
from frontend.planning.planner import Limits
from frontend.planning.profile import CostProfile
from frontend.scheduling import dispatcher
from frontend.scheduling.dispatcher import plan_again
from frontend.streams.segments import SegmentQueue, StreamSegment
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from tests.frontend.desk import Desk, desk_with, heard, listen, planned
from tests.frontend.scripted_worker import ENGINE, ScriptedReader, samples_of
from tests.frontend.words_reader import KOKORO, WordsReader, at_work, script_of, spoken_before, words, worker_of
from text.words.performer import Performer
from text.words.segment import Segment

desk = desk_with(reader=WordsReader)


async def test_a_rest_that_would_come_too_late_is_cut_smaller_and_still_said_once(desk: Desk) -> None:
    """Two seconds in hand, and a next segment that takes nine: a gap that a shorter one avoids."""
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6f", 0.8)
    listener = listen(desk.open("6a 24b 6c"))
    async with at_work(worker, 2, 0.8):
        await heard(listener)
    said = [order.script for order in worker.orders[1:]]
    assert " ".join(said) == script_of("6a 24b 6c")
    assert len(said[1]) < len(words("24b").script)
    assert desk.counted("replans_total") == 1


async def test_whoever_has_time_keeps_the_plan(desk: Desk) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6f", 0.1)
    listener = listen(desk.open("6a 24b 6c"))
    async with at_work(worker, 2, 0.1):
        await heard(listener)
    assert [order.script for order in worker.orders[1:]] == [words(spec).script for spec in ("6a", "24b", "6c")]
    assert desk.counted("replans_total") == 0


@pytest.mark.parametrize("urgency", [Urgency.WHOLE, Urgency.IDLE])
async def test_what_nobody_listens_to_keeps_the_plan(desk: Desk, urgency: Urgency) -> None:
    worker = worker_of(desk)
    await spoken_before(desk, worker, "6f", 3.0)
    listener = listen(desk.open("6a 24b", urgency=urgency))
    async with at_work(worker, 2, 3.0):
        await heard(listener)
    assert [order.script for order in worker.orders[1:]] == [words(spec).script for spec in ("6a", "24b")]


async def test_nothing_is_planned_again_by_a_guess(desk: Desk) -> None:
    worker = worker_of(desk)
    listener = listen(desk.open("6a 24b"))
    order = await worker.has(1)
    worker.seal(order, 0, len(samples_of(order.script)))
    assert (await worker.has(2)).script == words("24b").script
    listener.cancel()


def waiting(segment: Segment) -> StreamSegment:
    return StreamSegment(segment, Performer((("af_heart", 1.0),), "en-us"), 1.0, segment.tokens * SAMPLE_RATE // 15)


def test_a_rest_that_was_just_cut_again_is_left_alone_until_its_first_segment_is_sent() -> None:
    """Each wake of the dispatcher would cut a rest again, smaller and smaller, while its listener waits."""
    account = CostModel()
    account.observe(tokens=30, speed=1.0, samples=2 * SAMPLE_RATE, seconds=1.8, prosody_seconds=1.8, load=1.0)
    queue = SegmentQueue()
    for spec in ("6a", "40b"):
        queue.add(waiting(words(spec)))
    queue.heard()
    timing = SimpleNamespace(sounds=True, deadline=lambda _: 100.0)
    request = SimpleNamespace(urgency=Urgency.LISTENING, speed=1.0)
    stream: Any = SimpleNamespace(timing=timing, request=request, segments=queue, engine=KOKORO)

    def cut_again(now: float) -> Any:
        return plan_again(stream, now, account, 1, Limits())

    found = cut_again(94.0)
    assert found, "six seconds in hand, and more work than that"
    replaced, segments = found
    queue.replace(replaced, [waiting(segment) for segment in segments])
    assert cut_again(99.9) is None
    assert " ".join(segment.segment.script for segment in queue) == words("40b").script
    queue.heard()
    assert cut_again(99.9), "the segments after it may be"


def stream(*deadlines: float, failed: bool = False) -> Any:
    """A stream that sounds, with segments that wait, by the moments at which its listener runs dry."""
    segments = SimpleNamespace(dispatched=lambda: iter(()), waiting=lambda: iter(deadlines))
    return SimpleNamespace(
        failed=failed, segments=segments, timing=SimpleNamespace(sounds=True, deadline=lambda segment: segment)
    )


def test_the_listener_who_runs_dry_first_gets_the_next_place() -> None:
    rich, poor, between = stream(40.0, 50.0), stream(1.0, 9.0), stream(5.0, 45.0)
    due = dispatcher.waiting({1: rich, 2: poor, 3: between})
    assert [deadline for deadline, _, _ in due] == [1.0, 5.0, 9.0, 40.0, 45.0, 50.0]
    assert due[0][1] is poor


def test_a_failed_stream_gets_none() -> None:
    assert not dispatcher.waiting({1: stream(1.0, failed=True)})


class ListeningReader(ScriptedReader):
    """Writes down the profile that each text is planned with."""

    def __init__(self) -> None:
        self.profiles: list[CostProfile] = []

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        self.profiles.append(profile)
        return super().segments(request, engine, profile)


noting = desk_with(reader=ListeningReader)


def request(text: str, speed: float = 1.0) -> SpeechRequest:
    return SpeechRequest("id", text, (("af_heart", 1.0),), "en-us", speed)


async def test_a_text_that_comes_again_after_the_costs_changed_has_the_same_plan(noting: Desk) -> None:
    noting.worker(1)
    reader = noting.scheduler._reader
    assert isinstance(reader, ListeningReader)
    await planned(noting.open("again"))
    later = double_the_work(noting.scheduler._shared.ledger)
    await planned(noting.open("again"))
    await planned(noting.open("new"))
    first, again, new = reader.profiles
    assert again == first != new == later


async def test_a_front_that_was_killed_before_the_answer_began_has_planned_its_successor_s_text(noting: Desk) -> None:
    """Another plan has other segments: what workers have made of a whole clip would be lost at each death."""
    noting.worker(1)
    reader = noting.scheduler._reader
    assert isinstance(reader, ListeningReader)
    kept: list[Sequence[float]] = []
    await planned(noting.open("a clip", progress=Progress(keep_profile=kept.append)))
    successor = Desk(reader=reader)
    double_the_work(successor.scheduler._shared.ledger)
    successor.worker(1)
    await planned(successor.open("a clip", progress=Progress(profile=kept[0])))
    successor.close()
    first, again = reader.profiles
    assert again == first


def double_the_work(ledger: Ledger) -> CostProfile:
    costs = ledger.of(ENGINE)
    costs.profile = replace(costs.profile, per_token=2 * costs.profile.per_token)
    return costs.profile


def test_another_speed_is_another_plan() -> None:
    ledger = Ledger()
    first = ledger.profile_for(ENGINE, request("text"))
    later = double_the_work(ledger)
    assert ledger.profile_for(ENGINE, request("text", speed=2.0)) == later
    assert ledger.profile_for(ENGINE, request("text")) == first


def test_the_text_that_was_asked_for_longest_ago_is_forgotten_first() -> None:
    ledger = Ledger(most_texts=2)
    first = ledger.profile_for(ENGINE, request("kept"))
    ledger.profile_for(ENGINE, request("forgotten"))
    later = double_the_work(ledger)
    ledger.profile_for(ENGINE, request("kept"))
    ledger.profile_for(ENGINE, request("third"))
    assert ledger.profile_for(ENGINE, request("kept")) == first
    assert ledger.profile_for(ENGINE, request("forgotten")) == later != first
