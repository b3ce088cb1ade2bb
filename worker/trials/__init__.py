"""Trials of execution providers: whether a provider is right and faster here, tested while the CPU speaks."""
