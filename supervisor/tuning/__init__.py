"""Measurement of threads and simultaneous inferences on this machine, and the profile that `serve` applies."""
