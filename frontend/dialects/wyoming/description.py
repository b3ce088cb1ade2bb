"""The server's description for Wyoming's clients: all voices, and the blends that `--wyoming-blends` adds."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.metadata import version

from wyoming.info import Attribution, Info, TtsProgram, TtsVoice

from frontend.speech.voice_description import described
from shm.engine_info import EngineInfo
from text.words.language import language_of
from text.words.voice_spec import VoiceError, parse_voice

_TAGS = {"en-us": "en-US", "en-gb": "en-GB", "fr-fr": "fr-FR", "pt-br": "pt-BR", "cmn": "zh-CN"}
"""Language tags (BCP 47) where ours differ; Home Assistant compares tags with those of its own settings."""

_OURS = Attribution("kokoro-live", "")
_MAKERS = {
    "kokoro": Attribution("hexgrad", "https://huggingface.co/hexgrad/Kokoro-82M"),
    "espeak-ng": Attribution("espeak-ng", "https://github.com/espeak-ng/espeak-ng"),
}
"""Makers of the voices, by the engine that speaks."""

log = logging.getLogger(__name__)


def info(engine: EngineInfo, blends: Sequence[str]) -> Info:
    """The answer to `describe`.

    Args:
        blends: voices in the grammar of `text.words.voice_spec`; those that the engine can't speak are left out.
    """
    voices = [_voice(name, engine) for name in (*engine.voices, *_spoken(blends, engine))]
    program = TtsProgram(
        name="kokoro-live",
        attribution=_OURS,
        installed=True,
        description="Kokoro's voices, streamed while they are made",
        version=version("kokoro-live"),
        voices=voices,
        supports_synthesize_streaming=True,
    )
    return Info(tts=[program])


def _spoken(blends: Sequence[str], engine: EngineInfo) -> list[str]:
    spoken = []
    for blend in blends:
        try:
            parse_voice(blend, engine.voices)
        except VoiceError as error:
            log.warning("--wyoming-blends: %s", error)
        else:
            spoken.append(blend)
    return spoken


def _voice(name: str, engine: EngineInfo) -> TtsVoice:
    language = language_of(parse_voice(name, engine.voices))
    gender = described(name, engine.name).gender if "+" not in name else None
    return TtsVoice(
        name=name,
        attribution=_MAKERS.get(engine.name, _OURS),
        installed=True,
        description=f"{name[3:].title()}, {gender}" if gender else name,
        version=None,
        languages=[_TAGS.get(language, language)],
    )
