"""Streams over real channels, with a worker that does what the test says: order, credit, deaths, changes of engine."""

import asyncio
import time

import msgspec
import numpy as np
import pytest

from frontend.contract.errors import Broken, NothingToSpeak, Overloaded, Unavailable, Unspeakable
from frontend.contract.request import Urgency
from shm.messages import Connect, Disconnect, Distrust, Idle
from shm.situation import ProcessReport, Situation
from tests.frontend.desk import Desk, heard, listen, planned, spoken
from tests.frontend.scripted_worker import ENGINE, PER_TOKEN, RING, ScriptedWorker
from tests.frontend.several_workers import quiet


async def test_every_sample_of_every_segment_arrives_once_and_in_order(desk: Desk) -> None:
    worker = desk.worker(1)
    text = "one|two and|three"
    listener = listen(desk.open(text))
    await worker.speaks(1, 2, 3)
    assert np.array_equal(await heard(listener), spoken(text))
    await worker.hears_of_forgotten(1)


async def test_a_streams_first_segment_is_made_alone_and_then_two_at_a_time(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = desk.open("a|b|c|d")
    listener = listen(stream)
    first = await worker.has(1)
    await planned(stream)  # the second segment is known, and could go
    await quiet()
    assert len(worker.orders) == 1
    worker.seal(first, 0, 100)
    await worker.has(2)
    assert [order.script for order in worker.orders] == ["a", "b"]
    worker.seal(first, 100, PER_TOKEN)
    worker.end(first)
    await worker.has(3)
    assert [order.script for order in worker.orders] == ["a", "b", "c"]
    await worker.speaks(2, 3, 4)
    assert np.array_equal(await heard(listener), spoken("a|b|c|d"))


@pytest.mark.parametrize(("first_block", "goes"), [(0.3, True), (0.0, False)])
async def test_a_worker_that_takes_turns_has_a_segment_of_each_listener(
    desk: Desk, first_block: float, goes: bool
) -> None:
    """Else a listener would wait for the ends of others' segments. Where a segment is one block, they come first."""
    engine = msgspec.structs.replace(ENGINE, first_block=first_block, concurrency=2)
    worker = desk.worker(1, engine=engine, rings=8)
    listeners = [listen(desk.open(f"{name * 4}|{name}|last {name}", client=name)) for name in "abcdef"]
    await worker.has(6)
    for order in list(worker.orders):
        worker.seal(order, 0, 3 * PER_TOKEN)
    await quiet()
    # A second segment may have gone before the listener took the first one's samples.
    first, *second = [order for order in worker.orders if order.stream == worker.orders[0].stream]
    worker.seal(first, 3 * PER_TOKEN, 4 * PER_TOKEN)
    worker.end(first)
    for order in second:
        worker.speak(order)
    before = len(worker.orders)
    if goes:
        await worker.has(before + 1)
    await quiet()
    assert [order.stream for order in worker.orders[before:]] == [first.stream] * goes
    for listener in listeners:
        listener.cancel()


async def test_a_file_is_never_more_than_one_block_ahead_of_a_listener(desk: Desk) -> None:
    """A worker that makes segments whole has one of the file's in the making, and the next is the newcomer's."""
    worker = desk.worker(1)
    file = listen(desk.open("|".join("abcdefgh"), client="file", urgency=Urgency.WHOLE))
    worker.speak(await worker.has(1))
    await worker.has(3)
    await quiet()
    assert len(worker.orders) == 3, "one in the making, and one so that it never waits for the front"
    listener = listen(desk.open("now", client="listener"))
    mine = await worker.has(4)
    assert mine.script == "now" and mine.first_deadline < min(order.first_deadline for order in worker.orders[:3])
    worker.speak(mine)
    assert np.array_equal(await heard(listener), spoken("now"))
    file.cancel()


async def test_deadlines_follow_the_audio_before_them(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("first|second"))
    first = await worker.has(1)
    worker.speak(first)
    second = await worker.has(2)
    assert second.first_deadline > first.first_deadline
    worker.speak(second)
    await heard(listener)


async def test_each_sentence_has_a_noise_of_its_own_and_the_same_one_each_time(desk: Desk) -> None:
    """Breath noise that is the same in every sentence is heard as a pattern."""
    worker = desk.worker(1)
    listener = listen(desk.open("one|two|one"))
    await worker.speaks(1, 2, 3)
    await heard(listener)
    one, two, again = worker.orders
    assert one.seed == again.seed != two.seed


async def test_what_a_dead_worker_sealed_is_kept_and_the_rest_is_made_by_the_next(desk: Desk) -> None:
    first = desk.worker(1)
    text = "hello there|general"
    listener = listen(desk.open(text))
    order = await first.has(1)
    first.seal(order, 0, 333)
    desk.kill(first)
    second = desk.worker(2)
    resumed = await second.has(1)
    assert (resumed.segment, resumed.from_sample, resumed.generation) == (0, 333, 2)
    second.speak(resumed)
    second.speak(await second.has(2))
    assert np.array_equal(await heard(listener), spoken(text))


async def test_a_segment_that_was_sealed_whole_but_not_ended_is_not_heard_twice(desk: Desk) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("whole"))
    order = await first.has(1)
    first.seal(order, 0, 5 * PER_TOKEN)
    desk.kill(first)
    second = desk.worker(2)
    second.speak(await second.has(1))
    assert np.array_equal(await heard(listener), spoken("whole"))


async def die_on(desk: Desk, poison: str) -> None:
    """Generation after generation speaks everything but `poison`, on which it dies, having begun nothing after it."""
    for generation in range(1, 10):
        worker = desk.worker(generation)
        for count in range(1, 100):
            order = await worker.has(count)
            worker.begin(order)
            if order.script == poison:
                desk.kill(worker)
                break
            worker.speak(order)


async def test_a_segment_on_which_two_workers_died_fails_its_stream_and_no_other(desk: Desk) -> None:
    starter = desk.worker(0)
    poisoned = listen(desk.open("fine|poison|never"))
    healthy = [listen(desk.open(text)) for text in ("one|two|three", "four|five")]
    await starter.has(3)
    for order in starter.orders:
        starter.begin(order)
    desk.kill(starter)  # everything is a suspect now, and the healthy ones have a death on their account
    workers = asyncio.create_task(die_on(desk, "poison"))
    with pytest.raises(Broken):
        await heard(poisoned)
    assert np.array_equal(await heard(healthy[0]), spoken("one|two|three"))
    assert np.array_equal(await heard(healthy[1]), spoken("four|five"))
    workers.cancel()


async def test_a_wrong_crc_ends_the_generation_and_nothing_of_it_is_heard(desk: Desk) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("checked"))
    order = await first.has(1)
    commit = first.commit(order, 0, 200)
    first.send(msgspec.structs.replace(commit, crc32=commit.crc32 ^ 1))
    second = desk.worker(2)
    again = await second.has(1)
    assert again.from_sample == 0
    assert [m.generation for m in desk.told_of(Distrust)] == [1]
    second.speak(again)
    assert np.array_equal(await heard(listener), spoken("checked"))


@pytest.mark.parametrize("change", [{"generation": 9}, {"offset": 1}, {"position": 5}, {"samples": 0}])
async def test_a_commit_that_makes_no_sense_is_not_believed(desk: Desk, change: dict[str, int]) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("checked"))
    first.send(msgspec.structs.replace(first.commit(await first.has(1), 0, 200), **change))
    second = desk.worker(2)
    second.speak(await second.has(1))
    assert np.array_equal(await heard(listener), spoken("checked"))
    assert desk.told_of(Distrust)


async def test_an_end_that_leaves_samples_out_is_not_believed(desk: Desk) -> None:
    first = desk.worker(1)
    listener = listen(desk.open("short"))
    order = await first.has(1)
    first.seal(order, 0, 100)
    first.end(order)
    second = desk.worker(2)
    second.speak(await second.has(1))
    assert np.array_equal(await heard(listener), spoken("short"))


async def test_a_segment_that_cannot_be_made_ends_its_stream_there(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = desk.open("bad|good")
    bad = await worker.has(1)
    worker.seal(bad, 0, 100)
    good = await worker.has(2)
    worker.fail(bad, "no such phoneme")
    worker.speak(good)
    listener = listen(stream)
    with pytest.raises(Unspeakable, match="no such phoneme"):
        await heard(listener)


async def test_a_listener_who_does_not_read_holds_up_nobody_but_himself(desk: Desk) -> None:
    worker = desk.worker(1)
    long = "|".join("x" * 6 for _ in range(6))  # 10,080 samples each: two fit into a ring
    sleeper = desk.open(long)
    await worker.speaks(1, 2)
    listener = listen(desk.open("quick"))
    quick = await worker.has(3)
    assert quick.script == "quick", "the sleeper's third segment has no credit"
    worker.speak(quick)
    assert np.array_equal(await heard(listener), spoken("quick"))
    assert len([order for order in worker.orders if order.script != "quick"]) == 2
    awake = listen(sleeper)
    await worker.speaks(*range(4, 8))
    assert np.array_equal(await heard(awake), spoken(long))


async def test_a_segment_longer_than_a_ring_goes_when_the_ring_is_empty(desk: Desk) -> None:
    worker = desk.worker(1)
    text = "y" * 20
    listener = listen(desk.open(text))
    order = await worker.has(1)
    worker.seal(order, 0, RING)
    while not worker._rings[order.stream].room:
        worker._news.clear()
        await worker._news.wait()
    worker.seal(order, RING, 20 * PER_TOKEN)
    worker.end(order)
    assert np.array_equal(await heard(listener), spoken(text))


async def test_a_listener_who_leaves_gives_the_ring_back_at_once(desk: Desk) -> None:
    worker = desk.worker(1, rings=1)
    leaver = desk.open("going|gone")
    worker.seal(await worker.has(1), 0, 100)
    waiting = listen(desk.open("next"))
    await worker.has(2)
    leaver.close()
    await worker.hears_of_forgotten(1)
    order = await worker.has(3)
    assert order.script == "next"
    worker.speak(order)
    assert np.array_equal(await heard(waiting), spoken("next"))


async def test_what_comes_late_for_a_listener_who_left_is_ignored(desk: Desk) -> None:
    worker = desk.worker(1)
    leaver = desk.open("late")
    order = await worker.has(1)
    late = worker.commit(order, 0, 100)
    leaver.close()
    worker.send(late)
    worker.end(order)
    listener = listen(desk.open("next"))
    worker.speak(await worker.has(2))
    assert np.array_equal(await heard(listener), spoken("next"))
    assert not desk.told_of(Distrust)


async def test_without_speech_in_the_text_the_stream_says_so(desk: Desk) -> None:
    desk.worker(1)
    with pytest.raises(NothingToSpeak):
        await heard(listen(desk.open("||")))


async def test_before_any_worker_was_there_requests_are_refused_with_the_reason(desk: Desk) -> None:
    desk.scheduler.situation(Situation("starting", "the worker is starting", {}))
    with pytest.raises(Unavailable, match="the worker is starting"):
        desk.open("hello")


async def test_while_the_worker_is_restarted_requests_wait(desk: Desk) -> None:
    first = desk.worker(1)
    stream = desk.open("before")
    await first.has(1)
    desk.kill(first)
    listeners = [listen(stream), listen(desk.open("during"))]
    second = desk.worker(2)
    await second.speaks(1, 2)
    assert [len(await heard(listener)) for listener in listeners] == [6 * PER_TOKEN] * 2


async def test_a_worker_that_is_given_up_ends_the_streams_that_wait_for_it(desk: Desk) -> None:
    worker = desk.worker(1)
    listener = listen(desk.open("hello"))
    await worker.has(1)
    desk.scheduler.disconnect(Disconnect(1))
    again = time.monotonic() + 50.0
    report = ProcessReport(role="worker", state="fatal", next_start=again)
    later = ProcessReport(role="worker", state="fatal", next_start=again + 300.0)
    desk.scheduler.situation(Situation("fatal", "it keeps dying", {}, processes=(later, report)))
    with pytest.raises(Unavailable, match=r"keeps dying; the next try is in \d+ s") as refused:
        await heard(listener)
    assert again - time.monotonic() < refused.value.retry_after <= 50.0, "the first of them"
    assert desk.scheduler.engine is None
    with pytest.raises(Unavailable):
        desk.open("again")


async def test_too_many_streams_are_refused(desk: Desk) -> None:
    desk.worker(1)
    streams = [desk.open("x") for _ in range(8)]
    with pytest.raises(Overloaded, match="8 requests") as refused:
        desk.open("one too many")
    assert refused.value.retry_after >= 1
    streams[0].close()
    desk.open("fits")


async def test_a_stream_keeps_its_engine_when_another_takes_over_and_new_ones_get_the_new(desk: Desk) -> None:
    old = desk.worker(1)
    text = "a|b|c|d"
    listener = listen(desk.open(text))
    await old.has(1)
    other = msgspec.structs.replace(ENGINE, model="other.onnx")
    new = desk.worker(2, engine=other)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    await old.speaks(1, 2, 3, 4)
    assert np.array_equal(await heard(listener), spoken(text))
    assert desk.told_of(Idle) == [Idle(1)]
    fresh = desk.open("new")
    assert fresh.engine == other
    listener = listen(fresh)
    new.speak(await new.has(1))
    assert np.array_equal(await heard(listener), spoken("new"))


async def test_a_stream_moves_to_the_next_generation_of_the_same_engine(desk: Desk) -> None:
    old = desk.worker(1)
    text = "a|b|c|d"
    listener = listen(desk.open(text))
    first = await old.has(1)
    old.seal(first, 0, 100)
    second = await old.has(2)
    new = desk.worker(2)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    old.seal(first, 100, PER_TOKEN)
    old.end(first)
    old.speak(second)
    await new.speaks(1, 2)
    assert [order.script for order in new.orders] == ["c", "d"]
    assert np.array_equal(await heard(listener), spoken(text))
    assert desk.told_of(Idle) == [Idle(1)]


async def test_an_idle_generation_that_is_to_drain_is_reported_at_once(desk: Desk) -> None:
    desk.worker(1)
    desk.worker(2)
    desk.scheduler.disconnect(Disconnect(1, draining=True))
    assert desk.told_of(Idle) == [Idle(1)]


async def test_a_connect_without_an_engine_is_refused() -> None:
    desk = Desk()
    worker = ScriptedWorker(1)
    with pytest.raises(ValueError, match="engine"):
        desk.scheduler.connect(Connect(1, 4, RING), worker.fds)
