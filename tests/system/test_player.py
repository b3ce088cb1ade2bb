"""The player on a recording sound card, with a model whose samples say where they belong."""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psutil
import pytest

from player.track import ORDINARY
from shm.audio import SAMPLE_RATE, Pcm
from tests.system.oracle import miniature_arguments, samples_of, sentence_starts, sentences
from tests.system.server import DEADLINE, ROOT, Server, server
from tests.system.sound_card import Recording, SoundCard, audible, needs_pulseaudio, whole

pytestmark = [needs_pulseaudio, pytest.mark.timeout(240)]

BUFFER = {"KOKORO_LIVE_PLAY_BUFFER_MS": "800"}
"""The test machine may be as busy as it likes."""
RING = 1
"""Second: what is later in a text is made while its beginning sounds."""


@pytest.fixture(scope="module")
def speaking(card: SoundCard, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("model")
    arguments = (*miniature_arguments(folder), "--ring-seconds", str(RING))
    with server(*arguments, environment=card.environment | BUFFER) as found:
        yield found


PROMPT = 10
RELAXED = 50
"""Milliseconds that a recorded sample may come late."""


@pytest.fixture
def recording(request: pytest.FixtureRequest, card: SoundCard, speaking: Server) -> Iterator[Recording]:
    found = card.record(latency=getattr(request, "param", RELAXED))
    yield found
    speaking.post("/v1/play/stop", {})
    found.silence()
    found.close()


def play(to: Server, text: str, **fields: object) -> str:
    status, answer = to.post("/v1/play", {"input": text, **fields})
    assert status == 202, answer
    name: str = answer["id"]
    return name


def wait_until(to: Server, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Follow the player's events until a state fulfils the condition."""
    with contextlib.closing(to.connect()) as connection:
        connection.request("GET", "/v1/play/events")
        response = connection.getresponse()
        while line := response.readline():
            if line.startswith(b'data: {"state"'):
                state: dict[str, Any] = json.loads(line[6:])
                if condition(state):
                    return state
    raise AssertionError("the events ended")


def in_sentence(number: int) -> Callable[[dict[str, Any]], bool]:
    return lambda state: state["state"] == "playing" and state["sentence_number"] == number


def idle(state: dict[str, Any]) -> bool:
    return bool(state["state"] == "idle")


def finished(to: Server, recording: Recording, start: int = 0) -> Pcm:
    """Wait until all was played; what was recorded from sample `start` on."""
    wait_until(to, idle)
    recording.silence()
    return recording.samples[start:]


def heard(recorded: Pcm, wanted: Pcm) -> bool:
    """True if `wanted` was recorded, each sample once and in order."""
    return whole(recorded, wanted) is not None


def test_each_sample_sounds_once_in_order_though_the_worker_and_the_front_die(
    speaking: Server, recording: Recording
) -> None:
    text = sentences(8)
    wanted = samples_of(text, numbered=True)
    assert len(wanted) > ORDINARY + RING * SAMPLE_RATE
    play(speaking, text)
    for number, role in enumerate(("worker", "front")):  # the rest is made while these sentences sound
        wait_until(speaking, in_sentence(number))
        for process in speaking.children(role):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    recorded = finished(speaking, recording)
    # On a busy machine two heirs in a row may be late; then there is silence, and nothing else.
    assert heard(recorded[recorded != 0], wanted[wanted != 0])
    assert len(audible(recorded)) == len(audible(wanted)), "nothing else sounded"


@pytest.mark.parametrize("recording", [PROMPT], indirect=True)
@pytest.mark.parametrize(("verb", "limit"), [("pause", 0.06), ("stop", 0.1)])
def test_silence_comes_at_once(speaking: Server, recording: Recording, verb: str, limit: float) -> None:
    def silenced() -> bool:
        play(speaking, sentences(4))
        wait_until(speaking, in_sentence(0))
        _, state = speaking.post(f"/v1/play/{verb}", {})
        mark = len(recording)
        assert state["state"] == ("idle" if verb == "stop" else "paused")
        after = recording.wait_for(lambda samples: len(samples) > SAMPLE_RATE, mark)
        assert audible(after[SAMPLE_RATE // 2 :]).size == 0
        return audible(after[round(limit * SAMPLE_RATE) :]).size == 0

    # On a busy machine the recorder is late itself.
    assert any(silenced() for _ in range(5))


def test_a_pause_loses_nothing(speaking: Server, recording: Recording) -> None:
    text = sentences(2)
    play(speaking, text)
    wait_until(speaking, in_sentence(1))
    speaking.post("/v1/play/pause", {})
    mark = len(recording)
    recording.wait_for(lambda samples: len(samples) > SAMPLE_RATE, mark)
    before, mark = recording.samples, len(recording)
    speaking.post("/v1/play/resume", {})
    after = finished(speaking, recording, mark)
    after = after[audible(after)[0] :]
    wanted = samples_of(text, numbered=True)
    rest = after[SAMPLE_RATE // 10 : audible(after)[-1] + 1]  # after the fade
    end = int(audible(wanted)[-1]) + 1
    assert np.array_equal(rest, wanted[end - len(rest) : end]), "it goes on to the end"
    began = whole(before, wanted[:SAMPLE_RATE])
    assert began is not None
    stopped = int(audible(before)[-1]) - began
    resumed = end - len(rest) - SAMPLE_RATE // 10
    assert -SAMPLE_RATE // 10 < stopped - resumed < SAMPLE_RATE, "where it stopped, within the card's buffer"


def test_skip_and_back_land_on_a_sentences_first_sample(speaking: Server, recording: Recording) -> None:
    text = sentences(6)
    starts, wanted = sentence_starts(text), samples_of(text, numbered=True)
    play(speaking, text)
    wait_until(speaking, in_sentence(0))
    for verb, paused in (("skip", False), ("skip", True), ("back", True)):
        _, before = speaking.post("/v1/play/pause", {}) if paused else speaking.get("/v1/play")
        mark = len(recording)
        _, after = speaking.post(f"/v1/play/{verb}", {})
        number = after["sentence_number"]
        if paused:
            by = number - before["sentence_number"]
            assert by == 1 if verb == "skip" else by in (0, -1)
            speaking.post("/v1/play/resume", {})
        first = wanted[starts[number] : starts[number] + SAMPLE_RATE]
        part = recording.wait_for(lambda samples, first=first: heard(samples, first), mark)
        at = whole(part, first)
        assert at is not None and abs(part[at - 10 : at].astype(int)).max() < 1000, "what sounded before has faded"


def test_a_killed_player_goes_on_at_the_sentence(speaking: Server, recording: Recording) -> None:
    text = sentences(2)
    starts, wanted = sentence_starts(text), samples_of(text, numbered=True)
    play(speaking, text)
    play(speaking, "The next one.", on_busy="queue")
    wait_until(speaking, in_sentence(1))
    player = speaking.child("player")
    player.kill()
    player.wait(DEADLINE)
    mark = len(recording)
    following = samples_of("The next one.", numbered=True)
    after = recording.wait_for(lambda samples: heard(samples, following), mark)  # the queue was kept with it
    assert heard(after, wanted[starts[1] :])
    assert speaking.get("/health")[0] == 200


def test_a_card_that_is_pulled_out_is_replaced(card: SoundCard, speaking: Server) -> None:
    module = card.add_sink("second")
    card.control("set-default-sink", "second")
    text = sentences(2)
    wanted = samples_of(text, numbered=True)
    first, second = card.record("first", RELAXED), card.record("second", RELAXED)
    play(speaking, text)
    second.wait_for(lambda samples: audible(samples).size > SAMPLE_RATE)
    card.control("unload-module", module)
    after = finished(speaking, first)
    end = int(audible(wanted)[-1]) + 1
    rest = after[audible(after)[0] + SAMPLE_RATE // 10 : audible(after)[-1] + 1]
    assert np.array_equal(rest, wanted[end - len(rest) : end])
    assert len(rest) > len(wanted) / 4
    first.close()


def test_quick_requests_are_one_voice(card: SoundCard, speaking: Server, recording: Recording) -> None:
    texts = [f"This is request number {n}." for n in range(5)]
    for text in texts:
        play(speaking, text, on_busy="interrupt")
        assert len(card.control("list", "short", "sink-inputs").splitlines()) <= 1
    last = samples_of(texts[-1], numbered=True)
    assert heard(finished(speaking, recording), last)
    mark = len(recording)
    for text in texts:
        play(speaking, text, on_busy="queue")
    recorded = finished(speaking, recording, mark)
    for text in texts:
        wanted = samples_of(text, numbered=True)
        at = whole(recorded, wanted)
        assert at is not None, "each is heard, one after another"
        recorded = recorded[at + len(wanted) :]
    assert len(speaking.children("player")) == 1


@pytest.mark.parametrize("command", ["play", "say"])
def test_a_text_sounds_while_it_is_written_and_a_front_dies(
    speaking: Server, recording: Recording, command: str
) -> None:
    first, second = "The first sentence is whole.", "The second one comes later."
    with written(speaking, command) as writer:
        assert writer.stdin
        writer.stdin.write(f"{first} The sec".encode())
        recording.wait_for(lambda samples: heard(samples, samples_of(first, numbered=True)))
        assert not idle(wait_until(speaking, lambda state: state["state"] == "buffering")), "it may go on"
        speaking.child("front").kill()
        writer.stdin.write(b"ond one comes later.")
        writer.stdin.close()
        recording.wait_for(lambda samples: heard(samples, samples_of(second, numbered=True)))
        assert writer.wait(DEADLINE) == 0
    recorded = finished(speaking, recording)
    both = [whole(recorded, samples_of(text, numbered=True)) for text in (first, second)]
    assert None not in both and both[0] < both[1], "each once, in order"  # type: ignore[operator]


def test_the_writer_of_a_stopped_text_is_told(speaking: Server, recording: Recording) -> None:
    with written(speaking, "play") as writer:
        assert writer.stdin
        writer.stdin.write(b"This is heard. And this isn't")
        wait_until(speaking, in_sentence(0))
        speaking.post("/v1/play/stop", {})
        writer.stdin.write(b" whole.")
        assert writer.wait(DEADLINE) == 0
    assert idle(speaking.get("/v1/play")[1])


def written(to: Server, command: str) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-m", "supervisor", command, "--url", f"http://127.0.0.1:{to.port}", "-"]
    return subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.PIPE, bufsize=0)


@pytest.mark.parametrize("command", [("play", "--on-busy", "next"), ("say",)])
def test_a_text_that_is_interrupted_on_the_command_line_leaves_the_others(
    speaking: Server, recording: Recording, command: tuple[str, ...]
) -> None:
    first, last = "The first text is paused meanwhile.", "The last text."
    play(speaking, first)
    speaking.post("/v1/play/pause", {})
    address = f"http://127.0.0.1:{speaking.port}"
    unheard = [sys.executable, "-m", "supervisor", *command, "--url", address, "Unheard."]
    with subprocess.Popen(unheard, cwd=ROOT, stderr=subprocess.DEVNULL) as mine:
        wait_until(speaking, lambda state: len(state["queue"]) == 1)
        play(speaking, last, on_busy="queue")
        mine.send_signal(signal.SIGINT)
        mine.wait(DEADLINE)
    _, state = speaking.post("/v1/play/resume", {})
    assert len(state["queue"]) == 1
    wanted = samples_of(last, numbered=True)
    recorded = recording.wait_for(lambda samples: heard(samples, wanted))
    assert not heard(recorded, samples_of("Unheard.", numbered=True))
