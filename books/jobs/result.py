"""The finished file of a job, made from the options that the front has checked."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from books.making.cast_file import cast_of
from books.making.outputs import BookOutput
from books.making.settings import BookPauses, BookSettings
from books.writing.formats import audio_format
from shm.atomic import replacing
from shm.book_jobs import JobOptions

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Date of all files in a zip, so that the same book gives the same bytes."""


def settings_of(options: JobOptions) -> BookSettings:
    """The settings with which the book is spoken."""
    pauses = BookPauses.given(options.paragraph_pause, options.scene_pause, options.chapter_pause)
    return BookSettings(cast_of(options.cast), options.speed, options.lang, pauses, options.loudness)


def result_name(options: JobOptions) -> str:
    """Name of the finished file in the job's folder."""
    return f"result.{options.format}"


def output_of_job(options: JobOptions, folder: Path, work: Path) -> BookOutput:
    """The place to which `books.making` writes the book: the result itself; for a zip, the folder that is packed."""
    if options.format == "zip":
        return BookOutput(work / "packed", audio_format(options.chapter_format), True, options.captions)
    return BookOutput(folder / result_name(options), audio_format(options.format), by_word=options.by_word)


def pack(output: BookOutput, path: Path) -> None:
    """Put the folder of chapters into a zip, and delete the folder."""
    with replacing(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(output.path.iterdir()):
            # Audio doesn't get smaller, and 64-bit sizes let a chapter have any length.
            entry = zipfile.ZipInfo(file.name, _LONG_AGO)
            with file.open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed)
    shutil.rmtree(output.path)
