"""Cache of segments that were spoken before, in memory and on disk.

Imported by `frontend.streams`, `frontend.monitoring`, `frontend.scheduling` and `frontend.process`.
"""
