"""The error that reports every kind of failed download."""

from __future__ import annotations


class FetchError(Exception):
    """The file can't be fetched. The message names the file and tells the user how to fix it."""
