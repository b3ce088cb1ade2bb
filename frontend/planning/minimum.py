"""How short a segment may be."""

from __future__ import annotations

MIN_FIRST_TOKENS = 30
"""A segment is no shorter, and the first one least of all, where that can be, unless the settings say otherwise.

A piece of a few words has a melody of its own, which shows that it was cut off.
A whole text that is shorter sounds right.
"""

SHORTEST_FIRST_TOKENS = 10
"""What a user may ask for at least: below it there is hardly a word."""
