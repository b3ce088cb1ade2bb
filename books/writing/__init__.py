"""Spoken chapters written into files: audio by PyAV, captions, and EPUB with media overlays."""
