"""Word times, cues and subtitles, computed from an engine's marks."""
