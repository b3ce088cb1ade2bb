"""Automated listening: recognised words, opinion scores, levels; and the gate that model variants and windows must
pass."""
