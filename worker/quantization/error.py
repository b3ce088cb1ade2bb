"""What goes wrong when a variant is made."""

from __future__ import annotations


class QuantizationError(Exception):
    """The variant can't be made; the message names the file and what to do."""
