"""The guards before every route: host, origin, key, rate, body. Only http imports it."""
