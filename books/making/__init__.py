"""Making of a book: its text is spoken passage by passage into a journal on disk, from which chapters and the book are
put together. Enter by `maker.BookMaker`.
"""
