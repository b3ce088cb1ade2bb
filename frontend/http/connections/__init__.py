"""TCP connections: accepted, bounded, timed. Only the front's start imports it."""
