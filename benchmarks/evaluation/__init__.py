"""Texts with their phonemes, for fitting and evaluation. Imported by the benchmarks alone."""
