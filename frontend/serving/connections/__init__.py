"""TCP connections: accepted, bounded, timed."""
