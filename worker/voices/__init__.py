"""Kokoro's voices: style vectors from files or from the embedded tables, and blends of them."""
