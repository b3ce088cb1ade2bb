"""Word times, cues and subtitles, computed from an engine's marks.

Imported by `frontend.streams`, `frontend.http` and `supervisor`.
"""
