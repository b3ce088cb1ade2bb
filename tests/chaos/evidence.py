"""The promises of a loop of kills, and the file with seed, kills and histories that is kept after a broken promise."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.chaos.listeners import Heard, expected_bytes

SEED = int(os.environ.get("KOKORO_LIVE_CHAOS_SEED", "1"))
"""Seed of everything that is random in the loop."""


@dataclass(frozen=True)
class Kill:
    """The killed role, the time (monotonic seconds), and the place in the code if a kill point did it."""

    role: str
    at: float
    place: str = ""


def tally(histories: Iterable[Heard]) -> dict[str, int]:
    """Number of streams, how they ended, and how often one was first told to come again later."""
    counts = dict.fromkeys(("streams", "complete", "cut", "wrong", "silently_short", "failed", "declined"), 0)
    for heard in histories:
        counts["streams"] += 1
        counts["declined"] += heard.declined
        counts[fate(heard)] += 1
    return counts


def fate(heard: Heard) -> str:
    """`wrong`: a sample that doesn't belong there. `silently_short`: a clean end that isn't one. `failed`: an error."""
    if heard.wrong_at is not None:
        return "wrong"
    if heard.complete:
        return "complete"
    if heard.visibly_cut:
        return "cut"
    return "silently_short" if heard.ending == "clean" else "failed"


def check(
    histories: Sequence[Heard], kills: Sequence[Kill], folder: Path, seed: int, allowed: tuple[str, ...] = ("complete",)
) -> None:
    """Every stream has one of the allowed fates.

    Raises:
        AssertionError: with the counts and the file in which it is all written down.
    """
    assert histories
    if all(fate(heard) in allowed for heard in histories):
        return
    file = keep(histories, kills, folder, seed)
    wrong = next(heard for heard in histories if fate(heard) not in allowed)
    raise AssertionError(
        f"seed {seed}: {tally(histories)} after {len(kills)} kills; the first: {fate(wrong)}, {wrong.ending}, "
        f"{wrong.heard} of {len(expected_bytes(wrong.text))} bytes, wrong at {wrong.wrong_at}, {wrong.detail}; "
        f"all histories are in {file}"
    )


def keep(histories: Sequence[Heard], kills: Sequence[Kill], folder: Path, seed: int) -> Path:
    """Write down what happened; the file."""
    folder = Path(os.environ.get("KOKORO_LIVE_CHAOS_HISTORIES", folder))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"histories-{seed}-{os.getpid()}.json"
    histories_now = [
        {
            "fate": fate(heard),
            "due": len(expected_bytes(heard.text)),
            **{name: value for name, value in vars(heard).items() if name != "crowd"},
        }
        for heard in histories
    ]
    told = {"seed": seed, "kills": [asdict(kill) for kill in kills], "histories": histories_now}
    file.write_text(json.dumps(told, indent=1))
    return file
