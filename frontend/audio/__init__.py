"""Encoders and resampling: PCM to mp3, opus, aac, flac, wav. It enters no room of the front; http enters."""
