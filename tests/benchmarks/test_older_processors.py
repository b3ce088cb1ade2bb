"""The comparison of the model's forms on masked processors: rows against the floats, and a processor that can't."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks import older_processors
from benchmarks.older_processors import AS_IT_IS, FLOATS, FORMS, IMPOSSIBLE, PACKED, PUBLISHED, SCRIPTS, rows, spoken


def results(level: float, seconds: float) -> dict[str, np.ndarray]:
    tone = level * np.sin(np.arange(24_000) * 0.2)
    sounds = {f"{form} {number}": tone.astype(np.int16) for form in FORMS for number in range(len(SCRIPTS))}
    return sounds | {form: np.array([seconds, seconds]) for form in FORMS} | {PACKED: np.array([0.5, 0.5])}


def test_times_are_ratios_to_the_published_operations_and_levels_are_to_the_floats() -> None:
    found = rows({AS_IT_IS: results(8000, 1.0), "without VNNI": results(800, 2.0)})
    by_name = {(row[0], row[1]): row[2:] for row in found}
    assert by_name[AS_IT_IS, FLOATS] == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert by_name[AS_IT_IS, PACKED][:2] == [0.5, 0.5]
    seconds, ratio, level, *_ = by_name["without VNNI", PUBLISHED]
    assert (seconds, ratio) == (2.0, 1.0) and level == pytest.approx(20, abs=0.1)


def test_a_processor_whose_cpuid_cant_fault_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        asked.append(env)
        return subprocess.CompletedProcess(command, IMPOSSIBLE)

    monkeypatch.setattr(older_processors.subprocess, "run", run)
    with pytest.raises(SystemExit, match="CPUID can't be made to fault"):
        spoken(tmp_path / "model.onnx", "vnni", tmp_path / "masked.so", tmp_path / "out", 1)
    assert asked[0]["MASKED_CPUID"] == "vnni" and asked[0]["LD_PRELOAD"] == str(tmp_path / "masked.so")
