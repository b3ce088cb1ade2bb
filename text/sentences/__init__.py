"""Ends of lines and sentences, abbreviations, and texts that are still being written."""
