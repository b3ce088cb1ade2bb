"""What every way in which a download can fail is told as."""

from __future__ import annotations


class FetchError(Exception):
    """A file can't be had. The message names it and says what to do."""
