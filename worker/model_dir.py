"""Where model files are kept unless the user says otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

VARIABLE = "KOKORO_LIVE_MODEL_DIR"


def default_model_dir() -> Path:
    """`KOKORO_LIVE_MODEL_DIR`, or else `models` in the user's data directory as the platform has it."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return platformdirs.user_data_path("kokoro-live", appauthor=False) / "models"
