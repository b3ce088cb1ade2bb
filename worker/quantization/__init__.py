"""Smaller and faster variants of a Kokoro model: how they are made, what they cost, which are there."""
