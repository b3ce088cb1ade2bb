"""Lexicon: the user's own pronunciations, from a file that is read again after each change. The text pipeline looks
words up in it; the front process's start opens the file.
"""
