"""Reading of files into `books.book.Book`. Enter by `open.read_book`."""
