"""Settings as `serve` takes them: what the user gave, else what tuning found, else the defaults. Tries nothing out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from frontend.planning.profile import Profile
from frontend.planning.stored import read_profiles
from supervisor.settings.composition import Settings
from supervisor.tuning.case import given, key_of
from supervisor.tuning.profile_file import Missing, ProfileFolder, TuningProfile, Unusable, days
from worker.checksum_cache import cached_sha256_of


@dataclass(frozen=True, slots=True)
class Applied:
    """Settings, and what became of the profile."""

    settings: Settings
    note: str = ""
    """One line for the log; empty if there is nothing to say."""
    level: int = logging.INFO
    profile: TuningProfile | None = None
    """The one in use."""

    def log(self) -> None:
        """Say it, once logging works."""
        if self.note:
            logging.log(self.level, "%s", self.note)


def tuned_settings(context: click.Context, clock: Callable[[], float] = time.time) -> Applied:
    """The settings of a parsed command line that has all of them.

    Args:
        clock: seconds since 1970.

    Raises:
        ValueError: a given value makes no sense. A profile that can't be used is never an error.
    """
    values = context.params
    plain = Settings.of(values)
    folder = ProfileFolder(plain.worker.cache_dir)
    if not plain.tuning.tuned or folder.empty():
        return Applied(plain)
    chosen_by_user = given(context)
    try:
        key = key_of(plain, chosen_by_user)
        profile = folder.fresh(key, clock())
        found = _values(profile, chosen_by_user, folder.costs_file(key))
        settings = Settings.of({**values, **found})
    except Missing as error:
        return Applied(plain, f"not tuned: {error}")
    except (Unusable, ValueError) as error:
        return Applied(plain, f"not tuned: {error}", logging.WARNING)
    changes = str(profile.chosen) or "the defaults"
    costs = "; plans begin with its costs" if "cost_profiles" in found else ""
    return Applied(settings, f"tuned {days(profile.age(clock()))} ago: {changes}{costs}", profile=profile)


def _values(profile: TuningProfile, given: dict[str, Any], costs: Path) -> dict[str, Any]:
    """What the profile says of the settings that weren't given.

    Raises:
        Missing: it was found with another number of workers than the user wants.
        Unusable: its model isn't what it was, or isn't the one that the user wants; or its costs are another's.
    """
    if (workers := given.get("workers", 1)) not in (1, profile.chosen.workers):
        raise Missing(f"--workers asks for {workers}, and this was found with {profile.chosen.workers or 'one worker'}")
    found = {name: value for name, value in profile.chosen.values().items() if name not in given}
    if model := profile.chosen.values().get("model"):
        if "model" in given:
            raise Unusable(f"it was made for {model.name}, and --model names another")
        try:
            if cached_sha256_of(model) != profile.model_sha256:
                raise Unusable(f"{model} isn't the file any more that it was made for")
        except OSError as error:
            raise Unusable(f"its model {model} can't be read: {error.strerror}") from error
    if "cost_profiles" not in given:
        try:
            stored = read_profiles(costs)
        except ValueError as error:
            raise Unusable(str(error)) from error
        if stored != {engine: Profile.from_dict(figures) for engine, figures in profile.costs.items()}:
            raise Unusable(f"{costs} isn't what was kept with the profile")
        found["cost_profiles"] = costs
    return found
