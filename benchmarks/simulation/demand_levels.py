"""Records a server's metrics with more and more listeners, and replays them through an autoscaler.

    python -m benchmarks.simulation.demand_levels record --model M --voices V [--most 6] [--seconds 20]
    python -m benchmarks.simulation.demand_levels replay [MANIFEST]

`record` writes `demand_levels.json`: each level's metrics, averaged over the level's second half. `replay` prints when
pods come and go on a day of `DAY`, if listeners are shared evenly among the pods and each pod behaves as recorded.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measuring.listening import FRESH, TOO_MANY, listen
from benchmarks.measuring.machine import machine
from benchmarks.measuring.subjects import Subject, kokoro_live
from benchmarks.measuring.texts import article
from benchmarks.simulation.autoscaler import Autoscaler, replay
from worker.settings import WorkerSettings

RECORD = Path(__file__).with_name("demand_levels.json")
MANIFEST = Path(__file__).parents[2] / "deploy" / "kubernetes" / "scaling-hpa.yaml"

RATIO, REFUSED, QUEUE = (
    "kokoro_live_demand_ratio",
    "kokoro_live_requests_refused_per_second",
    "kokoro_live_queue_depth",
)
DAY = ((0, 1), (600, 4), (1200, 12), (2400, 12), (3000, 3), (5400, 0))
"""Seconds, and the listeners from then on until the next."""

VOICE = "af_heart"
AGAIN = 5.0
"""Seconds after which a rejected listener asks again."""

Level = Mapping[str, float]


def record(server: Subject, most: int, seconds: float, say: Callable[[str], None]) -> list[Level]:
    """The metrics with 0 to `most` listeners, each of whom plays at speech's pace and asks again when rejected."""
    found: list[Level] = []
    over = threading.Event()
    listeners: list[threading.Thread] = []
    listen(server.port, article(400), VOICE, headers=FRESH).assert_complete()
    try:
        for count in range(most + 1):
            if count:
                listeners.append(threading.Thread(target=_reads, args=(server, count, over)))
                listeners[-1].start()
            time.sleep(seconds / 2)
            found.append(_mean(server, seconds / 2))
            say(f"{count} listeners: {', '.join(f'{name} {value:.3g}' for name, value in found[-1].items())}")
    finally:
        over.set()
        for one in listeners:
            one.join()
    return found


def _reads(server: Subject, number: int, over: threading.Event) -> None:
    text = article(20_000)[number * 50 :]
    headers = FRESH | {"X-Session": f"listener {number}"}
    while not over.is_set():
        heard = listen(server.port, text, VOICE, headers=headers, paced=True, going=lambda: not over.is_set())
        if heard.status == TOO_MANY:
            over.wait(AGAIN)


def _mean(server: Subject, seconds: float) -> Level:
    """Means over some seconds, scraped once a second; refusals as their rate."""
    readings: list[dict[str, float]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        readings.append(_scrape(server))
        time.sleep(1.0)
    refused = "kokoro_live_requests_refused_total"
    ratios = [reading[RATIO] for reading in readings if RATIO in reading]
    return {
        RATIO: sum(ratios) / len(ratios) if ratios else 0.0,
        REFUSED: (readings[-1][refused] - readings[0][refused]) / seconds,
        QUEUE: sum(reading[QUEUE] for reading in readings) / len(readings),
        "kokoro_live_active_streams": readings[-1]["kokoro_live_active_streams"],
    }


def _scrape(server: Subject) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
        lines = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", lines, re.MULTILINE)}


def metrics_of(levels: Sequence[Level], day: Sequence[tuple[float, int]]) -> Callable[[float, int], Level]:
    """The mean of each metric over pods that share the day's listeners evenly."""

    def averages(now: float, pods: int) -> Level:
        listeners = [count for since, count in day if since <= now][-1]
        shares = [listeners // pods + (pod < listeners % pods) for pod in range(pods)]
        each = [levels[min(share, len(levels) - 1)] for share in shares]
        return {name: math.fsum(level[name] for level in each) / pods for name in levels[0]}

    return averages


def main() -> int:
    """Record or replay."""
    parser = argparse.ArgumentParser(description="Metrics by listeners, and what an autoscaler makes of them.")
    parser.add_argument("what", choices=("record", "replay"))
    parser.add_argument("manifest", type=Path, nargs="?", default=MANIFEST)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--voices", type=Path)
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    if asked.what == "record":
        settings = WorkerSettings(engine="kokoro", model=asked.model, voices=asked.voices)
        with kokoro_live(settings, "--cache-bytes", "0") as server:
            levels = record(server, asked.most, asked.seconds, print)
        found = {"machine": machine(), "model": asked.model.name, "levels": levels}
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    levels = json.loads(RECORD.read_text())["levels"]
    scaler = Autoscaler.of(asked.manifest.read_text())
    for seconds, pods in replay(scaler, DAY[-1][0] + 1200, metrics_of(levels, DAY)):
        print(f"{seconds / 60:6.1f} min: {pods} pods")
    return 0


if __name__ == "__main__":
    sys.exit(main())
