"""Kokoro's graph cut into stages, so that prosody is made once per segment and speech is vocoded in windows."""
