"""Trials of execution providers: each checks, while the CPU speaks, that a provider is right and faster here, and keeps
the verdict. The supervisor's errand and `tune` enter."""
