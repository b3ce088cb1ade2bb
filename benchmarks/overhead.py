"""What the server adds to the engine: time to first audio over HTTP beside the same first segment run directly.

    python -m benchmarks.overhead [--runs 50] [--engine miniature|espeak] [--json FILE]

Both are measured in one run, in turn, on texts that were not spoken before (so that no cache helps), with the
engine in its own process idle meanwhile. Also: memory of each process, and how long `/health` takes while a text of
10,000 characters is read. Exits 1 if a promise is broken: 5 ms at the median, 40 MB for the supervisor, 100 ms for
`/health` at the 99th percentile.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from frontend.text.g2p import G2P
from frontend.text.pipeline import TextPipeline
from frontend.text.segment import Notation
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import Server, server
from worker.engine import Engine, Utterance
from worker.select import choose
from worker.settings import WorkerSettings

ADDED_MS = 5.0
SUPERVISOR_MB = 40.0
HEALTH_MS = 100.0

VOICE = "af_heart"


def text_of(run: int) -> str:
    """A sentence that no other run has."""
    return f"Run number {run} measures how soon the first sample of a sentence can be heard. And this one follows."


def direct(engine: Engine, pipeline: TextPipeline, text: str) -> float:
    """Seconds that the engine takes for the first segment's first block."""
    segment = next(iter(pipeline.segments(text, "en-us", Notation.of(engine.info))))
    utterance = Utterance(segment.script, "en-us", ((VOICE, 1.0),), 1.0)
    started = time.perf_counter()
    next(engine.begin(utterance))
    return time.perf_counter() - started


def over_http(to: Server, text: str) -> float:
    """Seconds from the connection's start to the response's first byte of audio."""
    started = time.perf_counter()
    response = to.speak(input=text, voice=VOICE, response_format="pcm")
    response.read(1)
    taken = time.perf_counter() - started
    response.read()
    return taken


def health_under_load(to: Server) -> list[float]:
    """Seconds that `/health` takes, again and again while a long text is read."""
    text = sentences(150)
    done = threading.Event()

    def read() -> None:
        to.hear(input=text, voice=VOICE, response_format="pcm")
        done.set()

    reader = threading.Thread(target=read)
    reader.start()
    taken = []
    while not done.is_set():
        started = time.perf_counter()
        to.get("/health")
        taken.append(time.perf_counter() - started)
    reader.join()
    return taken


def memory(to: Server) -> dict[str, float]:
    """Resident megabytes by role."""
    roles: dict[str, psutil.Process] = {"supervisor": psutil.Process(to.process.pid)}
    roles |= {"front": to.child("front"), "worker": to.child("worker")}
    return {role: process.memory_info().rss / 1e6 for role, process in roles.items()}


def measure(to: Server, engine: Engine, runs: int) -> dict[str, Any]:
    pipeline = TextPipeline(G2P())
    for warm_up in range(3):
        direct(engine, pipeline, text_of(-warm_up))
        over_http(to, text_of(-warm_up))
    alone, served = [], []
    for run in range(1, runs + 1):
        pair: list[tuple[list[float], Callable[[], float]]] = [
            (alone, lambda run=run: direct(engine, pipeline, text_of(run))),
            (served, lambda run=run: over_http(to, text_of(run))),
        ]
        for results, once in pair if run % 2 else reversed(pair):
            results.append(once())
    health = sorted(health_under_load(to))
    return {
        "machine": f"{platform.machine()}, {psutil.cpu_count()} cores, Python {platform.python_version()}",
        "engine": engine.info.name,
        "model": engine.info.model,
        "runs": runs,
        "direct_ms": statistics.median(alone) * 1e3,
        "http_ms": statistics.median(served) * 1e3,
        "added_ms": statistics.median(b - a for a, b in zip(alone, served, strict=True)) * 1e3,
        "health_p99_ms": health[int(len(health) * 0.99)] * 1e3,
        "health_samples": len(health),
        "rss_mb": memory(to),
    }


def report(figures: dict[str, Any]) -> list[str]:
    """Print the table; the promises that are broken."""
    memory_line = ", ".join(f"{role} {size:.0f}" for role, size in figures["rss_mb"].items())
    print(f"{figures['engine']} ({figures['model']}) on {figures['machine']}, median of {figures['runs']}")
    print(f"  first audio, engine alone   {figures['direct_ms']:8.2f} ms")
    print(f"  first audio, over HTTP      {figures['http_ms']:8.2f} ms")
    print(f"  the server adds             {figures['added_ms']:8.2f} ms   (at most {ADDED_MS:g})")
    print(f"  /health p99 under load      {figures['health_p99_ms']:8.2f} ms   (at most {HEALTH_MS:g})")
    print(f"  resident MB                 {memory_line}   (supervisor at most {SUPERVISOR_MB:g})")
    broken = []
    if figures["added_ms"] > ADDED_MS:
        broken.append("time to first audio")
    if figures["health_p99_ms"] > HEALTH_MS:
        broken.append("/health")
    if figures["rss_mb"]["supervisor"] > SUPERVISOR_MB:
        broken.append("supervisor's memory")
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--engine", choices=("miniature", "espeak"), default="miniature")
    parser.add_argument("--no-verdict", action="store_true", help="exit 0 whatever the figures are")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.engine == "miniature":
            flags = miniature_arguments(Path(folder), cost=1)
            settings = WorkerSettings(engine="kokoro", model=Path(flags[3]), voices=Path(flags[5]))
        else:
            flags = ("--engine", "espeak")
            settings = WorkerSettings(engine="espeak")
        with server(*flags) as started:
            figures = measure(started, choose(settings), arguments.runs)
    broken = report(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))
    for promise in broken:
        print(f"BROKEN: {promise}", file=sys.stderr)
    return 1 if broken and not arguments.no_verdict else 0


if __name__ == "__main__":
    sys.exit(main())
