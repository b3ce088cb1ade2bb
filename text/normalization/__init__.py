"""Normalisation: numbers, dates, units and other written forms rewritten as words, by language."""
