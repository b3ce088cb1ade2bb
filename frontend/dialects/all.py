"""The list of all dialects over HTTP: another one is a file, and an entry here."""

from __future__ import annotations

from frontend.dialects.cartesia import CARTESIA
from frontend.dialects.deepgram import DEEPGRAM
from frontend.dialects.dialect import Dialect
from frontend.dialects.elevenlabs import ELEVENLABS
from frontend.dialects.kokoro_fastapi import KOKORO_FASTAPI
from frontend.dialects.openai import OPENAI
from frontend.settings.front import FrontSettings

DIALECTS: tuple[Dialect, ...] = (OPENAI, KOKORO_FASTAPI, ELEVENLABS, CARTESIA, DEEPGRAM)


def served(settings: FrontSettings) -> list[Dialect]:
    """The dialects that the settings don't turn off."""
    return [dialect for dialect in DIALECTS if not dialect.optional or settings.answers_dialect(dialect.name)]
