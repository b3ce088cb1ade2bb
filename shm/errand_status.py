"""Exit statuses of errands: processes that the supervisor starts alongside the server and that end by themselves."""

from __future__ import annotations

DONE = 0
"""The errand succeeded; a new worker should use its result."""

FAILED = 1
"""The errand reached no result for an unrelated reason, so it may be tried again."""

NOTHING_NEW = 3
"""The errand succeeded, and its result changes nothing."""
