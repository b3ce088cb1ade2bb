"""Cost models, fitted to an engine's timings: they predict a script's inference time and the length of its audio."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, defaultdict, deque
from collections.abc import Sequence
from math import log2

import msgspec
import numpy as np
from numpy.typing import NDArray

from frontend.contract.request import SpeechRequest
from frontend.planning.profile import CostProfile, guess
from frontend.planning.strain import Strain
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo

WINDOW = 64
"""Number of latest measurements that are kept."""

HALF_LIFE = 16
"""Age, in measurements, at which a measurement weighs half: after this many, a new pace outweighs the old one."""

_APART = 1.5
"""Smallest ratio between long and short measurements at which a line's two figures are fitted separately."""

_ENOUGH = 4
"""Number of measurements that must be on either side of that ratio; fewer could all be outliers."""

_MANY = 16
"""Number of measurements needed to fit the two figures separately; with fewer, the fixed one is mostly noise."""

_STEADYING = 2.0
"""Weight, in measurements, of each of the two points that stand for the first guess."""

_STEPS = 20
_EXACT = 1e-3
"""Relative residuals below this value count as equal."""

_Numbers = NDArray[np.float64]


class Middle:
    """Weighted median of the latest measurements."""

    def __init__(self, first: float) -> None:
        """
        Args:
            first: the value of `figure` until something is measured.
        """
        self._first = first
        self._seen: deque[float] = deque(maxlen=WINDOW)

    def add(self, value: float) -> None:
        self._seen.append(value)

    def clear(self) -> None:
        self._seen.clear()

    @property
    def figure(self) -> float:
        """Weighted median of the measurements; the first figure until something is measured."""
        return _median(np.array(self._seen), _weights(len(self._seen))) if self._seen else self._first


class Line:
    """`y = fixed + slope * x`, neither figure below 0, fitted by least absolute relative deviations.

    While all `x` are much alike, only the pace is fitted: both first figures are multiplied by one factor.
    """

    def __init__(self, fixed: float, slope: float) -> None:
        """
        Args:
            fixed, slope: the figures until something is measured.
        """
        self._first = (fixed, slope)
        self._seen: deque[tuple[float, float]] = deque(maxlen=WINDOW)
        self._fitted: tuple[float, float] | None = None

    def add(self, x: float, y: float) -> None:
        """Add a measurement: `y` at `x`, both above 0."""
        self._seen.append((x, y))
        self._fitted = None

    def clear(self) -> None:
        self._seen.clear()
        self._fitted = None

    @property
    def count(self) -> int:
        """Number of measurements that the fit rests on."""
        return len(self._seen)

    @property
    def figures(self) -> tuple[float, float]:
        """The fitted `fixed` and `slope`."""
        if self._fitted is None:
            self._fitted = self._fit() if self._seen else self._first
        return self._fitted

    def __call__(self, x: float) -> float:
        fixed, slope = self.figures
        return fixed + slope * x

    def _fit(self) -> tuple[float, float]:
        x, y = np.array(self._seen).T
        weights = _weights(len(x))
        fixed, slope = self._first
        pace = _median(y / (fixed + slope * x), weights)
        fixed, slope = pace * fixed, pace * slope
        lengths = np.sort(x)
        if len(x) < _MANY or lengths[_ENOUGH - 1] * _APART > lengths[-_ENOUGH]:
            return fixed, slope
        # Two points of the first line hold the fixed part steady where only jitter contradicts it.
        edges = lengths[[0, -1]]
        x, y = np.append(x, edges), np.append(y, fixed + slope * edges)
        weights = np.append(weights, [_STEADYING, _STEADYING])
        expected = fixed + slope * x
        for _ in range(_STEPS):
            # Least squares with weights of 1 / distance, iterated, converge to least absolute distances.
            residuals = np.abs(y - fixed - slope * x) / expected
            fixed, slope = _line(x, y, weights / (np.maximum(residuals, _EXACT) * expected**2))
        if fixed < 0:
            return 0.0, _median(y / x, weights)
        if slope < 0:
            return _median(y, weights), 0.0
        return fixed, slope


def _line(x: _Numbers, y: _Numbers, weights: _Numbers) -> tuple[float, float]:
    total = weights.sum()
    middle_x, middle_y = (weights * x).sum() / total, (weights * y).sum() / total
    apart = x - middle_x
    slope = (weights * apart * (y - middle_y)).sum() / (weights * apart**2).sum()
    return float(middle_y - slope * middle_x), float(slope)


def _weights(count: int) -> _Numbers:
    return np.asarray(0.5 ** (np.arange(count - 1, -1, -1) / HALF_LIFE))


def _median(values: _Numbers, weights: Sequence[float] | _Numbers) -> float:
    order = np.argsort(values)
    below = np.cumsum(np.asarray(weights)[order])
    return float(values[order[np.searchsorted(below, below[-1] / 2)]])


_SETTLED = 8
"""Number of segments that must be measured alone before plans follow the measurements."""

_LONE = 1.25
"""Mean number of concurrent runs below which a segment counts as made alone."""

_FOLLOWED = 4
"""Number of segments between two looks at the measurements: a look takes half a millisecond."""

_MOST = 8
"""Largest number of concurrent runs that has a load factor of its own; larger numbers share this one's."""

_CROWDING = 0.5
"""Share of a lone run's time that each concurrent run adds, until it is measured."""


class CostModel:
    """Cost model of one engine, model and provider. The model reads no clock, so equal observations give equal figures.

    An engine makes a segment whole, in `a + b * tokens` seconds, or vocodes it in windows: prosody takes `a + b *
    tokens` seconds and the vocoder `v` for each second of audio. A script's work and audio shrink as speed grows.
    Prosody works on tokens, so its time doesn't depend on speed.

    The first measurement replaces the guess, because machines differ by a factor of ten and a guess says nothing about
    this one. The guess's ratio of fixed to proportional work stays until segments of different lengths have been
    measured.
    """

    def __init__(
        self, first_block: float = 0.0, sample_rate: int = SAMPLE_RATE, adapts: bool = True, shortens_above: float = 0.0
    ) -> None:
        """
        Args:
            first_block: seconds of audio in a segment's first block (`EngineInfo.first_block`).
            sample_rate: samples per second of the engine.
            adapts: whether plans follow measurements.
            shortens_above: `EngineInfo.shortens_above`.
        """
        self._rate = sample_rate
        self._first_block = first_block
        self._adapts = adapts
        self._observed = 0
        self.profile = profile = guess(first_block, shortens_above)
        """CostProfile for the next plans: the same one until enough measurements contradict it."""
        self._work = Line(profile.fixed, profile.per_token)
        """Work of a whole segment, or of its prosody if the engine vocodes in windows."""
        self._vocoder = Middle(profile.per_audio)
        self._audio = Line(profile.audio_fixed, profile.audio_per_token)
        self._at_speed: dict[int, Middle] = defaultdict(lambda: Middle(1.0))
        """Ratio of a script's audio length to the length expected from its speed, by half octaves of speed."""
        self._crowding: dict[int, Middle] = {}
        """Share of a lone run's time that each other run adds, by number of concurrent runs."""
        self._lone = 0

    def observe(
        self,
        tokens: int,
        speed: float,
        samples: int,
        seconds: float,
        prosody_seconds: float = 0.0,
        load: float = 1.0,
    ) -> None:
        """Learn from one segment of `tokens` tokens, which has `samples` samples and took `seconds` to make.

        Args:
            prosody_seconds: the part of `seconds` spent on prosody; 0 if the engine doesn't report it
                (`Done.prosody_seconds`).
            load: mean number of concurrent runs during the segment's run, that run included.
        """
        if tokens <= 0 or samples <= 0 or seconds <= 0:
            return
        self._learn(tokens, speed, samples, seconds, prosody_seconds, load)
        self._observed += 1
        if self._adapts and self._observed % _FOLLOWED == 0 and self._lone >= _SETTLED:
            self.profile = self.profile.follow(self.fitted())

    def _learn(
        self, tokens: int, speed: float, samples: int, seconds: float, prosody_seconds: float, load: float
    ) -> None:
        audio = samples / self._rate
        self._audio.add(tokens, audio * speed)
        if bucket := _speed_bucket(speed):
            self._at_speed[bucket].add(audio * speed / self._audio(tokens))
        if load >= _LONE:
            if self._lone:
                excess = (seconds / self.seconds(tokens, speed) - 1) / (load - 1)
                self._crowding.setdefault(_runs(load), Middle(_CROWDING)).add(max(excess, 0.0))
                return
            # A corrected time beats the guess until a segment has been made alone.
            seconds, prosody_seconds = seconds / self._factor(load), prosody_seconds / self._factor(load)
        elif not self._lone:
            self._work.clear()
            self._vocoder.clear()
        self._lone += load < _LONE
        if not self._first_block:
            self._work.add(tokens / speed, seconds)
            return
        if prosody_seconds > 0:
            self._work.add(tokens, prosody_seconds)
        prosody = min(prosody_seconds or self._work(tokens), seconds)
        self._vocoder.add((seconds - prosody) / (audio * self.profile.made(speed)))

    @property
    def measured(self) -> bool:
        """True if at least one segment has been measured: until then the figures are a guess."""
        return self._observed > 0

    def samples(self, tokens: int, speed: float) -> int:
        """Expected length of a script's audio, in samples."""
        correction = self._at_speed[bucket].figure if (bucket := _speed_bucket(speed)) in self._at_speed else 1.0
        return int(self._audio(tokens) / speed * correction * self._rate)

    def seconds(self, tokens: int, speed: float, load: float = 1.0) -> float:
        """Expected seconds to make the whole script with `load` concurrent runs."""
        return self.fitted().seconds(tokens, speed) * self._factor(load)

    def first_audio(self, tokens: int, speed: float, load: float = 1.0) -> float:
        """Expected seconds until the script's first block is made, with `load` concurrent runs."""
        return self.fitted().first_audio(tokens, speed) * self._factor(load)

    def prosody(self, tokens: int, load: float = 1.0) -> float:
        """Expected seconds before a script's first window, with `load` concurrent runs; 0 for an engine without
        windows."""
        return self.fitted().prosody(tokens) * self._factor(load)

    def real_time_factor(self, load: float = 1.0, speed: float = 1.0) -> float:
        """Seconds of work per second of audio for a segment of 100 tokens."""
        return self.fitted().real_time_factor(speed) * self._factor(load)

    def fitted(self) -> CostProfile:
        """Current figures; guessed ones stand where nothing has been measured."""
        (fixed, per_token), (audio_fixed, audio_per_token) = self._work.figures, self._audio.figures
        return CostProfile(
            per_token=per_token,
            audio_per_token=audio_per_token,
            fixed=fixed,
            audio_fixed=audio_fixed,
            per_audio=self._vocoder.figure if self._first_block else 0.0,
            first_block=self._first_block,
            shortens_above=self.profile.shortens_above,
        )

    def as_dict(self) -> dict[str, object]:
        """Measured figures only, for `/status`."""
        shown: dict[str, object] = {}
        if self._audio.count:
            shown["audio_seconds_per_token"] = round(self._audio(100) / 100, 5)
        if self._lone:
            shown["segments"] = self._lone
            shown["seconds_per_100_tokens"] = round(self.seconds(100, 1.0), 5)
            shown["real_time_factor"] = round(self.real_time_factor(), 5)
            if self._first_block and self._work.count:
                shown["prosody_seconds_per_100_tokens"] = round(self._work(100), 5)
                shown["vocoder_seconds_per_audio_second"] = round(self._vocoder.figure, 5)
        if self._crowding:
            shown["load_factors"] = {str(runs): round(self._factor(runs), 3) for runs in sorted(self._crowding)}
        return shown

    def _factor(self, load: float) -> float:
        """Factor by which a run takes longer with `load` concurrent runs, from the nearest number that was measured."""
        if load <= 1:
            return 1.0
        if not self._crowding:
            return 1 + _CROWDING * (load - 1)
        nearest = min(self._crowding, key=lambda runs: (abs(runs - load), runs))
        return 1 + self._crowding[nearest].figure * (load - 1)


def _speed_bucket(speed: float) -> int:
    """Number of half octaves from speed 1."""
    return round(2 * log2(speed))


def _runs(load: float) -> int:
    return min(max(2, round(load)), _MOST)


MOST_TEXTS = 10_000
"""Most texts that are remembered, at about 200 bytes each; the one requested longest ago is forgotten first."""


class Ledger:
    """Cost models by engine, model and provider; and the profile of each text's first plan, as long as this front
    lives.

    A profile follows the measurements, and a text that is planned with another profile is cut elsewhere: it would last
    longer or shorter than before, and nothing of it would be found in the cache. If the first profile is wrong by so
    much that a listener would run dry, the rest is planned again anyway (`frontend.scheduling.dispatcher`).
    """

    def __init__(self, adapts: bool = True, most_texts: int = MOST_TEXTS, strain: Strain | None = None) -> None:
        """
        Args:
            adapts: whether plans follow measurements, and keep a reserve while the machine is under strain.
            strain: the machine's; none is looked at without it.
        """
        self._adapts = adapts
        self.strain = strain if adapts else None
        self._most_texts = most_texts
        self._models: dict[tuple[str, str, str], CostModel] = {}
        self._first_profiles: OrderedDict[bytes, CostProfile] = OrderedDict()
        self.by_label: dict[str, CostModel] = {}
        """All cost models by the engine's name, model file and provider, for `/status`."""

    def of(self, engine: EngineInfo) -> CostModel:
        """The engine's cost model; a new one starts from a guess."""
        key = (engine.name, engine.model_sha256 or engine.model, engine.provider)
        if key not in self._models:
            self._models[key] = self.by_label[_label(engine)] = CostModel(
                engine.first_block, engine.sample_rate, self._adapts, engine.shortens_above
            )
        return self._models[key]

    def profile_for(self, engine: EngineInfo, request: SpeechRequest) -> CostProfile:
        """The profile for the request's plan: the profile of the same text's first plan, or the engine's present
        one."""
        spoken = (
            _label(engine),
            request.text,
            request.turns,
            request.language,
            request.aliases,
            request.one_language,
            request.speed,
            request.markup,
            request.phonemes,
            request.rules_off,
            request.pronunciations,
            request.delimiters,
        )
        key = hashlib.blake2b(msgspec.msgpack.encode(spoken), digest_size=16).digest()
        present = self.of(engine).profile
        if key not in self._first_profiles and self.strain and (reserve := self.strain.reserve) > 1:
            present = present.slowed(reserve)
        profile = self._first_profiles.setdefault(key, present)
        self._first_profiles.move_to_end(key)
        if len(self._first_profiles) > self._most_texts:
            self._first_profiles.popitem(last=False)
        return profile


def _label(engine: EngineInfo) -> str:
    return f"{engine.name} {engine.model} {engine.provider}"
