"""Cost profiles in a file: what plans begin with, before anything was measured in this run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from frontend.planning.profile import Profile


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
