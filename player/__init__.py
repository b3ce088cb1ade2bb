"""The player process: owns the audio device and plays texts that it fetches from the front over HTTP."""
