"""Yardsticks on the way: voice agents, listeners of a core, a writer killed while it sends, kills in parts, pauses."""

import asyncio
import base64
import itertools
import json
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import Mock

import aiohttp
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from benchmarks import queues
from benchmarks.agents import listeners
from benchmarks.agents.listeners import AT_ONCE, Heard, hear
from benchmarks.agents.ways import WAYS, Server, Written, sentences_of
from benchmarks.chaos import COLUMNS, added, arguments_of
from benchmarks.chaos_forms import places_of
from benchmarks.listeners_per_core import carried, needs
from benchmarks.measuring.playback import FirstAudible, play
from benchmarks.queues import Pipes, SimpleQueue, one_kill
from shm.audio import SAMPLE_RATE
from tests.chaos.kill_points import FRONT


@pytest.mark.parametrize("size", [1, 333, 10_000])
def test_sound_begins_with_the_first_10_ms_above_the_limit(size: int) -> None:
    hiss = np.full(SAMPLE_RATE, 300, "<i2")
    click = np.zeros(240, "<i2")
    click[5] = 4000
    voice = np.full(SAMPLE_RATE, 400, "<i2")
    data = np.concatenate([hiss, click, voice]).tobytes()
    heard = Heard()
    for start in range(0, len(data), size):
        heard.take(data[start : start + size], SAMPLE_RATE)
        if heard.sound is not None:
            break
    taken = sum(count for _, count in heard.arrivals) // 2
    assert len(hiss) + len(click) + 240 <= taken <= len(hiss) + len(click) + 240 + size


async def test_sentences_are_cut_when_the_next_begins() -> None:
    async def written() -> AsyncIterator[str]:
        for token in ("It", " rains", ".", " It", " is", " 3", ".5", "!", " End"):
            yield token

    assert [each async for each in sentences_of(written())] == ["It rains.", "It is 3.5!", "End"]


LOUD = np.full(SAMPLE_RATE, 9000, "<i2").tobytes()


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("elevenlabs", json.dumps({"audio": base64.b64encode(LOUD).decode()})),
        ("cartesia", json.dumps({"type": "chunk", "data": base64.b64encode(LOUD).decode()})),
        ("deepgram", LOUD),
    ],
)
async def test_an_answer_whose_socket_closes_before_its_end_is_cut(way: str, message: str | bytes) -> None:
    async def one_second(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await (socket.send_str(message) if isinstance(message, str) else socket.send_bytes(message))
        await socket.close()
        return socket

    app = web.Application()
    app.router.add_get("/{any:.*}", one_second)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        heard = await hear(way, Server(str(server.make_url("")).rstrip("/"), "v", "", session), "A word.", AT_ONCE)
    assert (heard.sound is not None, heard.playback.audio_seconds) == (True, 1.0)
    with pytest.raises(ConnectionError, match="closed"):
        heard.assert_whole()


@pytest.mark.parametrize("survives", [True, False])
async def test_a_kill_is_told_by_the_answer_and_by_who_asks_then(
    survives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server speaks four seconds at once; killed, it refuses, and speaks again at the third try, if at all."""
    tries = itertools.count()
    dead = asyncio.Event()

    async def spoken(server: Server, written: Written) -> AsyncIterator[bytes]:
        if dead.is_set() and not (survives and next(tries) > 1):
            raise ConnectionError("refused")
        for _ in range(4):
            yield LOUD
            await asyncio.sleep(0)
            if dead.is_set() and not survives:
                raise ConnectionError("cut")

    monkeypatch.setitem(WAYS, "fake", spoken)
    monkeypatch.setattr(listeners, "PATIENCE", 0.3)
    found = await listeners.killed("fake", Mock(), "A text.", AT_ONCE, dead.set, 0.0)
    assert (found.whole, found.cut, found.newcomer is None) == (survives, not survives, not survives)
    assert found.share == 1.0 if survives else found.share < 1


@pytest.mark.slow
def test_a_server_is_heard_in_each_way(tmp_path: Path) -> None:
    options = ["--engine", "espeak", "--answers", "3", "--rates", "300", "--listeners", "1", "--kills", "1"]
    options += ["--out", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.agents", *options], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for way in {*WAYS} - {"espeak-ng"}:
        assert f"| kokoro-live, {way} | 300 | 1 |" in ran.stdout
        for role in ("worker", "front"):
            assert f"| kokoro-live, {way} | {role} | 1 | 1 |" in ran.stdout
    page = (tmp_path / "bench.html").read_text()
    assert page.count("<table>") == 2 and page.count("<img ") == 3


@pytest.mark.parametrize("first", [0, 1, 4, 5, 6, 30])
def test_the_largest_number_is_found_from_wherever_the_search_begins(first: int) -> None:
    assert carried(lambda count: count <= 5, first) == 5


def test_crowds_need_cores_with_a_reserve_of_three_tenths() -> None:
    rows = {row[0]: row[1:] for row in needs(2.0).rows}
    assert rows == {20: [15, 5], 200: [143, 48], 2000: [1429, 477]}


@pytest.mark.parametrize("size", [300, 60_000])
def test_the_other_writer_is_heard_when_each_has_a_pipe(size: int) -> None:
    draw, open_before = random.Random(1), len(list(Path("/proc/self/fd").iterdir()))
    assert not any(one_kill(Pipes, size, draw) for _ in range(8))
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


def test_a_killed_writer_takes_the_queues_lock_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "PATIENCE", 0.5)
    draw = random.Random(1)
    found = (one_kill(SimpleQueue, 60_000, draw) for _ in range(40))
    assert "the next writer waits for the dead one's lock" in found  # three of four kills


def part(kills: int, residue: str = "none", *broken: str) -> dict[str, object]:
    return {**dict.fromkeys(COLUMNS, kills), "residue": residue, "broken": list(broken), "seed": 1, "minutes": 2.0}


def test_parts_of_a_form_add_up_and_keep_what_was_broken() -> None:
    found = added(part(300, "CHANGED", "sealed: a stream is not whole"), part(600))
    assert [found[column] for column in COLUMNS] == [900] * len(COLUMNS)
    assert (found["residue"], found["broken"], found["minutes"]) == ("CHANGED", ["sealed: a stream is not whole"], 4.0)


def test_the_parts_of_the_fronts_kill_points_are_all_of_them() -> None:
    first, second = list(FRONT)[:4], list(FRONT)[4:]
    parts = [
        places_of("front", arguments_of(["--points", ",".join(each), "--kinds", "front-points"]).points)
        for each in (first, second)
    ]
    assert parts[0] | parts[1] == FRONT and not parts[0].keys() & parts[1].keys()


SECOND = 2 * SAMPLE_RATE
"""Bytes."""


def pcm(*samples: int) -> bytes:
    return np.array(samples, dtype="<i2").tobytes()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_first_audible_sample_is_found_however_the_bytes_are_cut(size: int) -> None:
    """Silence up to the threshold, then -65: sample 5, in whichever piece its second byte is."""
    data = pcm(0, 64, -64, 0, 10, -65, 0, 3000)
    first = FirstAudible()
    found = [start for start in range(0, len(data), size) if first.push(data[start : start + size])]
    assert first.sample == 5
    assert len(found) == 1
    assert found[0] <= 11 < found[0] + size


def test_what_comes_ahead_of_its_time_has_no_gap() -> None:
    """A second of audio at 0, then at 0.5 and 1.9: each before the listener has nothing left."""
    found = play([(0.0, SECOND), (0.5, SECOND), (1.9, SECOND)])
    assert (found.underruns, found.gap_seconds, found.audio_seconds) == (0, 0.0, 3.0)


def test_each_late_piece_is_one_gap_and_moves_the_clock() -> None:
    """Due at 11 and there at 11.5: half a second's gap; then 13 is due at 12.5, and the next in time at 13.9."""
    found = play([(10.0, SECOND), (11.5, SECOND), (13.0, SECOND), (13.9, SECOND)])
    assert found.underruns == 2
    assert found.gap_seconds == pytest.approx(1.0)


def test_less_than_a_player_has_in_hand_is_no_gap() -> None:
    """A piece 10 ms late is none; but lateness adds up until it is one."""
    tenth = SECOND // 10
    assert not play([(0.0, tenth), (0.11, tenth)]).underruns
    assert play([(0.0, tenth), (0.11, tenth), (0.22, tenth), (0.33, tenth)]).underruns == 1
