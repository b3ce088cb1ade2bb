"""The self-checks that a server has kept (`serve --selfcheck-hours`), drawn: a line for each engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring.figures import median
from benchmarks.measuring.plots import Plot, draw
from benchmarks.measuring.report import Cell, Table
from frontend.monitoring.selfcheck import COMPARED, Check, History
from shm.folders import state_folder

BARS = "▁▂▃▄▅▆▇█"
DAY = 86_400.0


def history(out: Path, file: Path | None = None) -> tuple[str, list[Path]]:
    """The history as Markdown, and, with matplotlib, the pictures drawn into the folder.

    Raises:
        ValueError: no check is kept.
    """
    file = file or state_folder() / "selfchecks.jsonl"
    engines: dict[str, list[Check]] = {}
    for check in History(file).checks:
        engines.setdefault(check.engine, []).append(check)
    if not engines:
        raise ValueError(f"no self-check is kept in {file}: `kokoro-live serve --selfcheck-hours 24` makes one a day")
    columns = ("engine", "checks", "from", "to", "real-time factor, last", "median", "least–most", "course")
    rows = [_row(engine, checks) for engine, checks in engines.items()]
    first = min(checks[0].at for checks in engines.values())
    lines = {
        engine: [((check.at - first) / DAY, check.real_time_factor) for check in checks]
        for engine, checks in engines.items()
    }
    out.mkdir(parents=True, exist_ok=True)
    pictures = draw([Plot("Real-time factor of self-checks", "days", "real-time factor", lines)], out)
    return Table("Self-checks", columns, rows).as_markdown(), pictures


def _row(engine: str, checks: Sequence[Check]) -> list[Cell]:
    factors = [check.real_time_factor for check in checks]
    days = [datetime.fromtimestamp(check.at, UTC).date().isoformat() for check in (checks[0], checks[-1])]
    spread = f"{min(factors):.3g}–{max(factors):.3g}"
    return [engine, len(checks), *days, factors[-1], median(factors), spread, bars(factors[-COMPARED:])]


def bars(values: Sequence[float]) -> str:
    """One character for each value, from 0 to the largest."""
    most = max(values)
    return "".join(BARS[round(value / most * (len(BARS) - 1))] if most > 0 else BARS[0] for value in values)
