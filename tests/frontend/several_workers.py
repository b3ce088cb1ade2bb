"""Two workers and what happens to them, for the tests of several at once."""

import asyncio

import msgspec

from shm.audio import Pcm
from shm.messages import SegmentOrder
from tests.frontend.desk import Desk, listen
from tests.frontend.scripted_worker import ENGINE, ScriptedWorker

OTHER = msgspec.structs.replace(ENGINE, model="other.onnx", model_sha256="1")


def pair(desk: Desk, **options: object) -> tuple[ScriptedWorker, ScriptedWorker]:
    return desk.worker(1, slot=0, **options), desk.worker(2, slot=1, **options)


async def quiet() -> None:
    """Let everything that has been said be read and followed: pipes are ready at once, a few rounds of the loop do."""
    for _ in range(20):
        await asyncio.sleep(0)


async def split(
    desk: Desk, text: str
) -> tuple[ScriptedWorker, ScriptedWorker, asyncio.Task[Pcm], SegmentOrder, SegmentOrder]:
    """A stream whose first segment is in the making at one worker, its second at the other."""
    one, two = pair(desk)
    listener = listen(desk.open(text))
    first = await one.has(1)
    one.begin(first)
    one.seal(first, 0, 100)
    second = await two.has(1)
    assert (first.segment, second.segment) == (0, 1)
    return one, two, listener, first, second


async def rest(worker: ScriptedWorker, first: int, *listeners: asyncio.Task[Pcm]) -> None:
    """Speak every order from number `first` on, until the listeners have heard all."""

    async def speak() -> None:
        for count in range(first, 1000):
            worker.speak(await worker.has(count))

    speaking = asyncio.create_task(speak())
    listening = asyncio.gather(*listeners)
    await asyncio.wait([listening, speaking], return_when=asyncio.FIRST_COMPLETED)
    if not listening.done():
        await speaking
    speaking.cancel()
