"""What listeners would wait for with other knobs, in simulated time: planner, windows and deadlines are the real ones'.

A lane makes one block at a time, for the listener who will soonest have nothing to hear; a block that was begun is
finished. No text is as long as a ring, so nobody's lane waits for its listener.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from frontend.planning.planner import Limits, plan
from frontend.text.phoneme_script import phoneme_sentences
from frontend.text.segment import Notation
from supervisor.tuning.costs import WindowCosts
from supervisor.tuning.score import geometric_mean, waited
from worker.split.windows import FRAMES_PER_SECOND, WindowShape, windows

MOST_LISTENERS = 4

_ADMITTED = 0.95
"""Of what the lanes can make: whoever comes beyond that is refused (`frontend.scheduling.admission`)."""

_ARRIVALS = 0.7
"""Seconds between them."""

_DUE = 0.3
"""Seconds after which a newcomer's first sample is due (`frontend.scheduling`)."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """What decides how texts and segments are cut."""

    shape: WindowShape
    min_first_tokens: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """Of all the texts."""

    waits: tuple[float, ...]
    """By listeners at once, from one on: seconds to first audio, silences at their price; geometric means."""
    work: float
    """Seconds per second of audio."""

    def score(self, other: Prediction) -> float:
        """Against another's; more than 1 is better. As in trials, waiting counts for half, and work for the other."""
        sooner = geometric_mean(theirs / ours for ours, theirs in zip(self.waits, other.waits, strict=True))
        return math.sqrt(sooner * other.work / self.work)


def scripts(text: str, notation: Notation, costs: WindowCosts, knobs: Knobs) -> tuple[str, ...]:
    """The segments that the front would make of a text of phonemes."""
    known = phoneme_sentences(text, notation)
    limits = Limits(min_first_tokens=knobs.min_first_tokens)
    return tuple(segment.script for segment in plan(known, costs.profile_for(knobs.shape), 1.0, notation, limits))


def admitted(work: float, costs: WindowCosts) -> int:
    """How many can listen at once, `MOST_LISTENERS` at most: where more come, nobody would be served in time.

    Args:
        work: seconds per second of audio.
    """
    return max(1, min(MOST_LISTENERS, int(_ADMITTED * costs.lanes / (costs.crowded(costs.lanes) * work))))


def predict(
    texts: Sequence[str], notation: Notation, costs: WindowCosts, knobs: Knobs, listeners: int = 1
) -> Prediction:
    """
    Args:
        texts: of phonemes; listeners take turns in having them.
        listeners: at once, at most.
    """
    made = [_blocks(scripts(text, notation, costs, knobs), costs, knobs.shape) for text in texts]
    waits = []
    for count in range(1, listeners + 1):
        heard = [_listen([made[(first + i) % len(made)] for i in range(count)], costs) for first in range(len(made))]
        waits.append(geometric_mean(wait for crowd in heard for wait in crowd))
    blocks = [block for text in made for block in text]
    return Prediction(tuple(waits), sum(block.work for block in blocks) / sum(block.audio for block in blocks))


@dataclass(frozen=True, slots=True)
class _Block:
    audio: float
    work: float


def _blocks(segments: Sequence[str], costs: WindowCosts, shape: WindowShape) -> list[_Block]:
    """Of a text. A segment's prosody is a part of its first block's work."""
    found = []
    for script in segments:
        audio = costs.profile.audio(len(script), 1.0)
        prosody = costs.profile.fixed + costs.profile.per_token * len(script)
        if not costs.windowed:
            found.append(_Block(audio, prosody))
            continue
        for begin, end in windows(0, max(1, round(audio * FRAMES_PER_SECOND)), shape):
            found.append(_Block((end - begin) / FRAMES_PER_SECOND, costs.window(end - begin) + prosody))
            prosody = 0.0
    return found


class _Listener:
    def __init__(self, arrival: float, blocks: Sequence[_Block]) -> None:
        self.arrival = arrival
        self.blocks = blocks
        self.next = 0
        self.free_at = arrival
        """When it came, or what is made for it is there: its next block may be begun."""
        self.first: float | None = None
        self.heard_until = arrival + _DUE
        """Its deadline, too."""
        self.silence = 0.0

    def hear(self, now: float) -> None:
        """Its next block is there."""
        if self.first is None:
            self.first = self.heard_until = now
        elif now > self.heard_until:
            self.silence += now - self.heard_until
            self.heard_until = now
        self.heard_until += self.blocks[self.next].audio
        self.next += 1


def _listen(texts: Sequence[Sequence[_Block]], costs: WindowCosts) -> list[float]:
    """How long each waits, who came one after the other."""
    listeners = [_Listener(_ARRIVALS * place, blocks) for place, blocks in enumerate(texts)]
    lanes = [0.0] * costs.lanes
    """When each is free."""
    while rest := [each for each in listeners if each.next < len(each.blocks)]:
        lane = min(range(len(lanes)), key=lanes.__getitem__)
        now = max(lanes[lane], min(each.free_at for each in rest))
        served = min((each for each in rest if each.free_at <= now), key=lambda each: each.heard_until)
        busy = 1 + sum(end > now for end in lanes)
        lanes[lane] = now + served.blocks[served.next].work * costs.crowded(min(busy, costs.lanes))
        served.hear(lanes[lane])
        served.free_at = lanes[lane]
    return [waited(each.first - each.arrival, each.silence) for each in listeners if each.first is not None]
