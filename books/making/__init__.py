"""Making of a book: its text is spoken passage by passage into a journal on disk, from which chapters are put together.

Imported by `books.jobs` and `supervisor`.
"""
