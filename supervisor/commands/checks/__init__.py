"""The checks of `kokoro-live doctor`."""
