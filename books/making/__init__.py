"""Making of a book: spoken passage by passage into a journal on disk, from which chapters are put together."""
