"""Compares schedulers on the same requests in simulated time: no engine, no clock, no waiting.

    python -m benchmarks.simulation.schedule_simulator [--seed 1] [--block 0.3] [--load FILE] [--json FILE]

One inference thread makes one block at a time, at a cost that is linear in tokens, and finishes each block that it has
begun. A stream is made at most `AHEAD` seconds ahead of its listener.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measuring.figures import percentile
from benchmarks.measuring.report import Cell, Table
from benchmarks.simulation.schedule_loads import LOADS, recorded
from benchmarks.simulation.schedule_policies import (
    FIRST_AUDIO_TARGET,
    AdmittedByDemand,
    Costs,
    EarliestDeadlineFirst,
    FirstComeFirstServed,
    Policy,
    Request,
    RoundRobin,
    Stream,
)

AHEAD = 20.0
"""Seconds of audio in a stream's ring."""

FIRST_TOKENS, SEGMENT_TOKENS = 40, 100
"""Tokens of a plan's first segment, and of each later one."""

MEASURED = Costs()

ROW_SECONDS = 20.0
"""A client's requests up to this long, each asked before the one before it was heard, are heard in a row."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Figures of one policy on one load, in seconds."""

    policy: str
    first_audio_p50: float | None
    first_audio_p95: float | None
    """Seconds to the first sample, from the request or from the end of what its listener hears before it."""
    underruns: int
    gap_seconds: float
    rejected: int
    clips_p50: float | None
    """Median seconds from the request to the last sample of a clip that is collected whole."""
    busy: float
    """Seconds of work that the thread has done."""
    audio: float
    """Seconds made."""


def blocks_of(tokens: int, costs: Costs) -> list[float]:
    """Seconds of audio in each block of a text."""
    segments = [min(tokens, FIRST_TOKENS)]
    while (rest := tokens - sum(segments)) > 0:
        segments.append(min(rest, SEGMENT_TOKENS))
    found = []
    for segment in segments:
        seconds = segment * costs.audio_per_token
        while costs.block and seconds > costs.block * 1.5:
            found.append(costs.block)
            seconds -= costs.block
        found.append(seconds)
    return found


def simulate(load: Sequence[Request], policy: Policy, costs: Costs) -> Outcome:
    """Run the requests, sorted by arrival, to the end of the last one."""
    arriving = list(load)
    taken: list[Stream] = []
    active: list[Stream] = []
    rejected = 0
    now = busy = 0.0
    while arriving or active:
        while arriving and arriving[0].arrival <= now:
            newcomer = _stream(arriving.pop(0), taken, costs)
            if policy.wait(now, newcomer, active):
                rejected += 1
            else:
                taken.append(newcomer)
                active.append(newcomer)
        ready = [stream for stream in active if _room_at(stream) <= now]
        if not ready:
            moments = [_room_at(stream) for stream in active] + [request.arrival for request in arriving[:1]]
            if not moments:
                break
            now = max(now, min(moments))
            continue
        stream = policy.choose(now, ready)
        stream.served = now
        seconds = stream.blocks.pop(0)
        work = seconds * costs.real_time_factor
        now += work
        busy += work
        _sealed(stream, seconds, now)
        if not stream.blocks:
            stream.ended = now
            active.remove(stream)
    return _outcome(policy.name, taken, rejected, busy)


def _stream(request: Request, taken: Sequence[Stream], costs: Costs) -> Stream:
    blocks = blocks_of(request.tokens, costs)
    audio = sum(blocks)
    row = [s for s in taken if s.request.client == request.client and not s.request.whole and s.audio <= ROW_SECONDS]
    before = row[-1] if row and not request.whole and _heard_until(row[-1]) > request.arrival else None
    due = request.arrival + (audio if request.whole else FIRST_AUDIO_TARGET)
    if before:
        due = max(due, _heard_until(before))
    return Stream(request, audio, blocks, due, before)


def _heard_until(stream: Stream) -> float:
    """Time at which the listener will have heard the whole stream, as far as it is known."""
    if stream.ended is not None:
        return stream.dry_at
    return (stream.due if stream.starts is None else stream.starts) + stream.audio


def _room_at(stream: Stream) -> float:
    """Time at which the stream's ring has room for the next block."""
    if stream.request.whole or stream.first_made is None:
        return 0.0
    return stream.dry_at + stream.blocks[0] - AHEAD


def _sealed(stream: Stream, seconds: float, now: float) -> None:
    """A block of it is there: its listener hears it when what came before was heard."""
    if stream.first_made is None:
        stream.first_made = now
        stream.starts = stream.dry_at = max(now, _heard_until(stream.before) if stream.before else now)
    elif now > stream.dry_at:
        if not stream.request.whole:
            stream.gaps.append(now - stream.dry_at)
        stream.dry_at = now
    stream.dry_at += seconds
    stream.made += seconds


def _outcome(policy: str, streams: Sequence[Stream], rejected: int, busy: float) -> Outcome:
    waits, clips = [], []
    for stream in streams:
        assert stream.starts is not None and stream.ended is not None
        if stream.request.whole:
            clips.append(stream.ended - stream.request.arrival)
        else:
            wanted = max(stream.request.arrival, _heard_until(stream.before) if stream.before else 0.0)
            waits.append(max(stream.starts - wanted, 0.0))
    gaps = [gap for stream in streams for gap in stream.gaps]
    return Outcome(
        policy,
        percentile(waits, 50) if waits else None,
        percentile(waits, 95) if waits else None,
        len(gaps),
        sum(gaps),
        rejected,
        percentile(clips, 50) if clips else None,
        busy,
        sum(stream.made for stream in streams),
    )


def policies(costs: Costs) -> list[Policy]:
    return [FirstComeFirstServed(), RoundRobin(), EarliestDeadlineFirst(), AdmittedByDemand(costs)]


def table(name: str, outcomes: Sequence[Outcome]) -> Table:
    columns = ("", "first audio p50, s", "p95", "gaps", "seconds of gaps", "rejected", "clips p50, s")
    rows: list[list[Cell]] = [
        [
            found.policy,
            found.first_audio_p50,
            found.first_audio_p95,
            found.underruns,
            found.gap_seconds,
            found.rejected,
            found.clips_p50,
        ]
        for found in outcomes
    ]
    return Table(name, columns, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-token", type=float, default=MEASURED.per_token, help="seconds of work")
    parser.add_argument("--audio-per-token", type=float, default=MEASURED.audio_per_token, help="seconds of audio")
    parser.add_argument("--block", type=float, default=0.0, help="seconds of audio in a window; 0: whole segments")
    parser.add_argument("--load", type=Path, help="requests from a JSON file in place of the drawn ones")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    costs = Costs(arguments.per_token, arguments.audio_per_token, arguments.block)
    loads = {name: draw(arguments.seed) for name, draw in LOADS.items()}
    if arguments.load:
        loads = {arguments.load.name: recorded(arguments.load)}
    found = {name: [simulate(load, policy, costs) for policy in policies(costs)] for name, load in loads.items()}
    for name, outcomes in found.items():
        print(table(f"{name}: {len(loads[name])} requests", outcomes).as_markdown() + "\n")
    if arguments.json:
        data = {name: [asdict(outcome) for outcome in outcomes] for name, outcomes in found.items()}
        arguments.json.write_text(json.dumps({"seed": arguments.seed, "costs": asdict(costs), "found": data}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
