"""Inflections, measured in the sound of the real model."""
