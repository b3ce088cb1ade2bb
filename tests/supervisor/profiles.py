"""Tuning profiles, written without measuring."""

import time
from collections.abc import Sequence

from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.profile import Case, TuningProfile, Way, profile_file, write


def make_profile(arguments: Sequence[str], way: Way | None, age: float = 0.0) -> TuningProfile:
    """Keep one for the command line of a `serve`; it is of that age, in seconds."""
    settings = Settings.of(parse_settings(arguments).params)
    profile = TuningProfile(
        case=Case.of(settings), created=time.time() - age, chosen=way, verdict="it was better", attempts=()
    )
    write(profile_file(settings), profile)
    return profile
