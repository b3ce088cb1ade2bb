"""Everything that crosses a process boundary: messages, channels, the PCM arena and its rings.

Imported by `worker`, `frontend`, `books`, `player` and `supervisor`.
"""
