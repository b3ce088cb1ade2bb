"""Files read into `books.book.Book`; `open.read_book` knows every format."""
