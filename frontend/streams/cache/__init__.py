"""Segments that were spoken before, in memory and on disk. Streams and scheduling enter."""
