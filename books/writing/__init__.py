"""Writing of spoken chapters into files: audio by PyAV, captions, and EPUB with media overlays."""
