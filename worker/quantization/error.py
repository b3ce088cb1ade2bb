"""The error of the conversion from an int8 model to a float model."""

from __future__ import annotations


class QuantizationError(Exception):
    """The float model can't be made; the message names the file and tells the user how to fix it."""
