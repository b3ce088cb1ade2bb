"""Scores over HTTP: how each phoneme of a text is spoken, as JSON that may be edited and sent back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from frontend.contract.errors import ApiError
from frontend.speech.voices import refusing
from shm.audio import FASTEST, SLOWEST
from shm.engine_info import EngineInfo
from shm.inflection import (
    MOST_DECIBELS,
    MOST_SEMITONES,
    PLAIN,
    QUIETEST_DECIBELS,
    WIDEST,
    Inflection,
)
from shm.score import (
    ENERGY_STEP,
    FRAME_SECONDS,
    HERTZ_STEP,
    HIGHEST_HERTZ,
    LEAST_ENERGY,
    MOST_ENERGY,
    MOST_UNITS,
    UNIT_SECONDS,
    PhonemeScore,
    Score,
)
from text.words.performer import Cast, Performer
from text.words.segment import Cut, Notation, Segment, Sentence, SpokenWord, Unit

VERSION: Literal[1] = 1

MAX_CHARACTERS = 5000
"""Longest text of a score: half a megabyte of JSON, a quarter of what a body may have."""

MAX_PAUSE = 60.0
"""Longest pause after a segment, in seconds."""

_MOST_VALUES = 2 * MOST_UNITS

HERTZ = (20.0, 1000.0)
"""Pitches that are taken. The model's own creak goes down to the lower one; above `HIGHEST_HERTZ` it speaks none."""

_INFLECTIONS = {
    "pitch": (-MOST_SEMITONES, MOST_SEMITONES),
    "hertz": (0.0, 1000.0),
    "range": (0.0, WIDEST),
    "volume": (QUIETEST_DECIBELS, MOST_DECIBELS),
    "stretch": (0.05, 20.0),
    "duration": (0.0, 60.0),
    "rise": (-2 * MOST_SEMITONES, 2 * MOST_SEMITONES),
}
"""Bounds of an inflection's fields."""


class ScorePhoneme(msgspec.Struct, omit_defaults=True):
    """One symbol of the model's alphabet. A field that is left out, or unchanged, stays the model's own."""

    phoneme: Annotated[str, Meta(description="The symbol; stress marks, spaces and punctuation are symbols too.")]
    duration: Annotated[float | None, Meta(description="Seconds, rounded to 0.025; up to 2.")] = None
    pitch: Annotated[
        list[float] | None,
        Meta(
            description="The fundamental frequency in Hz over the phoneme's time, evenly, in any number of values; "
            "0 where there is no voice. The answer has a value for each frame."
        ),
    ] = None
    energy: Annotated[
        list[float] | None,
        Meta(description="The model's energy over the phoneme's time. It colours the sound; it is no level."),
    ] = None
    volume: Annotated[float, Meta(description="Change of the level in dB, -60 to 12.")] = 0.0


class ScoreWord(msgspec.Struct, omit_defaults=True):
    """A word of the text and its phonemes."""

    word: Annotated[str, Meta(description="The word as it is written; empty: the rest of the word before it.")]
    said: Annotated[str, Meta(description="The word as it is read.")]
    start: Annotated[int, Meta(description="Its first phoneme's place in the segment, from 0.")]
    end: Annotated[int, Meta(description="The place after its last phoneme.")]
    time: Annotated[
        tuple[float, float] | UnsetType,
        Meta(description="Seconds after the segment's first phoneme; told, and not read."),
    ] = UNSET
    inflection: Annotated[
        Inflection | None,
        Meta(description="What markup and fields asked for, which comes before the score."),
    ] = None


class ScoreSegment(msgspec.Struct, omit_defaults=True):
    """A part of the text that is spoken in one run."""

    text: Annotated[str, Meta(description="The part as it is read.")]
    voice: Annotated[str, Meta(description="A voice or a blend.")]
    language: Annotated[str, Meta(description="Its language, as a speech request names it.")]
    cut: Annotated[Cut, Meta(description="What ends here, by which the silence after it is measured.")]
    phonemes: Annotated[list[ScorePhoneme], Meta(min_length=1, description="The phonemes, in order.")]
    words: Annotated[list[ScoreWord], Meta(description="The words, in order.")] = []
    speed: Annotated[float, Meta(description="The pace that the model was asked for.")] = 1.0
    pause: Annotated[float | None, Meta(description="Seconds of silence after it, in place of the cut's.")] = None


class ScoreLimits(msgspec.Struct):
    """Lowest and highest values, inclusive."""

    pitch: Annotated[tuple[float, float], Meta(description="In Hz; edited pitches bend towards the upper one.")]
    duration: Annotated[tuple[float, float], Meta(description="Of a phoneme, in seconds.")]
    energy: Annotated[tuple[float, float], Meta(description="Beyond what the model makes.")]
    volume: Annotated[tuple[float, float], Meta(description="In dB.")]


class SpeechScore(msgspec.Struct):
    """The score of a text."""

    version: Annotated[Literal[1], Meta(description="The version of this form.")]
    segments: Annotated[list[ScoreSegment], Meta(min_length=1, description="The text's parts, in order.")]
    frame: Annotated[float, Meta(description="Seconds of a frame; told, and not read.")] = FRAME_SECONDS
    limits: Annotated[ScoreLimits | UnsetType, Meta(description="Told, and not read.")] = UNSET


LIMITS = ScoreLimits(
    (HERTZ[0], HIGHEST_HERTZ),
    (UNIT_SECONDS, MOST_UNITS * UNIT_SECONDS),
    (LEAST_ENERGY, MOST_ENERGY),
    (QUIETEST_DECIBELS, MOST_DECIBELS),
)

_Written: TypeAlias = tuple[Segment, float, Score]
"""A segment, the pace at which it is spoken, and its score."""


def text_of_score(score: SpeechScore) -> str:
    """The text that a score speaks, for logs and for the board of texts in hand."""
    return "\n".join(segment.text for segment in score.segments)


def speech_score(written: Sequence[_Written], performer: Performer, around: Inflection) -> SpeechScore:
    """The score in the form of the API.

    Args:
        performer: the performer of segments that name none.
        around: the inflection of the whole text.
    """
    return SpeechScore(VERSION, [_segment(*each, performer, around) for each in written], limits=LIMITS)


def _segment(segment: Segment, speed: float, score: Score, performer: Performer, around: Inflection) -> ScoreSegment:
    ends = [0.0]
    for phoneme in score:
        ends.append(ends[-1] + (phoneme.units or 0) * UNIT_SECONDS)
    by = segment.performer or performer
    words = []
    for word in segment.words:
        inflection = (word.inflection or PLAIN).within(around)
        time = round(ends[word.start], 3), round(ends[word.end], 3)
        words.append(
            ScoreWord(word.written, word.said, word.start, word.end, time, None if inflection == PLAIN else inflection)
        )
    phonemes = [
        ScorePhoneme(
            symbol,
            round((each.units or 0) * UNIT_SECONDS, 3),
            [round(value * HERTZ_STEP, 1) for value in each.pitch or ()],
            [round(value * ENERGY_STEP, 2) for value in each.energy or ()],
        )
        for symbol, each in zip(segment.script, score, strict=True)
    ]
    voice = "+".join(f"{name}({weight!r})" for name, weight in by.voice) if len(by.voice) > 1 else by.name
    return ScoreSegment(segment.text, voice, by.language, segment.cut, phonemes, words, speed, segment.pause)


def scored_sentences(score: SpeechScore, engine: EngineInfo) -> tuple[Performer, tuple[Sentence, ...], list[str]]:
    """The performer of the score's first segment, its segments as sentences, and the places of values that are spoken
    within the limits.

    Raises:
        ApiError: 400, naming the place that is wrong.
    """
    notation = Notation.of(engine)
    performers, sentences, limited = [], [], list[str]()
    for number, segment in enumerate(score.segments):
        place = f"score.segments[{number}]"
        with refusing(f"{place}.voice"):
            performers.append(Cast(engine.voices, language=segment.language).find(segment.voice))
        script = "".join(phoneme.phoneme for phoneme in segment.phonemes)
        if len(script) > notation.max_tokens:
            raise _wrong(f"{place}.phonemes", f"has {len(script)}; the model takes {notation.max_tokens}")
        for at, phoneme in enumerate(segment.phonemes):
            if len(phoneme.phoneme) != 1 or phoneme.phoneme not in notation.vocabulary:
                raise _wrong(f"{place}.phonemes[{at}].phoneme", f"is {phoneme.phoneme[:16]!r}, no phoneme of the model")
        _check(f"{place}.speed", segment.speed, SLOWEST, FASTEST)
        _check(f"{place}.pause", segment.pause or 0.0, 0.0, MAX_PAUSE)
        values = tuple(_phoneme(each, f"{place}.phonemes[{at}]") for at, each in enumerate(segment.phonemes))
        limited += _beyond(segment, place)
        unit = Unit(
            segment.text,
            script,
            "",
            segment.cut,
            tuple(_words(segment, place)),
            segment.speed,
            segment.pause,
            ends=True,
            performer=None if performers[-1] == performers[0] else performers[-1],
            score=values,
        )
        sentences.append((unit,))
    return performers[0], tuple(sentences), limited


def _words(segment: ScoreSegment, place: str) -> Iterator[SpokenWord]:
    before = 0
    for at, word in enumerate(segment.words):
        where = f"{place}.words[{at}]"
        if not before <= word.start <= word.end <= len(segment.phonemes):
            raise _wrong(where, f"has no phonemes {word.start} to {word.end} after the word before it")
        before = word.end
        inflection = word.inflection
        if inflection:
            for field, (low, high) in _INFLECTIONS.items():
                _check(f"{where}.inflection.{field}", getattr(inflection, field), low, high)
            for point, (moment, semitones) in enumerate(inflection.contour):
                _check(f"{where}.inflection.contour[{point}]", moment, 0.0, 1.0)
                _check(f"{where}.inflection.contour[{point}]", semitones, -MOST_SEMITONES, MOST_SEMITONES)
        yield SpokenWord(word.word, word.said, word.start, word.end, inflection=inflection)


def _phoneme(phoneme: ScorePhoneme, place: str) -> PhonemeScore:
    for field, values in (("pitch", phoneme.pitch), ("energy", phoneme.energy)):
        if values is not None and not len(values) <= _MOST_VALUES:
            raise _wrong(f"{place}.{field}", f"has {len(values)} values; {_MOST_VALUES} are taken")
    if phoneme.duration is not None:
        _check(f"{place}.duration", phoneme.duration, 0.0, MOST_UNITS * UNIT_SECONDS)
    for at, value in enumerate(phoneme.pitch or ()):
        if value:
            _check(f"{place}.pitch[{at}]", value, *HERTZ)
    for at, value in enumerate(phoneme.energy or ()):
        _check(f"{place}.energy[{at}]", value, LEAST_ENERGY, MOST_ENERGY)
    _check(f"{place}.volume", phoneme.volume, QUIETEST_DECIBELS, MOST_DECIBELS)
    return PhonemeScore(
        None if phoneme.duration is None else round(phoneme.duration / UNIT_SECONDS),
        None if phoneme.pitch is None else tuple(round(value / HERTZ_STEP) for value in phoneme.pitch),
        None if phoneme.energy is None else tuple(round(value / ENERGY_STEP) for value in phoneme.energy),
        phoneme.volume,
    )


def _beyond(segment: ScoreSegment, place: str) -> Iterator[str]:
    for at, phoneme in enumerate(segment.phonemes):
        if any(value > HIGHEST_HERTZ for value in phoneme.pitch or ()):
            yield f"{place}.phonemes[{at}].pitch"


def _check(place: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise _wrong(place, f"is {value:g}; {low:g} to {high:g} are taken")


def _wrong(place: str, what: str) -> ApiError:
    return ApiError(400, f"`{place}` {what}.", param=place, code="invalid_value")
