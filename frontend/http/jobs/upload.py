"""Receives a book: the parts of a multipart body, the file of which goes to the disk as it comes."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Awaitable
from pathlib import PurePosixPath
from typing import IO, TypeVar

from aiohttp import BodyPartReader, MultipartReader, hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from frontend.contexts.services import Services
from frontend.contract.errors import ApiError
from frontend.http.jobs.form import read_form
from frontend.jobs.desk import JobDesk, unavailable
from shm.book_jobs import Job, JobOrder

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
        message = f"The file is longer than {self._longest} bytes. (--max-job-bytes)"
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
