"""Spoken chapters written into files: audio by PyAV, captions, and EPUB with media overlays.

Imported by `books.jobs` and `books.making`.
"""
