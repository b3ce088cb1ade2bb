"""The tuning profile: one JSON file in the cache folder, and the case for which it was measured."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from shm import kept
from shm.atomic import write_shared
from shm.decoding import json_decoder
from shm.situation import TuningState
from supervisor.settings.composition import Settings
from worker.engine import EngineUnavailable
from worker.machine import machine_name
from worker.models.choice import find_model
from worker.models.sources import cached_sha256_of
from worker.select import asked_rows

_MEASURED_WITH = (
    "provider",
    "provider_options",
    "vocoder",
    "window",
    "worker_cpus",
    "worker_nice",
)
"""Settings of the worker that change its speed."""


class Unusable(Exception):
    """No profile applies. The message gives the reason, and starts in the middle of a sentence."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """All facts on which a profile depends. A profile of another case is stale."""

    machine: str
    """The result of `worker.machine.machine_name`."""
    onnxruntime: str
    """Packages that contain onnxruntime, with versions."""
    model_sha256: str
    settings: dict[str, str]
    format: int = kept.PROFILE.version

    @classmethod
    def of(cls, settings: Settings) -> Case:
        """
        Raises:
            Unusable: no engine with a model speaks with these settings.
        """
        worker = settings.worker
        if not (row := asked_rows(worker)[0]).has_model:
            raise Unusable(f"{row.title} has nothing to tune")
        try:
            sha256 = cached_sha256_of(find_model(worker))
        except (EngineUnavailable, OSError) as error:
            raise Unusable(f"there is no model: {error}") from error
        values = {name: str(getattr(worker, name)) for name in _MEASURED_WITH}
        values["workers"] = str(settings.supervisor.workers)
        return cls(machine=machine_name(), onnxruntime=_runtimes(), model_sha256=sha256, settings=values)

    def differences(self, other: Case) -> list[str]:
        """Names of everything in which the cases differ, for people."""
        parts = {"machine": "the machine or its system", "onnxruntime": "onnxruntime", "model_sha256": "the model"}
        found = [said for part, said in parts.items() if getattr(self, part) != getattr(other, part)]
        names = sorted(self.settings.keys() | other.settings.keys())
        found += [
            f"--{name.replace('_', '-')}" for name in names if self.settings.get(name) != other.settings.get(name)
        ]
        return [*found, *(["kokoro-live"] if self.format != other.format else [])]


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A way to divide the cores. 0 stands for the default of `WorkerSettings`, in both fields."""

    threads: int
    """Threads per inference."""
    concurrency: int
    """Number of simultaneous inferences."""

    def __str__(self) -> str:
        return f"threads {self.threads}, concurrency {self.concurrency}"


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A way that was measured against the default. Ratios are medians over the rounds; above 1 is better."""

    way: Way
    first: float | None = None
    """Time to the first audible sample."""
    alone: float | None = None
    """Audio per second, one sentence at a time."""
    together: float | None = None
    """Audio per second with all inference threads busy."""
    note: str = ""
    """The reason why the way was rejected, or couldn't be measured."""


class TuningProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one `kokoro-live tune`."""

    case: Case
    created: float
    """Seconds since 1970."""
    chosen: Way | None
    """The chosen settings; None: the defaults stay."""
    verdict: str
    """The result in one sentence."""
    attempts: tuple[Attempt, ...]


def profile_file(settings: Settings) -> Path:
    """The profile's file in the settings' cache folder; each `tune` replaces it."""
    return settings.worker.cache_dir / "tuning.json"


def read(file: Path) -> TuningProfile:
    """
    Raises:
        FileNotFoundError: there is none.
        Unusable: the file can't be read.
    """
    try:
        return _decode(file.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, msgspec.DecodeError) as error:
        raise Unusable(f"{file} can't be read: {error}") from error


def write(file: Path, profile: TuningProfile) -> None:
    """Replace the file atomically."""
    write_shared(file, msgspec.json.format(msgspec.json.encode(profile), indent=1))


def _runtimes() -> str:
    """Packages with their versions, from metadata: importing onnxruntime would cost the supervisor memory for good."""
    names = {(each.name, each.version) for each in distributions() if each.name.startswith("onnxruntime")}
    return ", ".join(f"{name} {version}" for name, version in sorted(names))


_decode = json_decoder(TuningProfile)


# The settings of `serve`: values that the user gave, then the tuning profile, then defaults. Measures nothing.

NOT_WANTED = "--no-tuned: no profile is applied"
NOTHING_TUNED = "no profile; `kokoro-live tune` measures which threads suit this machine"

_DAY, _HOUR, _MINUTE = 86_400.0, 3600.0, 60.0


@dataclass(frozen=True, slots=True)
class Applied:
    """Settings, and the use that was made of the profile."""

    settings: Settings
    note: str
    """One line, for people."""
    level: int = logging.DEBUG
    profile: TuningProfile | None = None

    def log(self) -> None:
        """Write the note to the log, at level DEBUG if this machine was never tuned."""
        logging.log(self.level, "%s", self.note)


def tuned_settings(context: click.Context, clock: Callable[[], float] = time.time) -> Applied:
    """The settings of a command line that was parsed with all of them.

    Args:
        clock: seconds since 1970.

    Raises:
        click.UsageError: a given value makes no sense. A profile that can't be used is never an error.
    """
    plain = Settings.given(context)
    if not plain.tuning.tuned:
        return Applied(plain, NOT_WANTED)
    try:
        profile = read(profile_file(plain))
    except FileNotFoundError:
        return Applied(plain, NOTHING_TUNED)
    except Unusable as error:
        return Applied(plain, f"not tuned: {error}", logging.WARNING)
    # The two values were measured together: one of them with another partner is an unmeasured combination.
    if explicit := [name for name in ("threads", "concurrency") if _given(context, name)]:
        return Applied(plain, f"not tuned: --{explicit[0]} is given, which wins", logging.INFO)
    try:
        case = Case.of(plain)
    except Unusable as error:
        return Applied(plain, f"not tuned: {error}", logging.INFO)
    if stale := case.differences(profile.case):
        said = f"not tuned: the profile is stale, because it was measured with another value of {', '.join(stale)}"
        return Applied(plain, f"{said}; `kokoro-live tune` measures again", logging.WARNING)
    told = f"tuned {ago(clock() - profile.created)} ago: {profile.chosen or 'the defaults stay'}"
    if profile.chosen is None:
        return Applied(plain, told, logging.INFO, profile)
    try:
        worker = replace(plain.worker, **msgspec.structs.asdict(profile.chosen))
    except ValueError as error:
        return Applied(plain, f"not tuned: {profile_file(plain)}: {error}", logging.WARNING)
    return Applied(replace(plain, worker=worker), told, logging.INFO, profile)


def status_of(applied: Applied) -> TuningState:
    """The profile in use, or the reason why there is none, as `/status` shows it."""
    if profile := applied.profile:
        way = msgspec.structs.asdict(profile.chosen) if profile.chosen else {}
        chosen = {name: str(value) for name, value in way.items()}
        return TuningState(created=profile.created, chosen=chosen, verdict=profile.verdict)
    return TuningState(reason=applied.note.removeprefix("not tuned: "))


def ago(seconds: float) -> str:
    """An age for people, in the largest unit of which it has at least two."""
    for unit, length in (("days", _DAY), ("hours", _HOUR)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0) / _MINUTE:.0f} minutes"


def _given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)
