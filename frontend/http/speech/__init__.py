"""The answers to requests for speech, streamed or whole. Imported by the application and its routes."""
