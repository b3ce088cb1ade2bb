"""What goes wrong when a float model is made of an int8 one."""

from __future__ import annotations


class QuantizationError(Exception):
    """The float model can't be made; the message names the file and what to do."""
