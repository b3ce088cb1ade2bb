"""Cost profiles in a file: what plans begin with, before anything was measured in this run."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from frontend.planning.profile import Profile

log = logging.getLogger(__name__)


def read_profiles(file: Path) -> Mapping[str, Profile]:
    """By engine, as `/status` names it under `costs`; the figures are those of `plans_are_made_for` there.

    Raises:
        ValueError: the file can't be read, or holds something else; the message names it and what is wrong.
    """
    try:
        data = json.loads(file.read_text())
        if not isinstance(data, dict) or not all(isinstance(figures, dict) for figures in data.values()):
            raise ValueError("it is no object of engines' figures")
        return {engine: Profile.from_dict(figures) for engine, figures in data.items()}
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{file} has no cost profiles: {error}") from error


def stored_profiles(file: Path | None) -> Mapping[str, Profile]:
    """As `read_profiles`; nothing, and a warning, where the file has gone bad since the server's start: a front that is
    started again speaks without it."""
    try:
        return read_profiles(file) if file else {}
    except ValueError as error:
        log.warning("plans begin with a guess: %s", error)
        return {}
