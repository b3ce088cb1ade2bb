"""What a variant costs in quality: heard as it speaks, and its parts beside the full-precision model's.

The gate (`worker.hearing.gate`) hears both models speak the same texts whole, each with the prosody that it predicts:
words, opinion scores and levels. Two more measures say where a difference comes from. Prosody: how often a phoneme gets
the same duration, how far a sentence's length is off, and how far the pitch is off where all durations of a sentence
are alike. Sound: both models vocode the same prosody, the full-precision one's, with the same noise, because a vocoder
that is given other durations makes other samples, which no waveform measure can compare.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.engine import EngineError
from worker.fidelity import log_mel_distance, log_spectral_distance, snr
from worker.hearing.ears import Ears, Heard
from worker.hearing.gate import Judgement
from worker.quantization.renderer import Renderer
from worker.quantization.sentences import evaluation_texts
from worker.quantization.speakers import judged, spread_out
from worker.settings import WorkerSettings
from worker.split.windows import FRAMES_PER_SECOND
from worker.voices import VoiceBank

SOUND_SENTENCES, SOUND_VOICES = 6, 2
"""Of them, how many are vocoded: that costs twenty times as much."""

PREFIX = "kokoro_live."
"""Of all that a variant's file says of itself."""

_VOICED = 40.0
"""Hz below which a sentence's F0 says that nothing is voiced."""


_DISTANCES = ("log_spectral_distance", "log_mel_distance", "length_difference", "pitch_difference", "level_difference")
_OPTIONAL = ("pitch_difference", "word_error_points", "opinion_loss")


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over sentences and voices."""

    snr: float
    """dB, of the waveform; little is heard of it, since a small error of phase costs all of it."""
    log_spectral_distance: float
    """dB"""
    log_mel_distance: float
    """dB; this is the one to judge by."""
    duration_agreement: float
    """Share of phonemes whose predicted duration is the same, 0 to 1."""
    length_difference: float
    """Mean absolute difference of a sentence's length, in seconds."""
    pitch_difference: float | None = None
    """Mean absolute difference of F0 in cents, over sentences whose durations are all alike; None if there is none."""

    level_difference: float = 0.0
    """dB: the mean absolute difference of level at the length of text where it is largest."""
    words: float = 0.0
    """That were listened for."""
    word_error_points: float | None = None
    """Percentage points by which the word error rate is above the model's; None if nobody listened."""
    opinion_loss: float | None = None
    """By which the mean opinion score (DNSMOS P.808) is below the model's; None if it wasn't scored."""

    @property
    def judgement(self) -> Judgement:
        """What the gate says of it."""
        return Judgement(
            level_difference=self.level_difference,
            log_mel_distance=self.log_mel_distance,
            words=round(self.words),
            word_error_points=self.word_error_points,
            opinion_loss=self.opinion_loss,
        )

    @property
    def passes(self) -> bool:
        """Whether it is within the gate's limits, as far as they were judged (`Judgement.judged`)."""
        return self.judgement.passes

    def as_properties(self) -> dict[str, str]:
        """As a file's metadata has it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {f"{PREFIX}{name}": f"{value:.5g}" for name, value in values.items() if value is not None}

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Quality | None:
        """None if it wasn't measured, or if what the file says makes no sense."""
        try:
            said = cls(
                **{
                    field.name: float(properties[PREFIX + field.name])
                    for field in fields(cls)
                    if field.name not in _OPTIONAL or PREFIX + field.name in properties
                }
            )
        except (KeyError, ValueError):
            return None
        return said if said._makes_sense() else None

    def _makes_sense(self) -> bool:
        distances = [value for name in _DISTANCES if (value := getattr(self, name)) is not None]
        return (
            all(math.isfinite(value) for value in (self.snr, self.word_error_points or 0, self.opinion_loss or 0))
            and all(math.isfinite(value) and value >= 0 for value in distances)
            and 0 <= self.duration_agreement <= 1
            and self.words >= 0
        )


def compare(
    reference: Path,
    other: Path,
    voices: Path,
    settings: WorkerSettings,
    *,
    texts: Sequence[tuple[str, str]] | None = None,
    names: Sequence[str] | None = None,
    cache: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Quality:
    """How far `other` is from the full-precision model it was made of.

    Args:
        reference: the full-precision model.
        other: the variant.
        voices: of both.
        settings: threads and sessions; `cache_dir` has the reference's stages.
        texts: English texts and their phonemes; by default those that nothing was calibrated on.
        names: voices; by default some of all.
        cache: for the variant's stages, instead of the settings'.
        progress: called with the share that is done, 0 to 1.

    Raises:
        Unprepared, EngineUnavailable, EngineError: one of them can't be split, loaded, or doesn't work.
    """
    bank = VoiceBank.open(voices)
    texts, names = texts or evaluation_texts(), names or judged(bank.names)
    told = progress or (lambda _: None)
    exact = Renderer(reference, bank, settings, settings.cache_dir)
    variant = Renderer(other, bank, settings, cache or settings.cache_dir)
    scripts = [script for _, script in texts]
    prosody = _prosody(exact, variant, list(product(scripts, names)), lambda share: told(_PROSODY_SHARE * share))
    pairs = list(product(spread_out(scripts, SOUND_SENTENCES), names[:SOUND_VOICES]))
    sound = _sound(exact, variant, pairs, lambda share: told(_PROSODY_SHARE + _SOUND_SHARE * share))
    before = _PROSODY_SHARE + _SOUND_SHARE
    heard = _heard(exact, variant, texts, names, lambda share: told(before + (1 - before) * share))
    return Quality(
        **prosody,
        **sound,
        level_difference=heard.level_difference,
        words=heard.words,
        word_error_points=heard.word_error_points,
        opinion_loss=heard.opinion_loss,
    )


_PROSODY_SHARE, _SOUND_SHARE = 0.15, 0.15
"""Of the time that a comparison takes."""


def _prosody(
    exact: Renderer, variant: Renderer, pairs: Sequence[tuple[str, str]], told: Callable[[float], None]
) -> dict[str, Any]:
    """How far durations and pitch are off, over pairs of script and voice."""
    agreement, lengths, pitches = [], [], []
    for done, (script, voice) in enumerate(pairs):
        ours, theirs = exact.prosody(script, voice), variant.prosody(script, voice)
        if ours.durations.shape != theirs.durations.shape:
            raise EngineError("the variant doesn't know all phonemes of the model: it was made of another model")
        same = ours.durations == theirs.durations
        agreement.append(same)
        lengths.append(abs(ours.frames - theirs.frames) / FRAMES_PER_SECOND)
        if same.all() and (cents := _pitch_difference(ours.f0, theirs.f0)) is not None:
            pitches.append(cents)
        told((done + 1) / len(pairs))
    return {
        "duration_agreement": float(np.concatenate(agreement).mean()),
        "length_difference": statistics.fmean(lengths),
        "pitch_difference": statistics.fmean(pitches) if pitches else None,
    }


def _sound(
    exact: Renderer, variant: Renderer, pairs: Sequence[tuple[str, str]], told: Callable[[float], None]
) -> dict[str, float]:
    """How far the sound of the same prosody is off, over pairs of script and voice."""
    rows = []
    for done, (script, voice) in enumerate(pairs):
        prosody = exact.prosody(script, voice)
        ours, theirs = (renderer.sound(prosody, seed=0) for renderer in (exact, variant))
        rows.append([measure(ours, theirs) for measure in (snr, log_spectral_distance, log_mel_distance)])
        told((done + 1) / len(pairs))
    names = ("snr", "log_spectral_distance", "log_mel_distance")
    return {name: statistics.fmean(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _heard(
    exact: Renderer,
    variant: Renderer,
    texts: Sequence[tuple[str, str]],
    names: Sequence[str],
    told: Callable[[float], None],
) -> Judgement:
    """Both speak each text, by one voice after another, with prosody of their own."""
    ears = Ears()
    heard: tuple[list[Heard], list[Heard]] = ([], [])
    for done, (text, script) in enumerate(texts):
        for renderer, found in zip((exact, variant), heard, strict=True):
            prosody = renderer.prosody(script, names[done % len(names)])
            found.append(ears.heard(text, renderer.sound(prosody, seed=0)))
        told((done + 1) / len(texts))
    return Judgement.of(*heard)


def _pitch_difference(one: NDArray[Any], two: NDArray[Any]) -> float | None:
    """In cents, where both are voiced; None where that is nowhere."""
    first, second = one.astype(float), two.astype(float)
    voiced = (first > _VOICED) & (second > _VOICED)
    if not voiced.any():
        return None
    return float(np.abs(1200 * np.log2(first[voiced] / second[voiced])).mean())
