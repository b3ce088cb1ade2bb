"""All dialects besides OpenAI's: another one is a file, and an entry here and in the settings."""

from __future__ import annotations

from frontend.http.dialects.cartesia import CARTESIA
from frontend.http.dialects.deepgram import DEEPGRAM
from frontend.http.dialects.dialect import Dialect
from frontend.http.dialects.elevenlabs import ELEVENLABS

DIALECTS: tuple[Dialect, ...] = (ELEVENLABS, CARTESIA, DEEPGRAM)
