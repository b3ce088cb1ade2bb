"""Contexts: speech of texts that are still being written, for every protocol that sends text piece by piece."""
