"""espeak-ng as an engine, its C library in a helper process that may die. The worker's choice of an engine enters."""
