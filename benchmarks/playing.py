"""The player for an hour: is every sample heard once, in order, while workers are killed?

    python -m benchmarks.playing [--minutes 60] [--kill-every 30]

A server with the miniature model, whose samples say where they belong, plays texts through PulseAudio with a null sink;
the sink's monitor is recorded and compared. Prints the texts, the breaks and the kills; exits 1 on a break. Needs
PulseAudio (apt-get install pulseaudio pulseaudio-utils).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

import psutil

from shm.audio import SAMPLE_RATE
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import Server, server
from tests.system.sound_card import audible, sound_card, whole

SENTENCES = 40
"""Sentences of one text: about a minute and a half."""


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.playing", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to play")
    parser.add_argument("--kill-every", type=float, default=30.0, help="seconds between two kills of the worker")
    options = parser.parse_args()
    texts = breaks = kills = 0
    end = time.monotonic() + 60 * options.minutes
    with sound_card() as card, tempfile.TemporaryDirectory() as folder:
        buffer = {"KOKORO_LIVE_PLAY_BUFFER_MS": "800"}
        with server(*miniature_arguments(Path(folder)), environment=card.environment | buffer) as speaking:
            while time.monotonic() < end or not texts:
                text = sentences(SENTENCES)
                wanted = samples_of(text, numbered=True)
                recording = card.record()
                assert speaking.post("/v1/play", {"input": text})[0] == 202
                kills += _kill_while_playing(speaking, len(wanted) / SAMPLE_RATE, options.kill_every)
                recorded = recording.quiet(2 * SAMPLE_RATE)
                recording.close()
                texts += 1
                good = whole(recorded, wanted) is not None and len(audible(recorded)) == len(audible(wanted))
                breaks += not good
                print(f"text {texts}: {'whole' if good else 'BROKEN'}, {kills} kills so far", flush=True)
    print(f"{texts} texts of {SENTENCES} sentences, {breaks} with a break, {kills} workers killed")
    sys.exit(bool(breaks))


def _kill_while_playing(speaking: Server, seconds: float, every: float) -> int:
    """Kill the workers now and then while a text of that length is played; returns the number of kills."""
    kills = 0
    end = time.monotonic() + seconds
    while time.monotonic() + every < end:
        time.sleep(every)
        for worker in speaking.children("worker"):
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()
                kills += 1
    time.sleep(max(end - time.monotonic(), 0))
    return kills


if __name__ == "__main__":
    main()
