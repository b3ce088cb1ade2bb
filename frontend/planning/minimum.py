"""Minimum length of a segment, in tokens."""

from __future__ import annotations

MIN_FIRST_TOKENS = 30
"""Minimum length of a segment, and of the first one above all. A text without enough tokens may fall below it.

A fragment of a few words cut out of a longer text gets a melody of its own, which reveals the cut.
A complete text that is shorter sounds right.
"""
