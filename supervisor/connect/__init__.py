"""Connections of other programs: the rows of `kokoro-live connect`, changes of settings files, and ways to speak."""
