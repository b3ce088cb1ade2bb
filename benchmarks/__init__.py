"""Measured comparisons: `kokoro-live bench`, and programs of their own for what is measured rarely."""
