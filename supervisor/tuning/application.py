"""The settings of `serve`: values that the user gave, then the tuning profile, then defaults. Measures nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import click
import msgspec
from click.core import ParameterSource

from shm.situation import TuningState
from supervisor.settings.composition import Settings
from supervisor.tuning.profile import Case, TuningProfile, Unusable, profile_file, read

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
    """The profile in use."""

    def log(self) -> None:
        """Write the note to the log, at level DEBUG if this machine was never tuned."""
        logging.log(self.level, "%s", self.note)


def tuned_settings(context: click.Context, clock: Callable[[], float] = time.time) -> Applied:
    """The settings of a command line that was parsed with all of them.

    Args:
        clock: seconds since 1970.

    Raises:
        ValueError: a given value makes no sense. A profile that can't be used is never an error.
    """
    plain = Settings.of(context.params)
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
