"""The vocabulary that all steps share: words and spans, segments, voices, languages, signs, alphabets."""
