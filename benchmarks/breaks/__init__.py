"""Breaks of the code, by what they break, each with the tests that notice it. `benchmarks.mutations` makes them."""

from __future__ import annotations

from benchmarks.breaks import engines, http, memory, playback, processes, scheduling, text, told

ROOMS = (memory, scheduling, playback, text, http, engines, processes, told)
MUTATIONS = tuple(mutation for room in ROOMS for mutation in room.BREAKS)
