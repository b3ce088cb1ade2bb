"""Serving's cost alongside inference: processor time, `/health` meanwhile, memory over many requests."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time

import psutil

from benchmarks.measuring.alone import Alone, plans_profile
from benchmarks.measuring.figures import Summary
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.options import Options
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from benchmarks.measuring.subjects import Subject, kokoro_live
from benchmarks.measuring.texts import PARAGRAPH, article, phrase

BESIDE_INFERENCE = 0.006
"""Processor seconds of the front and the supervisor per second of audio."""
HEALTH_SECONDS = 0.1
GROWTH = 0.05
SUPERVISOR_MB = 40.0

REQUESTS, QUICK_REQUESTS = 1000, 20
WARM_UP = 0.1
"""Share of the requests during which memory may still grow."""

LONG, QUICK_LONG = 3000, 300
"""Characters, at most, that are read while `/health` is asked and processor time is counted."""

HEALTH_PAUSE = 0.005
"""Seconds between two questions, so that asking takes nothing that matters from what is measured."""


def run(options: Options) -> Report:
    """
    Raises:
        CannotStart, ConnectionError, EngineUnavailable: something to be measured doesn't work.
    """
    alone = Alone(options.settings)
    text = article(QUICK_LONG if options.quick else min(LONG, options.article))
    with kokoro_live(options.settings) as ours:
        listen(ours.port, PARAGRAPH, alone.voice, headers=FRESH).assert_complete()
        audio, spent = processor_seconds(ours, alone.voice, text)
        _, inference = alone.to_end(alone.plan(text, plans_profile(ours)))
        health = Summary.of(health_while_speaking(ours, alone.voice, text))
        options.say("overhead: processor time and /health")
        count = options.runs or (QUICK_REQUESTS if options.quick else REQUESTS)
        memory = memory_over(ours, alone.voice, count, options)
    beside = (spent["front"] + spent["supervisor"]) / audio
    rows: list[list[Cell]] = [[role, seconds / audio] for role, seconds in sorted(spent.items())]
    rows.append(["the same segments, the engine alone", inference / audio])
    begun, ended = memory[max(1, int(len(memory) * WARM_UP)) - 1], memory[-1]
    growth = sum(ended.values()) / sum(begun.values()) - 1
    tables = [
        Table(
            f"Processor seconds per second of audio ({audio:.0f} s of audio)",
            ("process", "processor seconds per second"),
            rows,
        ),
        Table(
            "GET /health while a text is read",
            ("asked", "median, ms", "worst, ms"),
            [[health.count, health.median * 1e3, health.most * 1e3]],
        ),
        Table(
            f"Resident memory over {len(memory)} requests, MB",
            ("process", f"after {max(1, int(len(memory) * WARM_UP))}", "at the end"),
            [[role, begun[role], ended[role]] for role in sorted(ended)],
        ),
    ]
    found = [
        Verdict(
            f"front and supervisor at most {BESIDE_INFERENCE:.1%} of a core per audio",
            f"{beside:.2%}",
            beside <= BESIDE_INFERENCE,
        ),
        Verdict("/health under 100 ms, the worst of all", f"{health.most * 1e3:.1f} ms", health.most < HEALTH_SECONDS),
        Verdict("memory grows by less than 5 % after the first tenth", f"{growth * 100:+.1f} %", growth < GROWTH),
        Verdict(
            f"supervisor at most {SUPERVISOR_MB:g} MB",
            f"{ended['supervisor']:.0f} MB",
            ended["supervisor"] <= SUPERVISOR_MB,
        ),
    ]
    raw = {"processor": spent, "audio": audio, "inference": inference, "memory": memory, "health": health.as_dict()}
    return Report("overhead", alone.label, tables, found, (), raw)


def processor_seconds(to: Subject, voice: str, text: str) -> tuple[float, dict[str, float]]:
    """Seconds of audio, and the processor seconds that each process took for it."""
    processes = to.processes()
    before = {role: _spent(process) for role, process in processes.items()}
    heard = listen(to.port, text, voice, headers=FRESH).assert_complete()
    return heard.audio_seconds, {role: _spent(process) - before[role] for role, process in processes.items()}


def _spent(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def health_while_speaking(to: Subject, voice: str, text: str) -> list[float]:
    """Seconds that each `/health` took while a text was read."""
    reader = threading.Thread(target=listen, args=(to.port, text, voice), kwargs={"headers": FRESH})
    reader.start()
    taken: list[float] = []
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", to.port, timeout=60)) as connection:
        while reader.is_alive() or not taken:
            started = time.monotonic()
            connection.request("GET", "/health")
            response = connection.getresponse()
            response.read()
            taken.append(time.monotonic() - started)
            if response.status != 200:
                raise ConnectionError(f"/health answers with {response.status}")
            time.sleep(HEALTH_PAUSE)
    reader.join()
    return taken


def memory_over(to: Subject, voice: str, requests: int, options: Options) -> list[dict[str, float]]:
    """Resident megabytes of each process after each request for a short phrase, none of them like another."""
    processes = to.processes()
    found = []
    for number in range(requests):
        listen(to.port, phrase(number), voice, headers=FRESH).assert_complete()
        found.append({role: process.memory_info().rss / 1e6 for role, process in processes.items()})
        if (number + 1) % 100 == 0:
            options.say(f"overhead: {number + 1} of {requests} requests")
    return found
