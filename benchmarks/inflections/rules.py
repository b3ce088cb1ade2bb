"""The rules of expression, each on sentences that are made from parts: how its words sound, and to listeners."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, product, zip_longest
from random import Random
from statistics import median

import numpy as np

from benchmarks.inflections.sounds import Track, last_pitch
from benchmarks.inflections.speaking import VOICES, Bench, Heard
from benchmarks.measuring.report import Verdict
from benchmarks.quality.pitch import pitches
from shm.audio import Pcm
from text.units.prosody import RULES
from text.words.segment import Segment

_THING = "apples|honey|bread|lemons|paper|candles|water|olives|butter|soap|garlic|blankets|rice|melons"
_WHO = "Anna|The driver|My sister|Mister Moore|The old woman|Robin"
_DID = "was closed on Monday|has been sold again|will open next year|belongs to a school|needs a new roof"
_WHAT = "The bridge|This house|The mill|Our old library|The hall by the river"
_INSERTED = "built by her uncle|a gift from the king|and nobody knows why|as we all remember|older than the church"
_QUOTED = "Come in|Nobody lives here|I have lost my keys|It will rain all day|The train is late"

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "choice": (
        f"[Would you like|Do you want|Shall we order|Should I bring] [{_THING}] or [{_THING}]?",
        "Did you come by [train|boat|car|tram|plane] or by [bus|taxi|bicycle|ship]?",
    ),
    "list": (
        f"[{_WHO}] [bought|packed|ordered] [{_THING}], [{_THING}], and [{_THING}] [for the trip|this morning|again].",
        f"We need [{_THING}], [{_THING}], [{_THING}] and [{_THING}].",
    ),
    "item": (
        "- [fresh bread|green apples|warm blankets|yellow candles|old maps] [from the bakery|for the children|in a "
        "basket|without any salt|on the table]\n- the tickets\n- [more water|some paper].",
    ),
    "aside": (f"[{_WHAT}] ([{_INSERTED}]) [{_DID}].", f"[{_WHAT}] — [{_INSERTED}] — [{_DID}]."),
    "heading": (
        "[The history of|A short guide to|Notes on|How to choose|Working with] [bridges|small gardens|wooden boats|old "
        "clocks|maps]\n\nThe text begins here.",
    ),
    "report": (
        f"“[{_QUOTED}],” said [Anna|the driver|my sister|Robin] [quietly|at last|after a while].",
        f"[{_WHO}] [said|answered|replied], “[{_QUOTED}].”",
    ),
}
"""Sentences of each rule, with their choices in brackets."""


def made_up(rule: str, number: int) -> list[str]:
    """So many sentences in which the rule finds words, the same ones each time."""
    found = []
    for template in TEMPLATES[rule]:
        parts = [part.split("|") for part in re.split(r"[\[\]]", template)]
        every = islice(product(*parts), 20_000)
        sentences = ["".join(chosen) for chosen in every if len(set(chosen[1::2])) == len(chosen[1::2])]
        found.append(Random(rule).sample(sentences, min(number, len(sentences))))
    return [text for texts in zip(*found, strict=False) for text in texts][:number]


def _shift(changes: list[tuple[Pcm, Pcm, Pcm]]) -> float:
    """Semitones between the medians of the words' pitch."""
    return _semitones([changed for _, changed, _ in changes]) - _semitones([plain for plain, _, _ in changes])


def _semitones(sounds: list[Pcm]) -> float:
    found: Track = np.concatenate([pitches(each) for each in sounds])
    return float(12 * np.log2(np.nanmedian(found)))


def _groups(segment: Segment) -> Iterator[tuple[int, int]]:
    """Spans of the script of words that stand together and are inflected; a list's items are apart."""
    begun: int | None = None
    for word, following in zip_longest(segment.words, segment.words[1:]):
        if word.inflection:
            begun = word.start if begun is None else begun
            is_item = word.inflection.rise and segment.script[word.end - 1] == ","
            if is_item or following is None or following.inflection is None:
                yield begun, word.end
                begun = None


GOING_ON = 1.5
"""Semitones above the sentence's mean at which words end, at least, after which it goes on."""


def rule(name: str, bench: Bench) -> Iterator[Verdict]:
    """A rule's words against the same words without it."""
    plain, heard = Heard(), Heard()
    shifts, stretches, ends, own_ends = [], [], [], []
    for place, text in enumerate(made_up(name, bench.sentences)):
        voice = VOICES[place % bench.voices]
        segment = bench.speaker.segment(text, voice, sentences=1)
        assert segment is not None and any(word.inflection for word in segment.words), text
        before, old = bench.speaker.timed(segment.script, voice)
        after, new = bench.speaker.timed(segment.script, voice, *segment.inflected())
        pairs = [(before[old[a] : old[b]], after[new[a] : new[b]]) for a, b in _groups(segment)]
        if all(np.isfinite(pitches(each)).any() for pair in pairs for each in pair):
            shifts.append(median(_semitones([changed]) - _semitones([own]) for own, changed in pairs))
            ends += [last_pitch(changed, after) for _, changed in pairs]
            own_ends += [last_pitch(own, before) for own, _ in pairs]
        stretches.append(sum(len(changed) for _, changed in pairs) / sum(len(own) for own, _ in pairs))
        said = text.partition("\n")[0]
        bench.listeners.hear(said, before, plain)
        bench.listeners.hear(said, after, heard)
    asked = RULES[name].inflection
    shown = f"{median(shifts):+.2f} st, {median(stretches):.2f} times as long"
    if asked.rise:
        up = sum(each >= GOING_ON for each in ends)
        own = sum(each >= GOING_ON for each in own_ends)
        yield Verdict(
            f"{name}: ends at least {GOING_ON:g} st above the sentence's mean: 90 of 100",
            f"{up} of {len(ends)}, median {median(ends):.1f} st; by itself {own}, {median(own_ends):.1f} st; {shown}",
            up >= 0.9 * len(ends),
        )
    else:
        yield Verdict(
            f"{name}: {asked.pitch:+g} st within 0.4 st, {asked.stretch:g} times as long within 5 %", shown,
            abs(median(shifts) - asked.pitch) <= 0.4 and abs(median(stretches) / asked.stretch - 1) <= 0.05,
        )  # fmt: skip
    if bench.listeners.there:
        points, opinion = heard.against(plain)
        spread = np.std(np.subtract(heard.opinions, plain.opinions)) / len(plain.opinions) ** 0.5
        yield Verdict(
            f"{name}: word errors <= +0.1 points, DNSMOS P.808 >= -0.02",
            f"{plain.errors} to {heard.errors} of {plain.words}, {opinion:+.3f} ± {spread:.3f}",
            points <= 0.1 and opinion >= -0.02,
        )


ROWS: Mapping[str, Callable[[Bench], Iterator[Verdict]]] = {name: partial(rule, name) for name in TEMPLATES}
