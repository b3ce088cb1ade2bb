"""Exit statuses of errands: processes of the supervisor's that work alongside the server and end."""

from __future__ import annotations

DONE = 0
"""The errand succeeded, and another worker is to take its result up."""

FAILED = 1
"""The errand came to no result, because something other than its subject was in the way: it may be tried again."""

NOTHING_NEW = 3
"""The errand succeeded, and its result changes nothing."""
