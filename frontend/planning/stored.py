"""Stored cost profiles: a file's figures, from which plans start before anything is measured in this run."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from frontend.planning.profile import CostProfile

log = logging.getLogger(__name__)


def read_profiles(file: Path) -> Mapping[str, CostProfile]:
    """Profiles by engine. The file has the engines' names from `costs` in `/status`, with the figures of
    `plans_are_made_for`.

    Raises:
        ValueError: the file can't be read or isn't valid; the message names the file and the fault.
    """
    try:
        data = json.loads(file.read_text())
        if not isinstance(data, dict) or not all(isinstance(figures, dict) for figures in data.values()):
            raise ValueError("it is no object of engines' figures")
        return {engine: CostProfile.from_dict(figures) for engine, figures in data.items()}
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{file} has no cost profiles: {error}") from error


def stored_profiles(file: Path | None) -> Mapping[str, CostProfile]:
    """Profiles by engine, from `read_profiles`; empty, with a warning, if the file has become unreadable since the
    server started, so that a restarted front still speaks."""
    try:
        return read_profiles(file) if file else {}
    except ValueError as error:
        log.warning("plans begin with a guess: %s", error)
        return {}
