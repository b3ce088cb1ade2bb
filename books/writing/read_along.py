"""EPUB 3 with media overlays: a book that reading programs speak and mark sentence by sentence."""

from __future__ import annotations

import re
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from books.book import SAMPLE_RATE, BlockKind, Book, SpokenBlock, SpokenChapter, SpokenSentence
from shm.atomic import replacing

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_CONTAINER = (
    f'{_HEAD}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_STYLE = """\
body { line-height: 1.5; margin: 1em; }
p { margin: 0; text-indent: 1.5em; }
h1 + p, h2 + p, hr + p { text-indent: 0; }
hr { border: 0; text-align: center; margin: 1.5em 0; }
hr::after { content: "* * *"; }
.verse { text-indent: 0; margin: 1em 0 1em 2em; white-space: pre-line; }
.-epub-media-overlay-active { background: #ffe9a8; color: #000; }
"""
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML has no way to write, such as the control characters of old text files."""
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)
_COVERS = {"image/jpeg": "jpg", "image/png": "png"}


@dataclass(frozen=True, slots=True)
class ReadAlongChapter:
    spoken: SpokenChapter
    audio: Path
    """A file of AAC in MPEG-4."""


def write_read_along(path: Path, book: Book, chapters: Sequence[ReadAlongChapter], *, by_word: bool = False) -> None:
    """Write the book as EPUB 3, whole or not at all; the same book and audio give the same bytes.

    Args:
        chapters: each with at least one sentence.
        by_word: mark each word as it sounds instead of each sentence.
    """
    with replacing(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        _add(archive, "mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        _add(archive, "META-INF/container.xml", _CONTAINER)
        _add(archive, "EPUB/package.opf", _package(book, chapters))
        _add(archive, "EPUB/nav.xhtml", _nav(book, chapters))
        _add(archive, "EPUB/style.css", _STYLE)
        if book.cover and book.cover.media_type in _COVERS:
            _add(archive, f"EPUB/cover.{_COVERS[book.cover.media_type]}", book.cover.data, zipfile.ZIP_STORED)
        for number, chapter in enumerate(chapters, 1):
            _add(archive, f"EPUB/c{number}.xhtml", _document(book, chapter.spoken, by_word))
            _add(archive, f"EPUB/c{number}.smil", _overlay(number, chapter.spoken, by_word))
            archive.writestr(_named(f"EPUB/c{number}.m4a"), chapter.audio.read_bytes(), zipfile.ZIP_STORED)


def _named(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, _EPOCH.timetuple()[:6])


def _add(archive: zipfile.ZipFile, name: str, data: str | bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    if isinstance(data, str):
        data = _NO_XML.sub("", data)
    archive.writestr(_named(name), data, method)


def _clock(samples: int) -> str:
    return f"{samples / SAMPLE_RATE:.3f}s"


def _language(book: Book) -> str:
    return book.language or "und"


def _identifier(book: Book, chapters: Sequence[ReadAlongChapter]) -> str:
    text = "\n".join([book.title, book.author, *(chapter.spoken.title for chapter in chapters)])
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, text)}"


def _package(book: Book, chapters: Sequence[ReadAlongChapter]) -> str:
    items = [
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="css" href="style.css" media-type="text/css"/>',
    ]
    if book.cover and (suffix := _COVERS.get(book.cover.media_type)):
        kind = book.cover.media_type
        items.append(f'<item id="cover" href="cover.{suffix}" media-type="{kind}" properties="cover-image"/>')
    durations = []
    for number, chapter in enumerate(chapters, 1):
        items += [
            f'<item id="c{number}" href="c{number}.xhtml" media-type="application/xhtml+xml" '
            f'media-overlay="o{number}"/>',
            f'<item id="o{number}" href="c{number}.smil" media-type="application/smil+xml"/>',
            f'<item id="a{number}" href="c{number}.m4a" media-type="audio/mp4"/>',
        ]
        durations.append(
            f'<meta property="media:duration" refines="#o{number}">{_clock(_spoken_samples(chapter.spoken))}</meta>'
        )
    total = _clock(sum(_spoken_samples(chapter.spoken) for chapter in chapters))
    author = f'<dc:creator id="author">{escape(book.author)}</dc:creator>' if book.author else ""
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(1, len(chapters) + 1))
    return (
        f'{_HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" '
        f"xml:lang={quoteattr(_language(book))}>"
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">{_identifier(book, chapters)}</dc:identifier><dc:title>{escape(book.title)}</dc:title>'
        f"<dc:language>{escape(_language(book))}</dc:language>{author}"
        f'<meta property="dcterms:modified">{_EPOCH:%Y-%m-%dT%H:%M:%SZ}</meta>'
        f'<meta property="media:duration">{total}</meta>{"".join(durations)}'
        '<meta property="media:active-class">-epub-media-overlay-active</meta></metadata>'
        f"<manifest>{''.join(items)}</manifest><spine>{spine}</spine></package>"
    )


def _spoken_samples(chapter: SpokenChapter) -> int:
    """Samples of the chapter's clips: what its overlay plays."""
    return sum(sentence.end - sentence.start for sentence in chapter.sentences)


def _page(book: Book, title: str, body: str) -> str:
    language = quoteattr(_language(book))
    return (
        f'{_HEAD}<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f"xml:lang={language} lang={language}><head><title>{escape(title) or 'Untitled'}</title>"
        f'<link rel="stylesheet" type="text/css" href="style.css"/></head>{body}</html>'
    )


def _nav(book: Book, chapters: Sequence[ReadAlongChapter]) -> str:
    lines = "".join(
        f'<li><a href="c{number}.xhtml">{escape(chapter.spoken.title) or number}</a></li>'
        for number, chapter in enumerate(chapters, 1)
    )
    body = f'<body><nav epub:type="toc" id="toc"><h1>{escape(book.title)}</h1><ol>{lines}</ol></nav></body>'
    return _page(book, book.title, body)


def _document(book: Book, chapter: SpokenChapter, by_word: bool) -> str:
    body = "".join(_blocks(chapter, by_word))
    return _page(book, chapter.title, f'<body><section epub:type="chapter">{body}</section></body>')


def _blocks(chapter: SpokenChapter, by_word: bool) -> Iterator[str]:
    number = 0
    for block in chapter.blocks:
        texts, place = [], 0
        for sentence in block.sentences:
            number += 1
            # Lines of verse stay lines.
            found = max(block.block.text.find(sentence.text, place), place)
            texts.append("\n" if "\n" in block.block.text[place:found] else " ")
            texts.append(f'<span id="s{number}">{_sentence(number, sentence, by_word)}</span>')
            place = found
        yield _element(block, "".join(texts[1:]))


def _sentence(number: int, sentence: SpokenSentence, by_word: bool) -> str:
    if not (by_word and sentence.words):
        return escape(sentence.text)
    parts, place = [], 0
    for count, word in enumerate(sentence.words, 1):
        found = sentence.text.find(word.text, place)
        # Characters that no word covers stay on the page: a dash, a sign; and no space is put between Chinese words.
        parts.append(escape(sentence.text[place:found]) if found >= 0 else " ")
        parts.append(f'<span id="s{number}w{count}">{escape(word.text)}</span>')
        place = found + len(word.text) if found >= 0 else place
    return "".join((*parts, escape(sentence.text[place:])))


def _element(block: SpokenBlock, text: str) -> str:
    match block.block.kind:
        case BlockKind.SCENE_BREAK:
            return "<hr/>"
        case BlockKind.HEADING:
            level = min(max(block.block.level, 1), 6)
            return f"<h{level}>{text}</h{level}>"
        case BlockKind.LIST_ITEM:
            return f"<ul><li>{text}</li></ul>"
        case BlockKind.QUOTATION:
            return f"<blockquote><p>{text}</p></blockquote>"
        case BlockKind.VERSE:
            return f'<p class="verse">{text}</p>'
    return f"<p>{text}</p>"


def _overlay(number: int, chapter: SpokenChapter, by_word: bool) -> str:
    pairs = "".join(
        f'<par id="p{name}"><text src="c{number}.xhtml#{name}"/>'
        f'<audio src="c{number}.m4a" clipBegin="{_clock(start)}" clipEnd="{_clock(end)}"/></par>'
        for name, start, end in _clips(chapter, by_word)
    )
    return (
        f'{_HEAD}<smil xmlns="http://www.w3.org/ns/SMIL" xmlns:epub="http://www.idpf.org/2007/ops" version="3.0"><body>'
        f'<seq id="all" epub:textref="c{number}.xhtml" epub:type="chapter">{pairs}</seq></body></smil>'
    )


def _clips(chapter: SpokenChapter, by_word: bool) -> Iterator[tuple[str, int, int]]:
    """Element, first and last sample of each clip. A word's clip lasts until the next word, so that nothing is left
    out."""
    for number, sentence in enumerate(chapter.sentences, 1):
        if not (by_word and sentence.words):
            yield f"s{number}", sentence.start, sentence.end
            continue
        starts = [sentence.start, *(word.start for word in sentence.words[1:]), sentence.end]
        for place, (start, end) in enumerate(pairwise(starts), 1):
            yield f"s{number}w{place}", start, end
