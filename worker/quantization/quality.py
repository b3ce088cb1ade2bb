"""What a variant costs in quality: its durations and pitch beside the full-precision model's, and its sound.

A vocoder that is given other durations makes other samples, which no waveform measure can compare. So the two halves
are judged apart. Prosody: each model predicts its own, and what is counted is how often a phoneme gets the same
duration, how far a sentence's length is off, and how far the pitch is off where all durations of a sentence are alike.
Sound: both models vocode the same prosody, the full-precision one's, with the same noise, each sentence whole.

How much a distance matters is told by `spread`: the distance of the full-precision model to itself with other noise,
which nobody hears as a difference.
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
from worker.quantization.renderer import Renderer
from worker.quantization.sentences import evaluation
from worker.quantization.speakers import judged, spread_out
from worker.settings import WorkerSettings
from worker.split.windows import FRAMES_PER_SECOND
from worker.voices import VoiceBank

SOUND_SENTENCES, SOUND_VOICES = 6, 2
"""Of them, how many are vocoded: that costs twenty times as much."""

PREFIX = "kokoro_live."
"""Of all that a variant's file says of itself."""

SAME_DURATIONS = 0.95
"""Share of phonemes with the same duration, for `passes`. A duration that differs mostly does by one unit, 25 ms."""

_VOICED = 40.0
"""Hz below which a sentence's F0 says that nothing is voiced."""


_DISTANCES = ("log_spectral_distance", "log_mel_distance", "spread", "length_difference", "pitch_difference")


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over sentences and voices."""

    snr: float
    """dB, of the waveform; little is heard of it, since a small error of phase costs all of it."""
    log_spectral_distance: float
    """dB"""
    log_mel_distance: float
    """dB; this is the one to judge by."""
    spread: float
    """Log-mel distance in dB of the full-precision model to itself with other noise."""
    duration_agreement: float
    """Share of phonemes whose predicted duration is the same, 0 to 1."""
    length_difference: float
    """Mean absolute difference of a sentence's length, in seconds."""
    pitch_difference: float | None = None
    """Mean absolute difference of F0 in cents, over sentences whose durations are all alike; None if there is none."""

    @property
    def passes(self) -> bool:
        """Whether the variant is nearer to the model than the model with other noise is, and as good as all durations
        are alike."""
        return self.log_mel_distance <= self.spread and self.duration_agreement >= SAME_DURATIONS

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
                    if field.name != "pitch_difference" or PREFIX + field.name in properties
                }
            )
        except (KeyError, ValueError):
            return None
        return said if said._makes_sense() else None

    def _makes_sense(self) -> bool:
        distances = [value for name in _DISTANCES if (value := getattr(self, name)) is not None]
        return (
            math.isfinite(self.snr)
            and all(math.isfinite(value) and value >= 0 for value in distances)
            and 0 <= self.duration_agreement <= 1
        )


def compare(
    reference: Path,
    other: Path,
    voices: Path,
    settings: WorkerSettings,
    *,
    scripts: Sequence[str] | None = None,
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
        scripts: sentences in phonemes; by default those that nothing was calibrated on.
        names: voices; by default some of all.
        cache: for the variant's stages, instead of the settings'.
        progress: called with the share that is done, 0 to 1.

    Raises:
        Unprepared, EngineUnavailable, EngineError: one of them can't be split, loaded, or doesn't work.
    """
    bank = VoiceBank.open(voices)
    scripts, names = scripts or evaluation(), names or judged(bank.names)
    told = progress or (lambda _: None)
    exact = Renderer(reference, bank, settings, settings.cache_dir)
    variant = Renderer(other, bank, settings, cache or settings.cache_dir)
    agreement, lengths, pitches = [], [], []
    pairs = list(product(scripts, names))
    for done, (script, voice) in enumerate(pairs):
        ours, theirs = exact.prosody(script, voice), variant.prosody(script, voice)
        if ours.durations.shape != theirs.durations.shape:
            raise EngineError(
                f"{other.name} doesn't know all phonemes of {reference.name}: it was made of another model"
            )
        same = ours.durations == theirs.durations
        agreement.append(same)
        lengths.append(abs(ours.frames - theirs.frames) / FRAMES_PER_SECOND)
        if same.all() and (cents := _pitch_difference(ours.f0, theirs.f0)) is not None:
            pitches.append(cents)
        told(_PROSODY_SHARE * (done + 1) / len(pairs))
    rows = []
    pairs = list(product(spread_out(scripts, SOUND_SENTENCES), names[:SOUND_VOICES]))
    for done, (script, voice) in enumerate(pairs):
        prosody = exact.prosody(script, voice)
        sound, same_noise, other_noise = (
            renderer.sound(prosody, seed) for renderer, seed in ((exact, 0), (variant, 0), (exact, 1))
        )
        rows.append(
            (
                snr(sound, same_noise),
                log_spectral_distance(sound, same_noise),
                log_mel_distance(sound, same_noise),
                log_mel_distance(sound, other_noise),
            )
        )
        told(_PROSODY_SHARE + (1 - _PROSODY_SHARE) * (done + 1) / len(pairs))
    by_waveform, by_spectrum, by_mel, spread = (statistics.fmean(column) for column in zip(*rows, strict=True))
    return Quality(
        snr=by_waveform,
        log_spectral_distance=by_spectrum,
        log_mel_distance=by_mel,
        spread=spread,
        duration_agreement=float(np.concatenate(agreement).mean()),
        length_difference=statistics.fmean(lengths),
        pitch_difference=statistics.fmean(pitches) if pitches else None,
    )


_PROSODY_SHARE = 0.4
"""Of the time that a comparison takes."""


def _pitch_difference(one: NDArray[Any], two: NDArray[Any]) -> float | None:
    """In cents, where both are voiced; None where that is nowhere."""
    first, second = one.astype(float), two.astype(float)
    voiced = (first > _VOICED) & (second > _VOICED)
    if not voiced.any():
        return None
    return float(np.abs(1200 * np.log2(first[voiced] / second[voiced])).mean())
