"""The player for an hour: is every sample heard once, in order, while workers are killed?

    python -m benchmarks.playing [--minutes 60] [--kill-every 30]

A server with the miniature model, whose samples say where they belong, plays texts through PulseAudio with a null sink;
the sink's monitor is recorded and compared. The report separates two faults:

- A break: samples that are lost, doubled, changed or out of order. None is ever right; the benchmark exits with 1. What
  is lost at a gap's end, up to 10 ms, is PulseAudio's.
- A gap: silence between samples that are all there, in order, because a buffer didn't last: the player's (20 s of
  audio, where the workers made nothing for longer), or the sound card's (--buffer-ms, where the machine let neither
  the player nor the sound server run for longer). The player's own states tell which.

Needs PulseAudio (apt-get install pulseaudio pulseaudio-utils).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.measuring.heard import Gap, compare
from benchmarks.player_states import PlayerStates
from shm.audio import SAMPLE_RATE
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import Server, server
from tests.system.sound_card import SoundCard, sound_card

LOST = SAMPLE_RATE // 100
"""Samples that PulseAudio itself may lose, or its monitor, where a sound card's buffer has run dry: `pacat` loses up to
239 of them after each of its gaps."""

_PLAYERS, _CARDS = "the player's buffer", "the sound card's buffer"


class Playing:
    """The texts that were played so far, and all that was wrong with them."""

    def __init__(self, card: SoundCard, speaking: Server, kill_every: float) -> None:
        self.texts = self.breaks = self.kills = 0
        self.gaps: dict[str, list[Gap]] = {_PLAYERS: [], _CARDS: []}
        """Gaps by the buffer that ran dry."""
        self._card = card
        self._speaking = speaking
        self._kill_every = kill_every

    def play(self, text: str) -> None:
        """Play a text to its end while workers are killed; prints what was heard."""
        wanted = samples_of(text, numbered=True)
        recording = self._card.record()
        with contextlib.closing(PlayerStates(self._speaking, lambda: len(recording))) as states:
            status, answer = self._speaking.post("/v1/play", {"input": text})
            assert status == 202, answer
            while not states.ended(answer["id"], timeout=self._kill_every):
                self._kill()
        heard = compare(recording.quiet(2 * SAMPLE_RATE), wanted)
        recording.close()
        self.texts += 1
        ends = {gap.at + gap.length for gap in heard.gaps}
        own = [each for each in heard.breaks if not (each.at in ends and each.kind == "lost" and each.length <= LOST)]
        self.breaks += len(own)
        lines = [f"  BREAK: {each.length} samples {each.kind} at {_seconds(each.at)}" for each in own]
        for gap in heard.gaps:
            buffer = _PLAYERS if states.buffering(gap.at, gap.at + gap.length) else _CARDS
            self.gaps[buffer].append(gap)
            lines.append(f"  gap of {1000 * gap.length // SAMPLE_RATE} ms at {_seconds(gap.at)}: {buffer} ran dry")
        lines += [f"  the player says: {reason}" for reason in states.reasons]
        result = "BROKEN" if own else "gaps" if heard.gaps else "whole"
        print(f"text {self.texts}: {result}; {self.kills} kills so far, load {os.getloadavg()[0]:.1f}", flush=True)
        print(*lines, sep="\n", end="\n" if lines else "", flush=True)

    def _kill(self) -> None:
        for worker in self._speaking.children("worker"):
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()
                self.kills += 1

    def report(self) -> str:
        """All texts in one line."""
        gaps = "; ".join(
            f"{len(found)} gaps ({_seconds(sum(gap.length for gap in found))} in all) because {buffer} ran dry"
            for buffer, found in self.gaps.items()
        )
        return f"{self.texts} texts, {self.breaks} breaks; {gaps}; {self.kills} workers killed"


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.playing", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to play; at least one text is played")
    parser.add_argument("--kill-every", type=float, default=30.0, help="seconds between two kills of the workers")
    parser.add_argument("--buffer-ms", type=int, default=800, help="audio that the sound card holds")
    parser.add_argument("--sentences", type=int, default=40, help="sentences of one text; 40 are about 90 seconds")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    with sound_card() as card, tempfile.TemporaryDirectory() as folder:
        environment = card.environment | {"KOKORO_LIVE_PLAY_BUFFER_MS": str(options.buffer_ms)}
        with server(*miniature_arguments(Path(folder)), environment=environment) as speaking:
            playing = Playing(card, speaking, options.kill_every)
            while time.monotonic() < end or not playing.texts:
                playing.play(sentences(options.sentences))
    print(playing.report())
    sys.exit(bool(playing.breaks))


def _seconds(samples: int) -> str:
    return f"{samples / SAMPLE_RATE:.2f} s"


if __name__ == "__main__":
    main()
