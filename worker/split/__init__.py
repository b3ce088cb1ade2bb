"""Kokoro's graph cut into stages, so that prosody is made once and speech is vocoded in windows."""
