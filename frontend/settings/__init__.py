"""The front's settings, and the values that check requests: hosts, origins, keys."""
