"""Normalisation: numbers, dates, units and other written forms rewritten as words, by language. The text pipeline and
markup's `say-as` apply it.
"""
