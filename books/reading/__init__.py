"""Files read into `books.book.Book`; `open.read_book` knows every format.

Imported by `books.jobs` and `supervisor.commands`.
"""
