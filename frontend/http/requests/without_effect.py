"""The fields of a speech request that have no effect."""

from __future__ import annotations

from frontend.http.requests.kokoro_fastapi import options_without_effect
from frontend.http.requests.model_names import is_other_model
from frontend.http.requests.schema import DialogueBody, SpeechBody, VoiceReference
from frontend.http.requests.speech_request import markup_of, turns_of
from text.markup.marked import MarkupKind


def dead_fields(fields: SpeechBody, *, captioned: bool, session_header: bool) -> list[str]:
    """Fields that the request sets and that change nothing of its answer.

    Args:
        captioned: the request is for captioned speech.
        session_header: the request has a header X-Session.
    """
    phonemes, markup = fields.phonemes is not None, fields.markup
    dead = {
        "model": is_other_model(fields.model),
        "instructions": fields.instructions not in (None, ""),
        "return_timing": bool(fields.return_timing),
        "return_timestamps": bool(fields.return_timestamps) and not captioned,
        "timestamps": captioned and fields.timestamps == "word",
        "stream_format": captioned and fields.stream_format is not None,
        "download_format": fields.download_format is not None and not fields.return_download_link,
        "allow_voice_tags": bool(fields.allow_voice_tags) and (phonemes or markup not in (None, MarkupKind.TAGS)),
        "ssml": bool(fields.ssml) and (phonemes or markup not in (None, MarkupKind.SSML)),
        "markup": markup is not None and phonemes,
        "text": fields.input is not None and fields.text is not None,
        "format": fields.response_format is not None and fields.format is not None,
        "lang": fields.lang is not None and phonemes,
        "lang_code": fields.lang_code is not None and (phonemes or fields.lang is not None),
        "voice_aliases": bool(fields.voice_aliases) and not _may_name_aliases(fields),
        "normalization_options": fields.normalization_options is not None and phonemes,
        "user": fields.user is not None and session_header,
        "on_busy": fields.on_busy is not None and fields.user is None and not session_header,
    }
    options = [] if phonemes else options_without_effect(fields.normalization_options)
    found = [*(name for name, is_dead in dead.items() if is_dead), *(f"normalization_options.{o}" for o in options)]
    return found + _dead_in_dialogue(fields) if isinstance(fields, DialogueBody) else found


def _may_name_aliases(fields: SpeechBody) -> bool:
    names = {name.casefold() for name in fields.voice_aliases or {}}
    voice = fields.voice.id if isinstance(fields.voice, VoiceReference) else fields.voice
    named = (voice, *(turn.voice or turn.voice_id for turn in turns_of(fields)[1]))
    tagged = markup_of(fields) in (MarkupKind.TAGS, MarkupKind.SSML) and fields.phonemes is None
    return tagged or any(voice is not None and voice.strip().casefold() in names for voice in named)


def _dead_in_dialogue(fields: DialogueBody) -> list[str]:
    name, turns = turns_of(fields)
    dead = ["inputs"] if fields.turns is not None and fields.inputs is not None else []
    if fields.voice is not None and all(turn.voice or turn.voice_id for turn in turns):
        dead.append("voice")
    if fields.pause_between_turns is not None and len(turns) < 2:
        dead.append("pause_between_turns")
    return dead + [f"{name}[{place}].voice_id" for place, turn in enumerate(turns) if turn.voice and turn.voice_id]
