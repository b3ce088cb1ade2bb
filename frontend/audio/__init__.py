"""Encoders and resampling: PCM to mp3, opus, aac, flac, wav.

Imported by `frontend.contexts`, `frontend.http`, `frontend.wyoming` and `supervisor.client`.
"""
