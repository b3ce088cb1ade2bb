"""What tuning found, in a file: `serve` reads it, and never anything that isn't whole, fresh and made for its case."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from supervisor.tuning.chosen import Chosen

FORMAT = 1
"""One more whenever what is in the file means something else."""

DAY = 86_400.0
LIFETIMES: dict[str, float | None] = {"24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY, "never": None}
"""Seconds for which a profile is used, by what `--ttl` takes; None: for good."""

DEFAULT_LIFETIME = "7d"


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """What a profile was made for. Anything else of these makes it void."""

    machine: str
    """`worker.machine.machine_name`"""
    onnxruntime: str
    model_sha256: str
    """Of the file that the user named, or the model directory's."""
    options: dict[str, str]
    """The settings that the user has given (`supervisor.tuning.chosen.options`)."""
    format: int = FORMAT

    @property
    def name(self) -> str:
        """The same for the same key, as long as a file's name should be."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:24]


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was tried."""

    stage: str
    """What it was about: `threads`, `knobs`, `holdout`."""
    tried: str
    """Its settings, as people read them."""
    score: float | None = None
    """Against what it was compared with; more than 1 is better. None if it failed, or several figures decide."""
    first: float | None = None
    real_time: float | None = None
    together: float | None = None
    memory: float | None = None
    """Ratios to the same; see `supervisor.tuning.score`."""
    first_together: float | None = None
    gapless: float | None = None
    """Likewise, of several workers only: see `supervisor.tuning.several_workers`."""
    note: str = ""
    """Why it failed, or wasn't taken."""


class TuningProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What was found for one key."""

    key: Key
    created: float
    """Seconds since 1970."""
    lifetime: float | None
    """Seconds; None: for good."""
    chosen: Chosen
    """Nothing where the defaults stay."""
    model_sha256: str
    """Of the model file that was chosen; the key's where none was."""
    costs: dict[str, dict[str, float]]
    """By engine: see `frontend.planning.stored`."""
    verdict: str
    """In one sentence: what is used and why."""
    holdout_gain: float | None = None
    """Of what was chosen last against the default, whether it was taken or not; 0.05: 5 % better."""
    trials: int
    attempts: tuple[Attempt, ...] = ()
    bounds: dict[str, float] = {}
    """What the user set for the search: how far, how large and how short anything might be. By option."""

    def age(self, now: float) -> float:
        """Seconds."""
        return now - self.created

    def expired(self, now: float) -> bool:
        """A profile from the future (a clock that was set) is no fresh one either, unless it is for good."""
        return self.lifetime is not None and not -DAY <= self.age(now) < self.lifetime


class Unusable(Exception):
    """There is no profile to go by; the message says why, and starts in the middle of a sentence."""


class Missing(Unusable):
    """Nothing was ever found for such a case."""


class ProfileFolder:
    """All profiles of one cache."""

    def __init__(self, cache_dir: Path) -> None:
        self.path = cache_dir / "tuning"

    def file(self, key: Key) -> Path:
        return self.path / f"{key.name}.json"

    def costs_file(self, key: Key) -> Path:
        """The profile's costs as `--cost-profiles` takes them."""
        return self.path / f"{key.name}.costs.json"

    def empty(self) -> bool:
        """Whether there is nothing to look for: known without a key, which costs a hash."""
        return not any(self._files())

    def read(self, key: Key) -> TuningProfile:
        """Whatever its age.

        Raises:
            Missing: there is none.
            Unusable: the file is damaged, or another key's.
        """
        file = self.file(key)
        try:
            profile = _decode(file.read_bytes())
        except FileNotFoundError:
            raise Missing(self._missing(key)) from None
        except (OSError, ValueError) as error:
            raise Unusable(f"{file} can't be used: {error}") from error
        if profile.key != key:
            raise Unusable(f"{file} is another case's: it was copied or changed")
        return profile

    def fresh(self, key: Key, now: float) -> TuningProfile:
        """
        Args:
            now: seconds since 1970.

        Raises:
            Missing: there is none.
            Unusable: it is damaged, another key's, or too old.
        """
        profile = self.read(key)
        if profile.expired(now):
            age = profile.age(now)
            said = f"is {days(age)} old" if age > 0 else f"was made {days(-age)} from now: a clock was wrong"
            raise Unusable(f"the profile {said}; `kokoro-live tune` makes another")
        return profile

    def write(self, profile: TuningProfile) -> Path:
        """Whole or not at all.

        Raises:
            OSError: it can't be written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        _replace(self.costs_file(profile.key), profile.costs)
        file = self.file(profile.key)
        _replace(file, profile)
        return file

    def clear(self) -> int:
        """Remove all profiles; how many there were.

        Raises:
            OSError: one can't be removed.
        """
        count = len(self._files())
        for pattern in ("*.json", ".*.json-*"):  # the latter are of a process that was killed while it wrote
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)
        return count

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Be the only search: two at once would measure each other. The lock ends with the process, however it ends.

        Raises:
            Unusable: another one goes on, or nothing could be kept there.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("w")
        except OSError as error:
            raise Unusable(f"nothing can be kept in {self.path}: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Unusable("another `kokoro-live tune` goes on, and two would measure each other") from None
            yield

    def _files(self) -> list[Path]:
        return [file for file in self.path.glob("*.json") if not file.name.endswith(".costs.json")]

    def _missing(self, key: Key) -> str:
        """Why none of those that are there is this key's."""
        others = []
        for file in self._files():
            try:
                others.append(_decode(file.read_bytes()).key)
            except (OSError, ValueError):
                continue
        if not others:
            return "there is no profile; `kokoro-live tune` makes one"
        nearest = max(others, key=lambda other: len(_PARTS) - len(_differences(key, other)))
        return f"there is none for this case, only for {' and '.join(_differences(key, nearest))}"


_PARTS = {
    "machine": "another machine or system",
    "onnxruntime": "another onnxruntime",
    "model_sha256": "another model",
    "options": "other settings",
    "format": "another version of kokoro-live",
}


def _differences(key: Key, other: Key) -> list[str]:
    return [said for part, said in _PARTS.items() if getattr(key, part) != getattr(other, part)]


def days(seconds: float) -> str:
    """For people: minutes, hours or days, whichever are few."""
    for unit, length in (("days", DAY), ("hours", 3600.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0) / 60:.0f} minutes"


_decode = msgspec.json.Decoder(TuningProfile).decode


def _replace(file: Path, content: Any) -> None:
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(msgspec.json.format(msgspec.json.encode(content), indent=1))
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
