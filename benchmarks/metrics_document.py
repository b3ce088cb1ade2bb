"""Writes docs/metrics.md from the processes' own tables of metrics.

    python -m benchmarks.metrics_document [--check]

`--check` writes nothing, and exits with 1 if the document differs from what would be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from benchmarks.measuring.report import Table
from frontend.monitoring.metrics import PREFIX, Metrics
from frontend.monitoring.readings import GAUGES
from supervisor.processes.metrics import SupervisorMetrics
from worker.loop.process import WorkerMetrics

DOCUMENT = Path(__file__).parents[1] / "docs" / "metrics.md"

HEAD = """# Metrics

`GET /metrics` has these metrics, in Prometheus' text format or OpenMetrics. Counts are those of all processes since
the server's start, whichever process was killed meanwhile. A gauge without a value at the moment is absent.
[operations.md](operations.md#metrics-and-alerts) has the scrape job, the alerts and the dashboard.

`python -m benchmarks.metrics_document` writes this page from the code.
"""

COLUMNS = ("metric", "kind", "labels", "meaning")
Entry = tuple[str, str, str, str]


def entries(registry: CollectorRegistry) -> Iterator[Entry]:
    """Name, kind, labels and meaning of each metric of a registry."""
    collectors: Iterable[Any] = registry._collector_to_names
    for collector in collectors:
        (metric,) = collector.describe()
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        yield name, metric.type, ", ".join(collector._labelnames), metric.documentation


def document() -> str:
    """The whole page. A metric that two processes count is one row, with the first one's meaning."""
    read = ((f"{PREFIX}{name}", "gauge", ", ".join(labels), meaning) for name, (meaning, labels) in GAUGES.items())
    found: dict[str, Entry] = {}
    registries = (Metrics().registry, SupervisorMetrics(None).registry, WorkerMetrics().registry)
    for entry in (*(entry for registry in registries for entry in entries(registry)), *read):
        found.setdefault(entry[0], entry)
    rows = [(f"`{name}`", kind, labels, meaning) for name, kind, labels, meaning in sorted(found.values())]
    lines = Table("", COLUMNS, rows).as_markdown().splitlines()[2:]
    return HEAD + "\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description="Write docs/metrics.md from the processes' own tables.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    asked = parser.parse_args()
    if asked.check:
        return int(DOCUMENT.read_text() != document())
    DOCUMENT.write_text(document())
    return 0


if __name__ == "__main__":
    sys.exit(main())
