"""Default model directory."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

VARIABLE = "KOKORO_LIVE_MODEL_DIR"


def default_model_dir() -> Path:
    """Path from `KOKORO_LIVE_MODEL_DIR`, or else `models` in the platform's data directory for the user."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return platformdirs.user_data_path("kokoro-live", appauthor=False) / "models"
