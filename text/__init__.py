"""Text read aloud: a chain of steps from a request's text to segments of phonemes. A library that knows no server."""
