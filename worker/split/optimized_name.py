"""The name of a stage's optimised form (`worker.split.optimized` makes it, and needs the onnx package for that)."""

from __future__ import annotations

from pathlib import Path


def optimized_name(stage: str) -> str:
    """The file name of a stage's optimised form."""
    return Path(stage).with_suffix(".cpu.onnx").name
