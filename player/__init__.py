"""The player process: owns the audio device and plays texts that it fetches from the front over HTTP.

It imports `shm` only; only the supervisor imports it.
"""
