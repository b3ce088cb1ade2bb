"""The output through PulseAudio, on a recording sound card."""

import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from player.deck import FADE, Deck
from player.output import pulse_output
from player.output.output import NoOutput
from player.output.pulse_output import PulseOutput
from player.reel import Reel
from shm.audio import SAMPLE_RATE, Pcm
from tests.system.server import DEADLINE
from tests.system.sound_card import Recording, SoundCard, audible, needs_pulseaudio, sound_card

AMPLITUDE, HERTZ = 12_000, 220
STEP = AMPLITUDE * 2 * np.pi * HERTZ / SAMPLE_RATE
"""Largest difference between two samples of the sine in a row."""

TRIES = 8


@pytest.fixture(autouse=True)
def environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "card" in request.fixturenames:
        for name, value in request.getfixturevalue("card").environment.items():
            monkeypatch.setenv(name, value)


class Sine:
    """A sine that never ends, after `silence` samples without sound; `taken` counts the sine's samples."""

    def __init__(self, silence: int = 0) -> None:
        self.taken = -silence

    def __call__(self, count: int) -> Pcm:
        at = np.arange(self.taken, self.taken + count)
        self.taken += count
        sine = np.rint(AMPLITUDE * np.sin(2 * np.pi * HERTZ * at / SAMPLE_RATE))
        return np.where(at < 0, 0, sine).astype(np.int16)


def closed_while_it_plays(recording: Recording, buffer_ms: int) -> Pcm:
    """Play until half a second was heard, and close; what was heard, from the first loud sample to the last."""
    start = len(recording)
    output = PulseOutput(Sine(silence=SAMPLE_RATE), buffer_ms)  # a deck is silent too while its device opens
    recording.wait_for(lambda samples: audible(samples).size > SAMPLE_RATE // 2, start)
    assert 0 < output.delay <= (buffer_ms + 100) * SAMPLE_RATE // 1000
    output.close()
    output.close()
    heard = recording.quiet(SAMPLE_RATE // 2, start)
    loud = audible(heard)
    return heard[loud[0] : loud[-1] + 2]


def is_faded(heard: Pcm) -> bool:
    """True if the sine ends in a fade of 20 ms without a step."""
    end = heard[-2 * FADE :].astype(int)
    quarter = FADE // 4
    peaks = [int(abs(end[FADE + at : FADE + at + quarter]).max()) for at in range(0, FADE, quarter)]
    smooth = abs(np.diff(end)).max() <= 1.2 * STEP
    return bool(smooth and peaks == sorted(peaks, reverse=True) and peaks[-1] < AMPLITUDE / 2 < peaks[0])


def is_whole(heard: Pcm) -> bool:
    """True if each sample of the sine was heard once, in the first half of what comes before the fade."""
    kept = heard[: len(heard) // 2 - FADE]
    wanted = Sine()(len(kept) + 2)
    first = int(audible(wanted)[0])
    return np.array_equal(kept, wanted[first : first + len(kept)])


@needs_pulseaudio
@pytest.mark.parametrize("buffer_ms", [200, 800])
def test_each_sample_is_heard_once_and_closing_fades_what_the_server_holds(card: SoundCard, buffer_ms: int) -> None:
    """The fade begins 10 ms ahead of the sample that sounds. A machine that stops for longer in this moment cuts it, so
    it is closed until a fade is whole; without a fade none is."""
    recording, limit = card.record(), time.monotonic() + DEADLINE
    try:
        while not (is_faded(heard := closed_while_it_plays(recording, buffer_ms)) and is_whole(heard)):
            assert time.monotonic() < limit
    finally:
        recording.close()


def heard_after_silence(recording: Recording) -> tuple[int, Pcm]:
    """Give a device that plays silence a sine; samples until it sounds, and a second of what sounds."""
    deck = Deck(lambda: None)
    output = PulseOutput(deck.fill, 800)
    try:
        start = len(recording)
        recording.wait_for(lambda samples: len(samples) > SAMPLE_RATE, start)
        reel = Reel()
        reel.begin(0, "")
        reel.append(0, Sine()(2 * SAMPLE_RATE))
        deck.jump(reel, run=True)
        came = len(recording)
        replaced: list[int] = []

        def taken_back(count: int) -> None:
            replaced.append(count)
            deck.take_back(count)

        output.fill_silence(lambda: deck.padding, taken_back)
        heard = recording.wait_for(lambda samples: audible(samples).size > SAMPLE_RATE, came)
        # A server that was starved holds less.
        first = int(audible(heard)[0]) if sum(replaced) > SAMPLE_RATE // 4 else SAMPLE_RATE
        return first, heard[first:]
    finally:
        output.close()


@needs_pulseaudio
def test_samples_that_come_sound_before_the_silence_that_the_server_holds(card: SoundCard) -> None:
    """The server holds 800 ms of silence; what comes is heard while that would still sound, and from its first sample
    on: one of some tries must be whole, as above."""
    recording = card.record()
    wanted = Sine()(SAMPLE_RATE)
    wanted = wanted[audible(wanted)[0] :]
    try:
        tries = (heard_after_silence(recording) for _ in range(TRIES))
        assert any(first < SAMPLE_RATE // 2 and np.array_equal(heard[: len(wanted)], wanted) for first, heard in tries)
    finally:
        recording.close()


@needs_pulseaudio
def test_a_server_that_ends_is_noticed_and_closing_does_not_wait_for_it(tmp_path: Path) -> None:
    taken = threading.Event()

    def fill(count: int) -> Pcm:
        taken.set()
        return np.zeros(count, np.int16)

    with sound_card() as card, pytest.MonkeyPatch.context() as environment:
        environment.setenv("PULSE_SERVER", card.environment["PULSE_SERVER"])
        output = PulseOutput(fill, 200)
        assert taken.wait(60)
    output.close()


def test_no_server_is_no_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path / 'nobody'}")
    with pytest.raises(NoOutput, match=r"PulseAudio: |not installed|not used"):
        PulseOutput(Sine(), 200)


@needs_pulseaudio
def test_a_server_that_does_not_answer_is_no_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However late the limit's thread ends after it has woken the one that waits."""

    class Lingering(threading.Timer):
        def run(self) -> None:
            super().run()
            time.sleep(0.2)

    monkeypatch.setattr(pulse_output, "CONNECT_SECONDS", 0.05)
    monkeypatch.setattr(pulse_output.threading, "Timer", Lingering)
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path / 'mute'}")
    failures: list[NoOutput] = []

    def opens() -> None:
        try:
            PulseOutput(Sine(), 200)
        except NoOutput as error:
            failures.append(error)

    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "mute"))
        mute.listen()
        opening = threading.Thread(target=opens, daemon=True)
        opening.start()
        opening.join(10)
    assert failures and "hasn't answered" in str(failures[0])
