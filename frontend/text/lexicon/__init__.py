"""The user's own pronunciations, from a file."""
