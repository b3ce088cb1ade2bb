"""Profiles as `kokoro-live tune` keeps them, without the search."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from supervisor.commands.serve import serve
from supervisor.settings.composition import Settings
from supervisor.tuning.case import given, key_of
from supervisor.tuning.chosen import Chosen
from supervisor.tuning.profile_file import DAY, ProfileFolder, TuningProfile
from worker.checksum import sha256_of


def make_profile(
    arguments: Sequence[str], costs: Mapping[str, dict[str, float]], age: float = 0.0, **chosen: object
) -> TuningProfile:
    """Keep one for the command line of a `serve`; it is of that age, in seconds, and is good for a week."""
    with serve.make_context("serve", list(arguments)) as context:
        settings = Settings.of(context.params)
        key = key_of(settings, given(context))
    found = Chosen.of(chosen)
    profile = TuningProfile(
        key=key,
        created=time.time() - age,
        lifetime=7 * DAY,
        chosen=found,
        model_sha256=sha256_of(Path(found.model)) if found.model else key.model_sha256,
        costs=dict(costs),
        verdict="it was better",
        trials=3,
    )
    ProfileFolder(settings.worker.cache_dir).write(profile)
    return profile
