"""Encoders and resampling: PCM to mp3, opus, aac, flac, wav."""
