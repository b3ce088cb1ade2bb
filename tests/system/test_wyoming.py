"""The Wyoming port of the whole server: killed workers, replaced fronts, figures, the port's own settings."""

import asyncio
import signal
from contextlib import closing
from pathlib import Path
from queue import Queue

import numpy as np
import pytest
from wyoming.event import Event
from wyoming.info import Describe
from wyoming.tts import SynthesizeChunk, SynthesizeStart, SynthesizeStop
from zeroconf import ServiceBrowser, ServiceStateChange, Zeroconf

from frontend.dialects.wyoming.announcement import SERVICE
from shm.audio import Pcm
from tests.frontend.wyoming_desk import Client, pcm
from tests.system.oracle import sentences
from tests.system.server import DEADLINE, Server, server
from tests.system.shared import SharedServer

TEXT = sentences(6)


class Browser(ServiceBrowser):
    """Tells of each Wyoming service that appears or ends."""

    def __init__(self, network: Zeroconf, seen: Queue[tuple[ServiceStateChange, str]]) -> None:
        def tell(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
            if state_change is not ServiceStateChange.Updated:
                seen.put((state_change, name))

        super().__init__(network, SERVICE, handlers=[tell])

    def close(self) -> None:
        self.cancel()


def port_of(target: Server) -> int:
    return int(target.logs(r"answered on tcp://127\.0\.0\.1:(\d+)")[1])


def client(of: Server) -> Client:
    return Client("127.0.0.1", port_of(of))


async def heard(of: Server, kill: bool = False) -> Pcm:
    """A text that is written word by word; the worker is killed at its first audio if `kill`."""
    async with client(of) as house:
        await house.say(SynthesizeStart())
        half = TEXT.index(" ", len(TEXT) // 2)
        for word in TEXT[:half].split(" "):
            await house.say(SynthesizeChunk(f"{word} "))
        events: list[Event] = await house.until("audio-chunk")
        if kill:
            of.child("worker").kill()
        for word in TEXT[half + 1 :].split(" "):
            await house.say(SynthesizeChunk(f"{word} "))
        await house.say(SynthesizeStop())
        return pcm(events + await house.until("synthesize-stopped"))


async def test_a_worker_killed_within_a_text_changes_no_sample(miniature: Server) -> None:
    undisturbed = await heard(miniature)
    assert len(undisturbed) > 24_000
    assert np.array_equal(await heard(miniature, kill=True), undisturbed)
    status = (await asyncio.to_thread(miniature.get, "/status"))[1]
    assert (status["sockets"]["wyoming"], status["contexts"], status["active_streams"]) == (0, 0, 0)
    assert 'kokoro_live_sockets{protocol="wyoming"} 0.0' in (await asyncio.to_thread(miniature.get, "/metrics"))[1]


async def test_a_killed_front_refuses_nobody(miniature: Server) -> None:
    async with client(miniature) as before:
        await before.say(Describe())
        await before.until("info")
        miniature.child("front").kill()
        # The supervisor keeps the connection until another front is there, and so it does a new client's.
        await before.say(Describe())
        await before.until("info")
    assert len(await heard(miniature)) > 24_000


@pytest.mark.slow
async def test_a_replaced_front_finishes_its_texts_and_the_port_stays_announced(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("wyoming_port = 0\nwyoming_zeroconf = true\nmax_input_characters = 5000\n")
    seen: Queue[tuple[ServiceStateChange, str]] = Queue()
    with (
        Zeroconf(interfaces=["127.0.0.1"]) as network,
        closing(Browser(network, seen)),
        server("--engine", "espeak", "--config", str(config)) as target,
    ):
        change, name = await asyncio.to_thread(seen.get, timeout=DEADLINE)
        assert change is ServiceStateChange.Added and name.startswith("kokoro-live on ")
        found = await asyncio.to_thread(network.get_service_info, SERVICE, name)
        assert found is not None and found.parsed_addresses() == ["127.0.0.1"]
        async with Client("127.0.0.1", found.port or 0) as writing:
            await writing.say(SynthesizeStart())
            await writing.say(SynthesizeChunk(TEXT))
            await writing.until("audio-chunk")
            config.write_text("wyoming_port = 0\nwyoming_zeroconf = true\nmax_input_characters = 6000\n")
            target.process.send_signal(signal.SIGHUP)
            await writing.until("synthesize-stopped")  # the draining front takes the text to be whole
        await asyncio.to_thread(target.logs, r"front\[\d+\] has finished")
        async with client(target) as after:
            await after.say(Describe())
            await after.until("info")
        assert seen.empty()
        assert await asyncio.to_thread(target.stop) == 0
        assert await asyncio.to_thread(seen.get, timeout=DEADLINE) == (ServiceStateChange.Removed, name)


def test_the_port_is_off_unless_it_is_given(plain: SharedServer) -> None:
    target = plain.calm()
    assert not any("tcp://" in line for line in target.log)
    assert "wyoming" not in target.get("/status")[1]["sockets"]
