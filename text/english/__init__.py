"""English words to phonemes: misaki's lexicon, a tagger, heteronyms, and what stands in for unknown words."""
