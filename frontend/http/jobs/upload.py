"""Receives a book: the parts of a multipart body, the file of which goes to the disk as it comes."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Annotated, Any, TypeVar

import msgspec
from aiohttp import BodyPartReader, MultipartReader, hdrs, web
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.jobs import JobDesk, unavailable
from frontend.serving.json_body import of_validation
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from frontend.speech.voices import checked_language, checked_speed, checked_voice
from shm.book_jobs import BookOptions, CastFile, Hours, Job, JobOptions, JobOrder
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


_MOST_FIELDS = 64
_MOST_FIELD_BYTES = 128 * 1024
"""Bytes of all fields together, without the file."""

_OVERHEAD = 64 * 1024
"""Bytes of a body beyond its file: boundaries and headers of the parts."""

_PIECE = 256 * 1024
"""Bytes that are read at a time; the event loop is busy for less than a millisecond with them."""

Value = TypeVar("Value")


class Receiver:
    """Receives one upload."""

    def __init__(self, desk: JobDesk, services: Services) -> None:
        self._desk = desk
        self._engine = services.speaker.engine
        self._settings = services.settings
        self._patience = services.settings.body_timeout
        """Seconds for which a client may send nothing."""
        self._longest = desk.settings.max_job_bytes
        self._fields: dict[str, list[str]] = {}
        self._seen = 0
        """Parts, those of the same name too."""
        self._field_bytes = 0
        self._file_bytes = 0

    async def receive(self, request: web.Request) -> Job:
        """Receive the body and make it a job.

        Raises:
            ApiError, Unavailable: it is refused, and nothing of it is kept.
        """
        if request.content_type != "multipart/form-data":
            message = "A book is uploaded as multipart/form-data, with the file in `file`."
            raise ApiError(415, message, code="unsupported_media_type")
        length = request.content_length or 0
        if length > self._longest + _MOST_FIELD_BYTES + _OVERHEAD:
            raise self._too_long()
        async with self._desk.upload(length) as (job, source):
            await self._parts(request, source)
            # A cast of 64 KB takes tenths of a second, in which the event loop has listeners to serve.
            options = await self._desk.run(read_form, self._fields, self._engine, self._settings)
            if not self._file_bytes:
                raise ApiError(400, "`file` is empty.", param="file", code="invalid_value")
            order = JobOrder(
                id=job,
                file_name=_file_name(self._fields["file"][-1]),
                file_bytes=self._file_bytes,
                created=time.time(),
                options=options,
            )
            try:
                return await self._desk.publish(order, source)
            except OSError as error:
                raise _disk(error) from error

    async def _parts(self, request: web.Request, source: IO[bytes]) -> None:
        try:
            reader = await request.multipart()
            while (part := await self._soon(reader.next())) is not None:
                if isinstance(part, MultipartReader) or part.name is None:
                    raise _malformed("a part has no name, or parts of its own")
                await self._part(part, source)
        except (ValueError, AssertionError, RuntimeError, web.HTTPException) as error:
            raise _malformed(str(error) or type(error).__name__) from error
        except HttpProcessingError as error:
            raise _malformed(f"a part's header: {' '.join(error.message.split())[:100]!a}") from error

    async def _part(self, part: BodyPartReader, source: IO[bytes]) -> None:
        assert part.name is not None
        if part.headers.get(hdrs.CONTENT_TRANSFER_ENCODING, "binary").lower() not in ("binary", "8bit", "7bit"):
            raise _malformed("a part is encoded: send it plain")
        self._seen += 1
        if self._seen > _MOST_FIELDS:
            raise _malformed(f"it has more than {_MOST_FIELDS} parts")
        values = self._fields.setdefault(part.name, [])
        if part.name != "file":
            values.append(await self._text(part))
        elif values:
            raise ApiError(400, "`file` is there twice: send one book at a time.", param="file", code="invalid_value")
        else:
            values.append(part.filename or "book")
            await self._file(part, source)

    async def _text(self, part: BodyPartReader) -> str:
        found = bytearray()
        while piece := await self._soon(part.read_chunk(_PIECE)):
            found += piece
            self._field_bytes += len(piece)
            if self._field_bytes > _MOST_FIELD_BYTES:
                raise ApiError(413, f"The fields have more than {_MOST_FIELD_BYTES} bytes.", code="request_too_large")
        return found.decode("utf-8")

    async def _file(self, part: BodyPartReader, source: IO[bytes]) -> None:
        while piece := await self._soon(part.read_chunk(_PIECE)):
            self._file_bytes += len(piece)
            if self._file_bytes > self._longest:
                raise self._too_long()
            try:
                await self._desk.run(source.write, piece)
            except OSError as error:
                raise _disk(error) from error

    async def _soon(self, value: Awaitable[Value]) -> Value:
        try:
            return await asyncio.wait_for(value, self._patience)
        except TimeoutError as error:
            message = f"Nothing of the upload came for {self._patience:g} seconds: send it again."
            raise ApiError(408, message, code="request_timeout") from error

    def _too_long(self) -> ApiError:
        message = f"The file is longer than {self._longest} bytes."
        return ApiError(413, message, param="file", code="request_too_large")


def _file_name(given: str) -> str:
    """The last part of a name that may be a path of any system."""
    name = PurePosixPath(given.replace("\\", "/")).name
    return "".join(letter for letter in name if letter.isprintable())[-200:] or "book"


def _malformed(why: str) -> ApiError:
    return ApiError(400, f"The body is no multipart/form-data that can be read: {why}.", code="invalid_multipart")


def _disk(error: OSError) -> ApiError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ApiError(507, "The disk is full: the file was not kept.", code="disk_full")
    return unavailable(error)
