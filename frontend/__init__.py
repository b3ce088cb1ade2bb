"""The front process: HTTP on one side, streams of PCM on the other; `process.py` connects its rooms."""
