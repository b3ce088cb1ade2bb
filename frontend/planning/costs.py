"""An engine's costs, fitted to the worker's own timings: how long a script will take, and how long it will sound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import log2

from frontend.planning.fit import Line, Middle
from frontend.planning.profile import Profile, guess
from shm.audio import SAMPLE_RATE

_SETTLED = 8
"""Lone segments measured before plans follow what was measured."""

_LONE = 1.25
"""Runs side by side, mean, below which a segment counts as made alone."""

_MOST = 8
"""Runs side by side that are told apart."""

_CROWDING = 0.5
"""Of a lone run's time that each run beside it adds, until it is measured."""


class CostModel:
    """For one engine, model and provider. No clock in it; the same observations give the same figures.

    Segments are made whole (`t = a + b * tokens`), or vocoded in windows: prosody `a + b * tokens`, then `v` for each
    second of audio. Work and audio of a script shrink as speed grows; prosody is work on tokens, and doesn't.

    The first measurement takes the guess's place, because machines differ by a factor of ten and a guess says nothing
    about this one; its shape (what of a segment's time is fixed) stays until segments of different lengths were seen.
    """

    def __init__(self, first_block: float = 0.0) -> None:
        """Args:
        first_block: see `EngineInfo.first_block`.
        """
        self._first_block = first_block
        self.seed(guess(first_block))

    def seed(self, profile: Profile) -> None:
        """Begin from a stored profile's figures in place of the guess; what was measured is forgotten."""
        self._start = profile
        self._work = Line(profile.fixed, profile.per_token)
        """Of whole segments, or of their prosody."""
        self._vocoder = Middle(profile.per_audio)
        self._audio = Line(profile.audio_fixed, profile.audio_per_token)
        self._at_speed: dict[int, Middle] = defaultdict(lambda: Middle(1.0))
        """By half octaves of speed: how much longer audio is than speed lets expect."""
        self._crowding: dict[int, Middle] = {}
        """By runs side by side: what part of a lone run's time each other one adds."""
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
        """A segment of `tokens` had `samples` samples, which took `seconds` to make.

        Args:
            prosody_seconds: of `seconds`; 0 if the engine doesn't tell (`Done.prosody_seconds`).
            load: how many runs went side by side meanwhile, this one included: the mean over its time.
        """
        if tokens <= 0 or samples <= 0 or seconds <= 0:
            return
        audio = samples / SAMPLE_RATE
        self._audio.add(tokens, audio * speed)
        if bucket := _speed_bucket(speed):
            self._at_speed[bucket].add(audio * speed / self._audio(tokens))
        if load >= _LONE:
            if self._lone:
                excess = (seconds / self.seconds(tokens, speed) - 1) / (load - 1)
                self._crowding.setdefault(_runs(load), Middle(_CROWDING)).add(max(excess, 0.0))
                return
            # Better than a guess, until a segment was made alone.
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
        self._vocoder.add((seconds - prosody) / audio)

    def samples(self, tokens: int, speed: float) -> int:
        """The expected length of a script."""
        correction = self._at_speed[bucket].figure if (bucket := _speed_bucket(speed)) in self._at_speed else 1.0
        return int(self._audio(tokens) / speed * correction * SAMPLE_RATE)

    def seconds(self, tokens: int, speed: float, load: float = 1.0) -> float:
        """The expected time to make all of it, with `load` runs side by side."""
        return self._predicted(Profile.seconds, tokens, speed) * self._factor(load)

    def first_audio(self, tokens: int, speed: float, load: float = 1.0) -> float:
        """The expected time until its first block is there."""
        return self._predicted(Profile.first_audio, tokens, speed) * self._factor(load)

    def real_time_factor(self, load: float = 1.0) -> float:
        """Seconds of work per second of audio, of a segment of ordinary length."""
        return self.profile().real_time_factor() * self._factor(load)

    def profile(self) -> Profile:
        """The present figures, measured where that was possible."""
        (fixed, per_token), (audio_fixed, audio_per_token) = self._work.figures, self._audio.figures
        return Profile(
            per_token=per_token,
            audio_per_token=audio_per_token,
            fixed=fixed,
            audio_fixed=audio_fixed,
            per_audio=self._vocoder.figure if self._first_block else 0.0,
            first_block=self._first_block,
        )

    def stored(self, profile: Profile) -> Profile:
        """The profile that plans are made from next: the same one, until enough was measured that tells otherwise."""
        return profile.follow(self.profile()) if self._lone >= _SETTLED else profile

    def as_dict(self) -> dict[str, object]:
        """For `/status`: what was measured, nothing else."""
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

    def _predicted(self, figure: Callable[[Profile, int, float], float], tokens: int, speed: float) -> float:
        return figure(self.profile(), tokens, speed)

    def _factor(self, load: float) -> float:
        """How many times longer a run takes with `load` runs side by side: from the nearest number that was seen."""
        if load <= 1:
            return 1.0
        if not self._crowding:
            return 1 + _CROWDING * (load - 1)
        nearest = min(self._crowding, key=lambda runs: (abs(runs - load), runs))
        return 1 + self._crowding[nearest].figure * (load - 1)


def _speed_bucket(speed: float) -> int:
    """Half octaves from speed 1."""
    return round(2 * log2(speed))


def _runs(load: float) -> int:
    return min(max(2, round(load)), _MOST)
