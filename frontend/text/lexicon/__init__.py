"""The user's own pronunciations, from a file that is read again after each change. Callers are the text pipeline and
the front process's start.
"""
