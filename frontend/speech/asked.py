"""Turns a decoded body into what is spoken and how it is sent: a `SpeechRequest` and a `Delivery`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from aiohttp import hdrs, web

from frontend.audio.formats import OutputFormat, format_named, output_of
from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.serving.gate import API_KEY
from frontend.serving.no_effect import note_limited, note_no_effect
from frontend.settings.front import FrontSettings
from frontend.speech.accept import accepted
from frontend.speech.answer import Delivery
from frontend.speech.body import DialogueBody, SpeechBody, TurnBody, VoiceAlias, VoiceReference, rules_off
from frontend.speech.framing import Captions, Events, Framing, WholeWithTimes
from frontend.speech.lexicons import pronunciations_of
from frontend.speech.lines import NumberedLines
from frontend.speech.manner import followed_manner
from frontend.speech.scores import SpeechScore, scored_sentences, text_of_score
from frontend.speech.voices import checked_speed, refusing, usual_format, usual_voice
from shm import request_id
from shm.engine_info import EngineInfo
from shm.inflection import PLAIN, Inflection
from text.markup.delimiters import wrong_delimiters
from text.markup.marked import MarkupKind
from text.markup.meanings import clamped_rate
from text.markup.ssml import is_document, without_effect_in
from text.normalization.settings import RULES
from text.units.segmentation import unknown_phonemes
from text.words.performer import Cast, DialogueTurn, Performer
from text.words.segment import Notation

_SAMPLE = re.compile(r"[0-9]{1,10}")

MAX_SESSION = 256
"""Most characters of an X-Session header."""


def checked_text(text: str, settings: FrontSettings, param: str) -> str:
    """The text of a request's field.

    Raises:
        ApiError: 400, it is blank or too long.
    """
    if not text.strip():
        raise ApiError(400, f"`{param}` is blank: give something to speak.", param=param, code="unspeakable")
    check_length(len(text), settings, param)
    return text


def check_length(characters: int, settings: FrontSettings, param: str, most: int | None = None) -> None:
    """
    Args:
        most: characters that the field may have, if that is less than any text may.

    Raises:
        ApiError: 400, a request's field has more characters than a text may have.
    """
    most = min(settings.max_input_characters, most or settings.max_input_characters)
    if characters > most:
        message = f"`{param}` has {characters} characters; at most {most} are taken. Split it over requests."
        raise ApiError(400, message, param=param, code="string_above_max_length")


def text_of(fields: SpeechBody, settings: FrontSettings) -> str:
    """All of the request's text, or its phonemes.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    if isinstance(fields, DialogueBody):
        return _dialogue_text(fields, settings)
    text = fields.text if fields.input is None else fields.input
    if fields.score is not None:
        if text is not None or fields.phonemes is not None:
            message = "`score` stands in place of `input` and `phonemes`: give one of them."
            raise ApiError(400, message, param="score", code="invalid_value")
        return checked_text(text_of_score(fields.score), settings, "score")
    if text is not None and fields.phonemes is not None:
        message = "`input` and `phonemes` exclude each other: give one of them."
        raise ApiError(400, message, param="phonemes", code="invalid_value")
    text = fields.phonemes if text is None else text
    if text is None:
        raise ApiError(400, "`input` is missing: give the text to speak.", param="input", code="missing_required")
    return checked_text(text, settings, "input" if fields.phonemes is None else "phonemes")


def turns_of(fields: SpeechBody) -> tuple[str, Sequence[TurnBody]]:
    """The field that names a dialogue's turns, and the turns; none where the request is no dialogue."""
    if not isinstance(fields, DialogueBody):
        return "turns", ()
    name = "turns" if fields.turns is not None or fields.inputs is None else "inputs"
    return name, (fields.turns if fields.turns is not None else fields.inputs) or ()


def _dialogue_text(fields: DialogueBody, settings: FrontSettings) -> str:
    name, turns = turns_of(fields)
    if fields.turns is None and fields.inputs is None:
        raise ApiError(400, "`turns` is missing: give the turns to speak.", param="turns", code="missing_required")
    for field in ("input", "text", "phonemes", "score"):
        if getattr(fields, field) is not None:
            message = f"`{field}`: a dialogue's text stands in its `turns`."
            raise ApiError(400, message, param=field, code="invalid_value")
    for place, turn in enumerate(turns):
        if not turn.text.strip():
            param = f"{name}[{place}].text"
            raise ApiError(400, f"`{param}` is blank: give something to speak.", param=param, code="unspeakable")
    return checked_text("\n".join(turn.text for turn in turns), settings, "input")


def is_negotiable(fields: SpeechBody, *, captioned: bool = False) -> bool:
    """True if `Accept` may choose the format: the answer is an audio file, and the body names no format."""
    bare = not (captioned or fields.stream_format in ("sse", "jsonl") or fields.timestamps)
    return bare and fields.response_format is None and fields.format is None


def delivery_of(
    fields: SpeechBody,
    settings: FrontSettings,
    *,
    accept: str = "",
    last_event: str = "",
    captioned: bool = False,
    usual: str | None = None,
) -> Delivery:
    """The form of the request's answer.

    Args:
        accept: the request's `Accept`; empty: it has none, or the answer isn't negotiable.
        last_event: its `Last-Event-ID`, which events and lines obey; empty: it has none.
        captioned: the request is for captioned speech, which has timestamps in any form.
        usual: the format where neither the body nor `Accept` chooses one; None: the server's.

    Raises:
        ApiError: 400, naming the field that is wrong; 406, `Accept` excludes all that can be sent.
    """
    events, streamed = fields.stream_format in ("sse", "jsonl"), fields.stream is not False
    usual = usual or usual_format(settings)
    chosen = accepted(accept, format_named(usual, "response_format"), fields.sample_rate) if accept else None
    if chosen and chosen.format.needs_length:
        streamed = fields.stream is True
    _check_combination(fields, events=events, streamed=streamed, captioned=captioned)
    output = chosen or _named_output(fields, usual)
    download = output.format
    if fields.download_format is not None:
        download = format_named(fields.download_format, "download_format")
    if fields.return_download_link:
        output_of(download, output.sample_rate)
    framing, after = Framing(output.content_type), 0
    if captioned:
        timed, names_voices = fields.return_timestamps is not False, bool(turns_of(fields)[1])
        names_voices |= markup_of(fields) is MarkupKind.TAGS
        framing = Captions(output, streamed=streamed, timed=timed, names_voices=names_voices)
    elif events:
        after = _sample_of(last_event)
        framing = Events(after) if fields.stream_format == "sse" else NumberedLines(output, after)
    elif fields.timestamps is not None:
        framing = WholeWithTimes(output)
    return Delivery(
        output,
        framing,
        streamed=streamed,
        volume=1.0 if fields.volume_multiplier is None else fields.volume_multiplier,
        priority=fields.priority,
        after=after,
        download=download if fields.return_download_link else None,
    )


def _sample_of(last_event: str) -> int:
    """The sample after the audio that the client has; 0 if it has none."""
    if last_event and not _SAMPLE.fullmatch(last_event):
        message = "`Last-Event-ID` is no `id` of an event or a line: these are samples of the audio, such as 24000."
        raise ApiError(400, message, param="Last-Event-ID", code="invalid_value")
    return int(last_event or 0)


def _named_output(fields: SpeechBody, usual: str) -> OutputFormat:
    if fields.response_format is None and fields.format is not None:
        return output_of(format_named(fields.format, "format"), fields.sample_rate)
    named = usual if fields.response_format is None else fields.response_format
    return output_of(format_named(named, "response_format"), fields.sample_rate)


def _check_combination(fields: SpeechBody, *, events: bool, streamed: bool, captioned: bool) -> None:
    if events and not streamed:
        message = "`stream`: false has no events and no lines; leave it out, or `stream_format`."
        raise ApiError(400, message, param="stream", code="invalid_value")
    if fields.priority == "idle" and streamed:
        message = '`priority`: "idle" is for answers that nobody hears while they are made: add `stream`: false.'
        raise ApiError(400, message, param="priority", code="invalid_value")
    if fields.timestamps and streamed and not events and not captioned:
        message = (
            "`timestamps`: the audio alone has no place for them; "
            'add `stream_format`: "sse" or "jsonl", or `stream`: false.'
        )
        raise ApiError(400, message, param="timestamps", code="invalid_value")
    sentences = fields.timestamps == "sentence"
    if sentences and not events:
        message = '`timestamps`: sentences come as events or in lines; add `stream_format`: "sse" or "jsonl".'
        raise ApiError(400, message, param="timestamps", code="invalid_value")
    if fields.from_sentence is not None and not sentences:
        message = '`from_sentence` goes with `timestamps`: "sentence".'
        raise ApiError(400, message, param="from_sentence", code="invalid_value")


def markup_of(fields: SpeechBody) -> MarkupKind:
    """The markup of the request's texts. `ssml` stays on in clients of Kokoro-FastAPI whatever they send: it counts for
    documents only."""
    if fields.markup is not None:
        return fields.markup
    texts = [turn.text for turn in turns_of(fields)[1]] or [fields.input or fields.text or fields.phonemes or ""]
    if fields.ssml and any(map(is_document, texts)):
        return MarkupKind.SSML
    return MarkupKind.TAGS if fields.allow_voice_tags else MarkupKind.BASIC


def session_of(request: web.Request, named: str | None) -> str | None:
    """The request's session: the X-Session header, or the body's `user`; None if neither is given.

    Sessions of different keys never meet, even under the same name.

    Raises:
        ApiError: 400, it is too long.
    """
    named = request.headers.get("X-Session") or named
    if named is None:
        return None
    if len(named) > MAX_SESSION:
        raise ApiError(400, f"X-Session is longer than {MAX_SESSION} characters.", code="invalid_session")
    return f"{request.get(API_KEY, '')}/{named}"


def client_of(request: web.Request) -> str:
    """The client, if no session is named: its key, or its address and program."""
    return "/".join((request.get(API_KEY, ""), request.remote or "", request.headers.get(hdrs.USER_AGENT, "")))


def is_fresh(request: web.Request) -> bool:
    """True if the cache is neither to give nor to keep the speech."""
    return "no-store" in request.headers.get(hdrs.CACHE_CONTROL, "").lower()


def speech_request(
    request: web.Request,
    fields: SpeechBody,
    text: str,
    session: str | None,
    engine: EngineInfo,
    settings: FrontSettings,
    delivery: Delivery,
) -> SpeechRequest:
    """The speech request, every field of it valid for the engine that speaks now.

    Raises:
        ApiError: 400, naming the field that isn't.
    """
    performer, aliases, turns, one_language = _cast_of(fields, text, engine, settings)
    phonemes, speed = fields.phonemes is not None, checked_speed(fields.speed, settings)
    captioned, sentences = isinstance(delivery.framing, Captions), fields.timestamps == "sentence"
    timestamps = fields.return_timestamps is not False if captioned else fields.timestamps is not None
    if timestamps and not engine.marks and not sentences:
        message = f"`timestamps`: {engine.name} with {engine.model} doesn't say when its words sound."
        raise ApiError(400, message, param="timestamps", code="timestamps_unavailable")
    visemes = bool(fields.visemes) and engine.marks and engine.speaks == "phonemes"
    if fields.visemes and not visemes:
        note_no_effect(request, ["visemes"])
    manner, without_effect = followed_manner(fields.instructions, "instructions", engine)
    elements = without_effect_in(text, engine) if markup_of(fields) is MarkupKind.SSML else []
    note_no_effect(request, [*without_effect, *elements])
    own = Inflection(
        pitch=fields.pitch or 0.0,
        range=math.prod(each for each in (fields.expression, fields.pitch_range) if each is not None),
        volume=fields.volume or 0.0,
    )
    speed = clamped_rate(speed * manner.speed)
    if not engine.inflects:
        note_no_effect(request, [name for name in _INFLECTING if getattr(fields, name) is not None])
    if wrong := wrong_delimiters(fields.delimiters or ""):
        raise ApiError(400, f"`delimiters`: {wrong}.", param="delimiters", code="invalid_value")
    if phonemes:
        check_phonemes(text, Notation.of(engine))
    asked = SpeechRequest(
        request_id=request_id.current.get(),
        text=text,
        voice=performer.voice,
        language=performer.language,
        speed=clamped_rate(speed * performer.rate) if phonemes else speed,
        inflection=own.within(manner.inflection),
        markup=markup_of(fields),
        turns=turns,
        aliases=tuple(aliases.items()),
        one_language=one_language,
        delimiters=fields.delimiters,
        rules_off=rules_off(fields.normalization_options, tuple(RULES)),
        emphasis=fields.emphasis,
        pronunciations=pronunciations_of(request, fields.pronunciations),
        phonemes=phonemes,
        timestamps=timestamps and engine.marks,
        visemes=visemes,
        sentences=sentences,
        from_sentence=fields.from_sentence or 0,
        client=f"session {session}" if session else client_of(request),
        urgency=delivery.urgency,
        fresh=is_fresh(request),
    )
    return asked if fields.score is None else _of_score(request, asked, fields, fields.score, engine)


_INFLECTING = ("pitch", "pitch_range", "emphasis", "expression", "volume")
"""Fields that change how an engine says a text."""

_IN_SCORES = [*_INFLECTING, "voice", "speed", "lang", "lang_code", "markup", "voice_aliases", "delimiters"]
_IN_SCORES += ["pronunciations", "instructions"]
"""Fields whose effects a score has already."""


def _of_score(
    request: web.Request,
    asked: SpeechRequest,
    fields: SpeechBody,
    score: SpeechScore,
    engine: EngineInfo,
) -> SpeechRequest:
    if not engine.scores:
        message = f"`score`: {engine.name} with {engine.model} takes none. Send `input`."
        raise ApiError(400, message, param="score", code="score_unavailable")
    performer, sentences, limited = scored_sentences(score, engine)
    note_no_effect(request, [name for name in _IN_SCORES if getattr(fields, name) is not None])
    note_limited(request, limited)
    voice, language = performer.voice, performer.language
    return replace(asked, voice=voice, language=language, speed=1.0, inflection=PLAIN, turns=(), scored=sentences)


def _cast_of(
    fields: SpeechBody, text: str, engine: EngineInfo, settings: FrontSettings
) -> tuple[Performer, Mapping[str, Performer], tuple[DialogueTurn, ...], bool]:
    """The performer of `voice`, those of the aliases, a dialogue's turns, and whether all speak one named language."""
    named = fields.lang_code if fields.lang is None else fields.lang
    language = named if named and named.strip() else None
    voices = Cast(engine.voices, language=language)
    aliases: dict[str, Performer] = {}
    for name, given in (fields.voice_aliases or {}).items():
        alias = VoiceAlias(given) if isinstance(given, str) else given
        with refusing(f"voice_aliases.{name[:64]}"):
            aliases[name] = replace(voices.find(alias.voice), rate=alias.rate or 1.0)
    cast = Cast(engine.voices, aliases, language)
    voice = fields.voice.id if isinstance(fields.voice, VoiceReference) else fields.voice
    with refusing():
        performer = cast.find(usual_voice(engine, settings) if voice is None else voice)
    return performer, aliases, _turns(fields, text, cast, performer), language is not None


def _turns(fields: SpeechBody, text: str, cast: Cast, performer: Performer) -> tuple[DialogueTurn, ...]:
    """The turns of a dialogue, one by one, whoever speaks them; the whole text as one turn if its performer has a pace
    of its own; else none."""
    if not isinstance(fields, DialogueBody):
        return () if performer.rate == 1.0 or fields.phonemes is not None else (DialogueTurn(text, performer),)
    found = []
    for place, turn in enumerate(turns_of(fields)[1]):
        voice = turn.voice or turn.voice_id
        with refusing(f"turns[{place}].voice"):
            found.append(
                DialogueTurn(turn.text, cast.find(voice) if voice else performer, fields.pause_between_turns or 0.0)
            )
    return tuple(found)


def check_phonemes(script: str, notation: Notation) -> None:
    """Check that an engine can speak the phonemes that a client sent; `phoneme_sentences` cuts them later.

    Raises:
        ApiError: 400: the engine speaks text, or doesn't know some of the symbols.
    """
    if notation.speaks != "phonemes":
        message = "`phonemes`: the engine that speaks takes text, and pronounces it itself. Send `input`."
        raise ApiError(400, message, param="phonemes", code="phonemes_unavailable")
    if unknown := unknown_phonemes(script, notation):
        listed = ", ".join(f"{symbol!r} (U+{ord(symbol):04X})" for symbol in unknown[:8])
        message = f"`phonemes`: the model doesn't know {listed}. POST /dev/phonemize shows a text's phonemes."
        raise ApiError(400, message, param="phonemes", code="unknown_phoneme")
