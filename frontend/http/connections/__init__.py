"""TCP connections: accepted, bounded, timed. Imported by `frontend.http`, `frontend.wyoming` and `frontend.process`."""
