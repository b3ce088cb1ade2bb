"""A deliberate break of the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A rule of the code, and how to break it."""

    name: str
    file: str
    old: str
    """Text that is there exactly once."""
    new: str
    tests: tuple[str, ...]
    """pytest's arguments: tests of the rule's consequence."""
