"""Instruments that the benchmarks share: listeners, their clock, subjects, statistics, reports."""
