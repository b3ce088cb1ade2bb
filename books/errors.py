"""Errors of books."""

from __future__ import annotations


class BookError(ValueError):
    """A file that can't be made into a book. Its message is a sentence for the person who chose the file."""
