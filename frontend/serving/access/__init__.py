"""The guards before every route: host, origin, key, rate, body."""
