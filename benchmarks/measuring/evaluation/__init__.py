"""Texts with their phonemes, for fitting and evaluation."""
