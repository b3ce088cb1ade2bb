"""Word times, cues and subtitles out of an engine's marks. It enters text and contract; streams and http enter."""
