"""Outputs: the libraries and programs that take samples from the deck and make them sound."""
