"""The user's own pronunciations, from a file that is read again when it changes. Text and the front's start enter."""
