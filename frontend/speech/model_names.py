"""The names under which requests may ask for the server's one model."""

from __future__ import annotations

from msgspec import Meta

MODELS = ("kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""The model's own name, and the names that OpenAI's clients ask for. Requests with other names are answered too."""

MODEL_WORDS = Meta(
    description=f"Any name is taken, and means the one model here. X-Warning names others than {', '.join(MODELS)}."
)


def is_other_model(name: str | None) -> bool:
    """True for a name that the server doesn't know."""
    return name is not None and name not in MODELS
