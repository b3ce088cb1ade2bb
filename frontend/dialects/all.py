"""All dialects besides OpenAI's: another one is a file, and an entry here."""

from __future__ import annotations

from frontend.dialects.cartesia import CARTESIA
from frontend.dialects.deepgram import DEEPGRAM
from frontend.dialects.dialect import Dialect
from frontend.dialects.elevenlabs import ELEVENLABS

DIALECTS: tuple[Dialect, ...] = (ELEVENLABS, CARTESIA, DEEPGRAM)
