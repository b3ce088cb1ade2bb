"""The answers to requests for speech, streamed or whole."""
