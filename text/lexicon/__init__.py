"""The user's own pronunciations, from a file that is read again after each change."""
