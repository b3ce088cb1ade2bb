"""What a server makes of tuning's profile: settings that outlive its model, and what `/status` says of it."""

from __future__ import annotations

from dataclasses import replace

import click

from shm.messages import Tuning
from supervisor.settings.composition import Settings
from supervisor.tuning.application import Applied, tuned_settings
from supervisor.tuning.chosen import shown
from worker.settings import TunedModel

NOT_WANTED = "--no-tuned: nothing that was found is used"
NOTHING_TUNED = "nothing was tuned here; `kokoro-live tune` looks for settings that suit this machine"


def applied_to(context: click.Context) -> tuple[Applied, Settings]:
    """What became of the profile, and the settings that children start with.

    Raises:
        ValueError: a given value makes no sense.
    """
    applied = tuned_settings(context)
    profile = applied.profile
    if profile is None or profile.chosen.model is None:
        return applied, applied.settings
    # A profile whose model isn't the one that speaks unless another is named isn't in use: this one was not named.
    tuned = TunedModel(profile.model_sha256, Settings.of(context.params).worker)
    return applied, replace(applied.settings, tuned_model=tuned)


def told(applied: Applied) -> Tuning:
    """Which profile is in use, or why none is."""
    if profile := applied.profile:
        chosen = {name: shown(value) for name, value in profile.chosen.values().items()}
        return Tuning(created=profile.created, chosen=chosen, verdict=profile.verdict)
    if not applied.settings.tuning.tuned:
        return Tuning(reason=NOT_WANTED)
    return Tuning(reason=applied.note.removeprefix("not tuned: ") or NOTHING_TUNED)
