"""The fields of an upload to `POST /v1/jobs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.serving.json_body import of_validation
from frontend.settings.front import FrontSettings
from frontend.speech.voices import checked_language, checked_speed, checked_voice
from shm.book_jobs import BookOptions, CastFile, Hours, JobOptions
from shm.engine_info import EngineInfo
from text.errors import TextError

_MOST_DOTS = 100
"""Dots in one line of a cast. The standard library's TOML takes quadratic time and memory for the parts of a key: one
of 64 KB would take gigabytes."""


class JobForm(BookOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An upload's fields, as text; empty fields are absent ones."""

    file: Annotated[
        str,
        Meta(
            description="The book: EPUB, HTML, Markdown, plain text or PDF. Its name tells Markdown from text.",
            extra_json_schema={"format": "binary"},
        ),
    ]
    voice: Annotated[str, Meta(description="The narrator's voice, or a blend. The server's default.")] = ""
    cast: Annotated[
        str, Meta(max_length=65_536, description="TOML with `narrator`, `quotes` and a table `speakers` of voices.")
    ] = ""


_SWITCHES = frozenset(("all_matter", "by_word"))


def read_form(fields: Mapping[str, Sequence[str]], engine: EngineInfo | None, settings: FrontSettings) -> JobOptions:
    """The options that an upload's fields give, each of them valid for the engine that speaks, if one does.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    if unreadable := next((name for name in fields if not name.isprintable()), None):
        raise ApiError(400, f"A field has the name {unreadable!a}.", code="invalid_value")
    values: dict[str, Any] = {name: given[-1] for name, given in fields.items() if given[-1].strip()}
    if "captions" in values:
        values["captions"] = [each.strip() for given in fields["captions"] for each in given.split(",") if each.strip()]
    for name in _SWITCHES & values.keys():
        if values[name].lower() not in ("true", "false"):
            raise _wrong(name, "it is true or false")
    try:
        form = msgspec.convert(values, JobForm, strict=False)
    except msgspec.ValidationError as error:
        if not fields.get("file"):
            message = "`file` is missing: send the book as multipart/form-data."
            raise ApiError(400, message, param="file", code="missing_required") from error
        raise of_validation(error) from error
    if form.captions and form.format != "zip":
        raise _wrong("captions", "they are files alongside the chapters, so they need `format`: zip")
    if form.by_word and form.format != "epub":
        raise _wrong("by_word", "words are marked in a book to read along, which needs `format`: epub")
    if form.between:
        try:
            Hours(form.between)
        except ValueError as error:
            raise _wrong("between", str(error)) from error
    cast = _cast(form)
    if engine is not None:
        _check_voices(form, cast, engine, settings)
    chosen = {name: getattr(form, name) for name in BookOptions.__struct_fields__}
    # The finished part of a book keeps its pace when the server's default changes.
    chosen["speed"] = checked_speed(form.speed, settings)
    return JobOptions(**chosen, cast=cast)


def _cast(form: JobForm) -> CastFile:
    if any(line.count(".") > _MOST_DOTS for line in form.cast.split("\n")):
        raise _wrong("cast", f"a line of it has more than {_MOST_DOTS} dots")
    try:
        cast = msgspec.toml.decode(form.cast, type=CastFile)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _wrong("cast", f"it can't be read: {error}") from error
    return msgspec.structs.replace(cast, narrator=form.voice or cast.narrator)


def _check_voices(form: JobForm, cast: CastFile, engine: EngineInfo, settings: FrontSettings) -> None:
    checks = [("voice" if form.voice else "cast", cast.narrator)]
    checks += [("cast", voice) for voice in (cast.quotes, *cast.speakers.values()) if voice]
    for field, voice in checks:
        try:
            _, blend = checked_voice(voice or None, engine, settings)
            checked_language(blend, engine.voices, form.lang or None)
        except TextError as error:
            param = "lang" if error.param == "lang" else field
            raise ApiError(400, error.message, param=param, code=error.code) from error


def _wrong(field: str, why: str) -> ApiError:
    return ApiError(400, f"`{field}`: {why}.".replace("..", "."), param=field, code="invalid_value")
