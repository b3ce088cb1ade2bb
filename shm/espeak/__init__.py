"""espeak-ng: its installed files, its C library, and the helper processes in which the library runs."""
