"""How short a segment may be."""

from __future__ import annotations

MIN_FIRST_TOKENS = 30
"""A segment is no shorter, and the first one least of all, where that can be, unless the settings say otherwise.

Very short inputs sound wrong with the published model: one project repeats texts of fewer phonemes than this, and cuts
the first copy away.
"""

SHORTEST_FIRST_TOKENS = 10
"""What a user may ask for at least: below it there is hardly a word."""
