"""The names under which requests may ask for the server's one model."""

MODELS = ("kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""The model's own name, and the names that OpenAI's clients ask for. Requests with other names are answered too."""
