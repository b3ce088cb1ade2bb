"""Which of a folder's files are Kokoro's. Light, so that the supervisor can ask too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worker.engine import EngineUnavailable

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
"""The published models (kokoro-onnx's releases, onnx-community's repository), the best first."""

VOICES_NAMES = ("voices-v1.0.bin", "voices.bin")


def find_model(directory: Path) -> Path:
    """The best published model in the directory or its `onnx` folder (onnx-community's layout), or else any other.

    Raises:
        EngineUnavailable: there is none.
    """
    folders = (directory, directory / "onnx")
    published = (folder / name for name in MODEL_NAMES for folder in folders)
    # A name with a dot before it is not a model of the user's: macOS leaves such files beside copied ones.
    others = [file for folder in folders for file in sorted(folder.glob("*.onnx")) if not file.name.startswith(".")]
    for file in (*published, *sorted(others, key=lambda file: _is_variant(file, others))):
        if file.is_file():
            return file
    raise EngineUnavailable(
        f"there is no Kokoro model in {directory}: run `kokoro-live models fetch`, or name one with --model"
    )


def _is_variant(file: Path, files: Iterable[Path]) -> bool:
    """By its name, which begins with another's: a file of `kokoro-live dequantize` is used only if it is named."""
    return any(file.name.startswith(f"{other.stem}.") for other in files if other != file)


def find_voices(directory: Path) -> Path:
    """An archive of voices, or else a `voices` folder of single ones.

    Raises:
        EngineUnavailable: there is neither.
    """
    archives = [*(directory / name for name in VOICES_NAMES), *sorted(directory.glob("voices*.bin"))]
    for path in archives:
        if path.is_file():
            return path
    if (directory / "voices").is_dir():
        return directory / "voices"
    raise EngineUnavailable(
        f"there are no Kokoro voices in {directory}: run `kokoro-live models fetch`, or name them with --voices"
    )
