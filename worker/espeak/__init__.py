"""espeak-ng as an engine, its C library in a helper process that may die."""
