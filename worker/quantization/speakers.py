"""Whose voices calibrate a variant, and whose judge it: others, where there are enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

CALIBRATED = 8
"""Voices that ranges are measured on."""

JUDGED = 4
"""Voices whose durations are compared."""

T = TypeVar("T")


def calibrated(names: Sequence[str]) -> list[str]:
    """Of all voices, those that ranges are measured on."""
    return spread_out(names, CALIBRATED)


def judged(names: Sequence[str]) -> list[str]:
    """Of all voices, those that a variant is compared with: none that ranges were measured on, unless fewer than
    `JUDGED` are left."""
    taken = calibrated(names)
    others = [name for name in names if name not in taken]
    return spread_out(others if len(others) >= JUDGED else names, JUDGED)


def spread_out(items: Sequence[T], count: int) -> list[T]:
    """So many of them, as far apart in their order as possible: voices sort by language and gender."""
    places = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[place] for place in places]
