"""Ears that measure: words understood, opinion scores, levels; and the gate that variants and windows must pass."""
