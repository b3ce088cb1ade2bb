"""English written forms (numbers, dates, units) rewritten as words. Only the text pipeline enters."""
