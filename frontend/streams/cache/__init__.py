"""Cache of segments that were spoken before, in memory and on disk."""
