"""Admission of listeners, of one client's bursts, of whole clips, and on a machine that is full."""

import asyncio
import time
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest

from frontend.contract.errors import Overloaded
from frontend.contract.growing_text import GrowingText
from frontend.contract.progress import Progress
from frontend.contract.request import Urgency
from frontend.planning.profile import GUESS
from frontend.scheduling.admission import FIRST_AUDIO_TARGET
from frontend.streams.stream import YIELD, Stream
from shm.audio import SAMPLE_RATE
from shm.messages import Done, SegmentOrder
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scripted_worker import DEADLINE, ENGINE, PER_TOKEN, ScriptedWorker, samples_of
from tests.frontend.several_workers import quiet

AUDIO = GUESS.audio_per_token
"""Seconds that a character of a script is expected to sound before anything was measured."""


def slowly(worker: ScriptedWorker, order: SegmentOrder, factor: float) -> None:
    """Speak an order, and say that it took `factor` times as long as it sounds."""
    samples = len(samples_of(order.script))
    worker.seal(order, 0, samples)
    worker.send(Done(worker.generation, order.stream, order.segment, samples, factor * samples / SAMPLE_RATE))


async def measured(desk: Desk, worker: ScriptedWorker, factor: float) -> None:
    """Let the front see how slow the engine is."""
    listener = listen(desk.open("how fast?", client="before"))
    slowly(worker, await worker.has(1), factor)
    await heard(listener)


async def opened(desk: Desk, text: str, **fields: object) -> Stream:
    """A stream that has been read to its end, and admitted."""
    stream = desk.open(text, **fields)
    assert isinstance(stream, Stream)
    async with asyncio.timeout(DEADLINE):
        await stream._planning
    return stream


async def test_a_listener_s_first_sample_is_due_soon_and_a_clip_s_when_it_would_have_been_heard(desk: Desk) -> None:
    desk.worker(1)
    text = "a text of forty characters, more or less"
    listener = await opened(desk, text, client="a")
    assert listener.timing.first_due - listener.timing.arrival == pytest.approx(FIRST_AUDIO_TARGET)
    clip = await opened(desk, text, client="b", urgency=Urgency.WHOLE)
    assert clip.timing.first_due - clip.timing.arrival == pytest.approx(len(text) * AUDIO, rel=0.01)
    listener.close()
    clip.close()
    idle = await opened(desk, text, client="c", urgency=Urgency.IDLE)
    assert idle.timing.first_due - idle.timing.arrival > 3600


async def test_of_a_burst_each_is_due_when_the_one_before_it_was_heard_and_nobody_else_waits(desk: Desk) -> None:
    desk.worker(1)
    burst = [await opened(desk, "x" * 50, client="burst") for _ in range(4)]
    other = await opened(desk, "y", client="another")
    assert [later.timing.first_due - earlier.timing.first_due for earlier, later in pairwise(burst)] == [
        pytest.approx(50 * AUDIO, rel=0.01)
    ] * 3
    assert other.timing.first_due - other.timing.arrival == pytest.approx(FIRST_AUDIO_TARGET)
    assert other.timing.first_due < burst[1].timing.first_due


async def test_what_is_heard_already_does_not_keep_its_client_s_next_request_waiting(desk: Desk) -> None:
    worker = desk.worker(1)
    first = await opened(desk, "first|next", client="me")
    order = await worker.has(1)
    worker.seal(order, 0, PER_TOKEN)
    await worker.has(2)
    assert first.timing.sounds
    second = await opened(desk, "y", client="me")
    assert second.timing.first_due - second.timing.arrival == pytest.approx(FIRST_AUDIO_TARGET)


async def test_a_long_text_does_not_keep_its_own_client_s_next_request_waiting(desk: Desk) -> None:
    desk.worker(1)
    await opened(desk, "x" * 400, client="me")
    second = await opened(desk, "y", client="me")
    assert second.timing.first_due - second.timing.arrival == pytest.approx(FIRST_AUDIO_TARGET)


async def test_before_anything_was_measured_nobody_is_refused(desk: Desk) -> None:
    worker = desk.worker(1, rings=8)
    for client in range(6):
        listen(desk.open("x" * 200, client=str(client)))
    await worker.has(6)


async def test_what_cannot_be_served_in_time_is_refused_and_told_when(desk: Desk) -> None:
    worker = desk.worker(1, rings=8)
    await measured(desk, worker, 0.6)
    text = "|".join(["x" * 12] * 80)
    first = desk.open(text, client="a")
    await worker.has(2)
    with pytest.raises(Overloaded) as refused:
        await heard(listen(desk.open(text, client="b")))
    left = 80 * 12 * AUDIO
    assert 5 < refused.value.retry_after < left, "the first one needs six tenths of the machine as long as it lasts"
    first.close()
    desk.open(text, client="b")
    await worker.has(3)


async def test_of_a_crowd_that_comes_at_once_those_are_refused_whose_prosody_has_no_time(desk: Desk) -> None:
    """Four of them could play at once; but each needs four tenths of a second of all cores before its first window."""
    engine = msgspec.structs.replace(ENGINE, first_block=0.3, concurrency=2)
    desk.worker(1, engine=engine, rings=8)
    account = desk.scheduler._shared.ledger.of(engine)
    account.observe(60, 1.0, 60 * PER_TOKEN, seconds=0.8, prosody_seconds=0.4, load=1.0)
    for client in "abc":
        assert not (await opened(desk, "x" * 60, client=client)).failed
    with pytest.raises(Overloaded) as refused:
        await heard(listen(desk.open("x" * 60, client="d")))
    assert refused.value.retry_after < 2


async def test_the_prosody_of_a_sounding_segment_is_done(desk: Desk) -> None:
    engine = msgspec.structs.replace(ENGINE, first_block=0.3, concurrency=2)
    worker = desk.worker(1, engine=engine, rings=8, ring=60 * PER_TOKEN)
    account = desk.scheduler._shared.ledger.of(engine)
    account.observe(60, 1.0, 60 * PER_TOKEN, seconds=0.8, prosody_seconds=0.4, load=1.0)
    for count, client in enumerate("abc", start=1):
        stream = await opened(desk, "x" * 60, client=client)
        worker.seal(await worker.has(count), 0, 5 * PER_TOKEN)
        await quiet()
        assert stream.timing.sounds
    assert not (await opened(desk, "x" * 60, client="d")).failed


async def test_who_is_alone_is_served_however_slow_the_machine_is(desk: Desk) -> None:
    worker = desk.worker(1)
    await measured(desk, worker, 5.0)
    listener = listen(desk.open("x" * 10, client="a"))
    slowly(worker, await worker.has(2), 5.0)
    await heard(listener)


async def test_a_long_text_on_a_machine_that_is_slower_than_speech_keeps_no_short_one_out(desk: Desk) -> None:
    """The long one's listener has four seconds to hear, and uses half of the machine for good; the rest is free."""
    worker = desk.worker(1, rings=8, ring=200 * PER_TOKEN)
    await measured(desk, worker, 1.5)
    long = desk.open("|".join(["x" * 60] + ["x" * 12] * 150), client="a")
    listeners = [listen(long)]
    slowly(worker, await worker.has(2), 1.5)
    await worker.has(3)
    short = await opened(desk, "short", client="b")
    assert not short.failed
    short.close()
    listeners[0].cancel()


@pytest.mark.parametrize(("urgency", "gaps"), [(Urgency.LISTENING, 1), (Urgency.WHOLE, 0)])
async def test_a_gap_is_counted_if_a_listener_hears_it_and_moves_the_clock(
    desk: Desk, urgency: Urgency, gaps: int
) -> None:
    """A clip that is collected whole has none, however late its second half is."""
    worker = desk.worker(1)
    stream = desk.open("a|b", urgency=urgency)
    listener = listen(stream)
    worker.speak(await worker.has(1))
    order = await worker.has(2)
    stream.playback.since -= 60.0  # type: ignore[attr-defined]  # as if a minute had gone by
    worker.speak(order)
    await heard(listener)
    assert desk.metrics.registry.get_sample_value("kokoro_live_stream_underruns_total") == gaps
    assert stream.timing.starts > stream.timing.arrival - 5  # type: ignore[attr-defined]


async def test_a_rejected_client_is_sent_away_for_a_minute_at_most(desk: Desk) -> None:
    worker = desk.worker(1, rings=8)
    await measured(desk, worker, 0.9)
    text = "|".join(["x" * 300] * 200)
    desk.open(text, client="a")
    await worker.has(2)
    with pytest.raises(Overloaded, match=r"[0-9]{3,}\.[0-9] seconds") as refused:
        await heard(listen(desk.open(text, client="b")))
    assert refused.value.retry_after == 60.0


async def test_the_ratio_of_demand_follows_the_streams(desk: Desk) -> None:
    worker = desk.worker(1, rings=8)
    assert desk.scheduler.demand == 0.0
    await measured(desk, worker, 0.3)
    text = "|".join(["x" * 12] * 300)  # each lasts long enough for its share to count
    first = desk.open(text, client="a")
    await worker.has(2)
    alone = desk.scheduler.demand
    assert alone == pytest.approx(0.3, rel=0.2)
    second = desk.open(text, client="b")
    async with asyncio.timeout(DEADLINE):
        assert await second.accepted()
    assert desk.scheduler.demand == pytest.approx(2 * alone, rel=0.2)
    first.close()
    second.close()
    assert desk.scheduler.demand == 0.0


async def test_before_anything_was_measured_no_demand_is_known(desk: Desk) -> None:
    worker = desk.worker(1)
    desk.open("x" * 200)
    await worker.has(1)
    assert desk.scheduler.demand is None


async def test_a_place_is_free_when_its_listener_has_played_what_they_hold_back() -> None:
    desk = Desk()
    worker = desk.worker(1, rings=8)
    await measured(desk, worker, 0.01)
    streams = [desk.open("x" * 8, client=str(number)) for number in range(8)]
    pieces = [aiter(stream) for stream in streams]
    await worker.speaks(*range(2, 10))
    for piece in pieces:  # each is given a piece and asks for no more
        await anext(piece)
    with pytest.raises(Overloaded) as refused:
        desk.open("one too many", client="late")
    ready = min(stream.segments.ready for stream in streams) / SAMPLE_RATE
    assert refused.value.retry_after >= ready
    desk.close()


# Files: they need no real time, so they are never rejected for lack of it, and cost no listener a place.


async def test_a_file_is_never_refused_for_lack_of_time_and_keeps_no_listener_out(desk: Desk) -> None:
    worker = desk.worker(1, rings=8)
    await measured(desk, worker, 0.6)
    text = "|".join(["x" * 12] * 80)
    for number in range(3):
        assert await desk.open(text, client=f"file {number}", urgency=Urgency.WHOLE).accepted()
    assert await desk.open(text, client="listener").accepted()
    assert await desk.open(text, client="file 4", urgency=Urgency.WHOLE).accepted()
    with pytest.raises(Overloaded):
        await heard(listen(desk.open(text, client="one too many")))


async def test_a_late_file_comes_after_every_listener_who_has_little_left_to_hear(desk: Desk) -> None:
    """It is late though this front has just got it from one that was killed."""
    desk.worker(1, rings=8)
    came = Progress(again=True, arrived=time.monotonic() - 100)
    file = await opened(desk, "x" * 400, client="file", urgency=Urgency.WHOLE, progress=came)
    listener = await opened(desk, "y" * 40, client="listener")
    assert listener.timing.deadline(listener.segments[0]) < file.timing.deadline(file.segments[0])
    left = file.timing.deadline(file.segments[0]) - time.monotonic()
    assert left == pytest.approx(YIELD, abs=0.5), "and before those who have more"


async def test_voice_agents_have_a_share_that_nobody_else_takes(desk: Desk) -> None:
    """Nine tenths of the machine have no room for the second listener beside the first one; all of it has."""
    worker = desk.worker(1, rings=8)
    await measured(desk, worker, 0.36)
    text = "|".join(["x" * 12] * 80)
    assert await desk.open(text, client="a").accepted()
    with pytest.raises(Overloaded):
        await heard(listen(desk.open(text, client="listener")))
    assert await desk.open(text, client="agent", growing=GrowingText()).accepted()


async def test_places_are_kept_for_voice_agents_too(desk: Desk) -> None:
    shared = desk.scheduler._shared
    shared.settings = replace(shared.settings, max_streams=4, agent_reserve=0.25)
    desk.worker(1, rings=8)
    for client in "abc":
        desk.open("x", client=client, urgency=Urgency.WHOLE)
    with pytest.raises(Overloaded):
        desk.open("x", client="d", urgency=Urgency.WHOLE)
    desk.open("x", client="agent", growing=GrowingText())
