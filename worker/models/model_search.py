"""Search for Kokoro's files in a folder. Imports little, so that the supervisor can use it too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worker.engine import EngineUnavailable
from worker.settings import WorkerSettings

MODEL_NAMES = (
    "kokoro-v1.0.onnx",
    "model.onnx",
    "kokoro-v1.0.fp16.onnx",
    "model_fp16.onnx",
    "kokoro-v1.0.int8.onnx",
    "model_quantized.onnx",
    "model_uint8.onnx",
    "model_q8f16.onnx",
    "model_uint8f16.onnx",
    "model_q4.onnx",
    "model_q4f16.onnx",
)
"""File names of the published models (kokoro-onnx's releases, onnx-community's repository), the best first."""

VOICES_NAMES = ("voices-v1.0.bin", "voices.bin")


def models_in(directory: Path) -> list[Path]:
    """Models in the directory and its `onnx` folder (onnx-community's layout): published ones, the best first, then
    others."""
    folders = (directory, directory / "onnx")
    published = [folder / name for name in MODEL_NAMES for folder in folders]
    # A name that starts with a dot isn't the user's model: macOS leaves such files next to copied ones.
    others = [file for folder in folders for file in sorted(folder.glob("*.onnx")) if not file.name.startswith(".")]
    ordered = sorted(others, key=lambda file: _is_variant(file, others))
    return [file for file in dict.fromkeys((*published, *ordered)) if file.is_file()]


def assembly_folders(settings: WorkerSettings) -> tuple[Path, Path]:
    """Folders for a model assembled from packages, in order: the model directory, then the cache if that can't be
    written."""
    return settings.model_dir, settings.cache_dir / "models"


def find_model(settings: WorkerSettings) -> Path:
    """The model that the settings name, or the best one present, unchecked. No model is assembled.

    Raises:
        EngineUnavailable: there is no model.
    """
    if settings.model:
        return settings.model
    for folder in assembly_folders(settings):
        if there := models_in(folder):
            return there[0]
    raise EngineUnavailable(
        f"there is no Kokoro model in {settings.model_dir}: run `kokoro-live models fetch`, or name one with --model"
    )


def _is_variant(file: Path, files: Iterable[Path]) -> bool:
    """True if the file's name begins with another model's: a file of `kokoro-live dequantize` is used only if the
    settings name it."""
    return any(file.name.startswith(f"{other.stem}.") for other in files if other != file)


def voices_in(directory: Path) -> Path | None:
    """An archive of voices, or else a `voices` folder of single ones; None if there is neither."""
    archives = (*(directory / name for name in VOICES_NAMES), *sorted(directory.glob("voices*.bin")))
    folder = directory / "voices"
    return next((path for path in archives if path.is_file()), folder if folder.is_dir() else None)
