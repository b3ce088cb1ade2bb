"""Conversion of the published int8 model to floats."""
