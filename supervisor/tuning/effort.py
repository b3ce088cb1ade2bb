"""How much is measured: thoroughly, or in a minute or two."""

from __future__ import annotations

from dataclasses import dataclass

from supervisor.tuning.texts import HOLDOUT, QUICK_HOLDOUT, QUICK_TRAINING, TRAINING

BETTER = 1.05
"""The score on the holdout from which on something takes the defaults' place."""

STEP = 1.02
"""The score on the training texts from which on an alternative is gone on with: below it, it is noise."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Of a search."""

    training: tuple[str, ...]
    holdout: tuple[str, ...]
    repeats: int
    """How often each text is spoken alone, in each trial,"""
    firsts: int
    """and how often only its first block is made, besides."""
    pairs: int
    """Trials of the default and of what was found on the holdout, in turn."""
    finalists: int
    """Settings of the knobs that are predicted to be best and then tried."""
    leaves_out: tuple[str, ...] = ()
    """Groups of settings that aren't tried (`supervisor.tuning.candidates`)."""
    server_pairs: int = 0
    """Measurements of a server with one worker and of one with several, in turn; 0: none."""


THOROUGH = Effort(TRAINING, HOLDOUT, repeats=2, firsts=3, pairs=3, finalists=3, server_pairs=3)
QUICK = Effort(QUICK_TRAINING, QUICK_HOLDOUT, repeats=1, firsts=2, pairs=2, finalists=1, leaves_out=("memory pattern",))
"""One short text, little repeated: enough to see 20 %, not 5."""
