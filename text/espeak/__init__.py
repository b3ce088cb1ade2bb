"""espeak-ng as a source of phonemes, in a process of its own."""
