"""Yardstick for speech servers of any kind, as a voice agent meets them; see `__main__`."""
