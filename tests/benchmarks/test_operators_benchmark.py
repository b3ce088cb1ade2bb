"""The profile of a generator's window: each node with the least of its times, small operators together."""

from pathlib import Path

import pytest

from benchmarks.operators import Event, profiled, rows
from tests.split_model import make_split_model, stages_of


def event(node: str, operator: str, microseconds: int) -> Event:
    return Event(f"{node}_kernel_time", microseconds, "Node", {"op_name": operator})


def test_each_node_counts_with_the_least_of_its_times() -> None:
    found = rows(
        [
            event("1", "Sin", 900),
            event("1", "Sin", 700),
            event("2", "Sin", 100),
            event("3", "Mul", 200),
            event("4", "Shape", 2),
            event("5", "Cast", 1),
            Event("model_run", 5000, "Session"),
        ]
    )
    assert [row[:3] for row in found] == [("Sin", 2, 0.8), ("Mul", 1, 0.2), ("others", 2, 0.003)]
    assert sum(float(row[3] or 0) for row in found) == pytest.approx(100)


def test_a_real_window_is_profiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = rows(
        profiled(
            stages_of(make_split_model(tmp_path / "m.onnx", predicted=False), tmp_path), frames=34, runs=2, threads=1
        )
    )
    assert {"Conv", "BatchNormalization"} <= {row[0] for row in found}
