"""One kind of English written form a file."""
