"""Outputs: the libraries and programs that play the deck's samples."""
