"""The outputs through miniaudio's null device and through stand-ins for sounddevice and a program."""

import asyncio
import importlib
import platform
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from player.deck import FADE, Deck
from player.output.output import NoOutput, open_output
from player.output.program_output import ProgramOutput
from player.playback import ItemPlayback
from player.reel import Reel
from shm.audio import Pcm
from shm.playing import Item, Play, Playing, WhenBusy
from tests.player.fakes import FakeFetcher, voice_of
from tests.player.test_deck import full

DEADLINE = 60.0

LOUD = (np.arange(7200) % 1000 + 1).astype(np.int16)


class Tape:
    """Gives out samples once, then silence, and tells when the silence has begun."""

    def __init__(self, samples: Pcm) -> None:
        self._rest = samples
        self.over = threading.Event()

    def __call__(self, count: int) -> Pcm:
        given, self._rest = self._rest[:count], self._rest[count:]
        if not len(given):
            self.over.set()
        return np.concatenate([given, np.zeros(count - len(given), np.int16)])


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Writes a shell script as the only audio program on PATH; what it plays is appended to the file `played`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def write(name: str, script: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/bash\nPATH=/usr/bin:/bin\n{script.format(played=tmp_path / 'played')}\n")
        program.chmod(0o755)
        return tmp_path / "played"

    return write


def eventually(condition: Callable[[], bool]) -> None:
    tick = threading.Event()
    for _ in range(round(DEADLINE / 0.005)):
        if condition():
            return
        tick.wait(0.005)
    raise AssertionError("it never happened")


def test_a_program_plays_each_sample_in_order_and_closing_kills_it(programs: Callable[[str, str], Path]) -> None:
    played = programs("aplay", "exec cat >> {played}")
    tape = Tape(LOUD)
    output = ProgramOutput(tape, 60)
    assert output.name == "aplay"
    assert tape.over.wait(DEADLINE)

    def heard() -> Pcm:
        samples = np.frombuffer(played.read_bytes()[: played.stat().st_size // 2 * 2], "<i2")
        return samples[samples != 0]

    eventually(lambda: len(heard()) == len(LOUD))
    assert np.array_equal(heard(), LOUD)
    assert 0 <= output.delay <= 24_000
    output.close()
    assert output._process.returncode == -9
    output.close()


def test_a_program_that_ends_takes_nothing_more(programs: Callable[[str, str], Path]) -> None:
    programs("aplay", "if [ -e {played} ]; then exit 0; fi; exec cat > {played}")
    taken: list[int] = []
    output = ProgramOutput(lambda count: taken.append(count) or np.zeros(count, np.int16), 60)  # type: ignore[func-returns-value]
    eventually(lambda: output._process.poll() is not None)
    eventually(lambda: not any(thread.name == "output" and thread.is_alive() for thread in threading.enumerate()))
    output.close()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'ALSA lib: x' >&2; echo 'audio open error: No such file' >&2; exit 1", "aplay found no sound card"),
        ("exit 3", "aplay failed with status 3"),
    ],
)
def test_a_program_without_a_card_says_so(programs: Callable[[str, str], Path], script: str, reason: str) -> None:
    programs("aplay", f"cat > /dev/null; {script}")
    with pytest.raises(NoOutput, match=reason):
        ProgramOutput(Tape(LOUD), 60)


def test_no_program_is_no_output(programs: Callable[[str, str], Path]) -> None:
    with pytest.raises(NoOutput, match="no program"):
        ProgramOutput(Tape(LOUD), 60)


async def test_a_program_is_started_once_however_late_the_sentences_of_a_text_come(
    programs: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """A program for each piece of a text would leave a gap between any two."""
    played = programs("aplay", f"echo x >> {tmp_path}/starts; exec cat >> {{played}}")
    fetcher = FakeFetcher()
    playback = ItemPlayback(fetcher, lambda fill: ProgramOutput(fill, 60), lambda message: None)
    text = "one two three"

    def heard() -> Pcm:
        samples = np.frombuffer(played.read_bytes()[: played.stat().st_size // 2 * 2], "<i2")
        return samples[samples != 0]

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not condition():  # noqa: ASYNC110 - the output's thread changes it
                await asyncio.sleep(0.005)

    def one_at_a_time(number: int) -> None:
        fetcher.gate.clear()

    fetcher.on_sentence = one_at_a_time
    playback.play(Play(0, Item(id="i", input=text, voice="v", speed=1.0), WhenBusy.INTERRUPT))
    for _ in text.split()[1:]:
        await until(lambda: playback.phase is Playing.PLAYING)
        await until(lambda: playback.phase is Playing.BUFFERING)
        fetcher.gate.set()
    await until(lambda: playback.lineup.idle)
    playback.stop_work()
    await playback.loudspeaker.close_outputs()
    assert np.array_equal(heard(), np.concatenate([voice_of(word, at) for at, word in enumerate(text.split())]))
    assert (tmp_path / "starts").read_text().split() == ["x"] * 2, "a trial of the program, and the text"


@pytest.fixture
def null_device(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the output through miniaudio, on its device that plays into nothing in real time."""
    if sys.platform == "linux" and platform.machine() != "x86_64":
        pytest.skip("the registry has no wheel of miniaudio for Linux on this processor")
    miniaudio = importlib.import_module("miniaudio")
    module = importlib.import_module("player.output.miniaudio_output")
    monkeypatch.setitem(module._BACKENDS, sys.platform, [miniaudio.Backend.NULL])
    return module


class Taken:
    """Notes all samples that a device takes from a deck."""

    def __init__(self) -> None:
        self.deck = Deck(lambda: None)
        self.deck.jump(full(Reel(), *range(10)), run=True)
        self._parts: list[Pcm] = []

    def __call__(self, count: int) -> Pcm:
        self._parts.append(self.deck.fill(count))
        return self._parts[-1]

    @property
    def samples(self) -> Pcm:
        return np.concatenate([*self._parts, np.zeros(0, np.int16)])


def fade_in(samples: Pcm) -> tuple[int, Pcm]:
    """The first sample that is not as the text has it, and the samples from there on."""
    text = np.concatenate([voice_of("x", number) for number in range(10)])[: len(samples)]
    first = int(np.flatnonzero(samples[: len(text)] != text)[0]) - 1
    return first, samples[first:]


def test_miniaudio_with_a_short_buffer_fades_before_it_is_closed(null_device: Any) -> None:
    taken = Taken()
    output = null_device.MiniaudioOutput(taken, 40)
    assert output.takes_fade and output.delay == 960
    eventually(lambda: len(taken.samples) > 4800)
    taken.deck.fade()
    output.close()
    first, end = fade_in(taken.samples)
    assert end[0] == voice_of("x", first // 24_000)[first % 24_000], "the fade begins with the text's next sample"
    assert end[FADE // 2] and not end[FADE - 1 :].any() and len(end) > FADE
    count = len(taken.samples)
    output.close()
    assert len(taken.samples) == count


def test_an_interruption_fades_on_miniaudio(null_device: Any) -> None:
    taken, other = Taken(), full(Reel(5), 5)
    output = null_device.MiniaudioOutput(taken, 200)
    assert not output.takes_fade, "200 ms would sound on after a pause"
    eventually(lambda: len(taken.samples) > 4800)
    taken.deck.jump(other, run=True)
    eventually(lambda: other.place.offset > 1000)
    output.close()
    _, end = fade_in(taken.samples)
    assert end[FADE - 1] == 0 and np.array_equal(end[FADE : FADE + 1000], voice_of("x", 5)[:1000])


class FakePortAudio(types.ModuleType):
    class PortAudioError(Exception):
        pass

    def __init__(self) -> None:
        super().__init__("sounddevice")
        self.streams: list[Any] = []
        self.refuses = False
        outer = self

        class RawOutputStream:
            latency = 0.125
            active = True

            def __init__(self, **fields: Any) -> None:
                if outer.refuses:
                    raise outer.PortAudioError("Error querying device -1")
                self.fields, self.done = fields, list[str]()
                outer.streams.append(self)

            def start(self) -> None:
                self.done.append("start")

            def abort(self, ignore_errors: bool) -> None:
                self.done.append("abort")

            def close(self, ignore_errors: bool) -> None:
                self.done.append("close")

        self.RawOutputStream = RawOutputStream


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePortAudio]:
    fake = FakePortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    monkeypatch.delitem(sys.modules, "player.output.sounddevice_output", raising=False)
    yield fake
    sys.modules.pop("player.output.sounddevice_output", None)


def test_sounddevice_pulls_from_the_deck_and_is_aborted(portaudio: FakePortAudio) -> None:
    module = importlib.import_module("player.output.sounddevice_output")
    output = module.SounddeviceOutput(Tape(LOUD), 200)
    (stream,) = portaudio.streams
    fields = {name: stream.fields[name] for name in ("samplerate", "channels", "dtype", "latency")}
    assert fields == {"samplerate": 24_000, "channels": 1, "dtype": "int16", "latency": 0.2}
    buffer = bytearray(480 * 2)
    stream.fields["callback"](memoryview(buffer), 480, None, None)
    assert np.array_equal(np.frombuffer(bytes(buffer), "<i2"), LOUD[:480])
    assert output.delay == 3000
    output.close()
    assert stream.done == ["start", "abort", "close"], "abort drops what the device holds"
    portaudio.refuses = True
    with pytest.raises(NoOutput, match="querying device"):
        module.SounddeviceOutput(Tape(LOUD), 200)


def test_sounddevice_with_a_short_buffer_lets_a_fade_sound(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("player.output.sounddevice_output")
    output = module.SounddeviceOutput(Tape(LOUD), 200)
    assert not output.takes_fade
    (stream,) = portaudio.streams
    monkeypatch.setattr(type(stream), "latency", 0.03)
    output = module.SounddeviceOutput(Tape(LOUD), 30)
    stream = portaudio.streams[-1]
    monkeypatch.setattr(module, "let_sound", lambda delay: stream.done.append(f"{delay} samples"))
    assert output.takes_fade
    output.close()
    assert stream.done == ["start", "720 samples", "abort", "close"]


def test_the_first_output_that_works_is_taken_and_all_reasons_are_told(
    portaudio: FakePortAudio, programs: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "player.output.miniaudio_output", None)
    assert open_output(Tape(LOUD), 200).name == "PortAudio (sounddevice)"
    portaudio.refuses = True
    with pytest.raises(NoOutput) as none:
        open_output(Tape(LOUD), 200)
    for reason in ("is not installed", "querying device", "no program"):
        assert reason in str(none.value)
    programs("aplay", "exec cat > /dev/null")
    output = open_output(Tape(LOUD), 200)
    assert output.name == "aplay"
    output.close()
