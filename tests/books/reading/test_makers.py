"""EPUBs of many makers' habits are books of which the right words are spoken, or one clear error each."""

import functools
import random
import re
import time
import zipfile
from collections.abc import Callable

import pytest

from books.book import Book, BookError
from books.reading.open import read_book
from tests.books.made_markup import HABITS, MadeEpub, page
from tests.books.makers import FONTS, OPF, PACKAGINGS, Files, Made, Packaging, added, packed, replaced

_LONGEST = 10.0
"""Seconds of processor time for one book: hundreds of times what any takes, and far less than a quadratic parse."""


def spoken(book: Book) -> list[str]:
    return [word for chapter in book.body for block in chapter.blocks for word in re.findall(r"\w+", block.text)]


def check(made: Made, longest: float = _LONGEST) -> None:
    started = time.process_time()
    book = read_book(made.data, "made.epub")
    assert time.process_time() - started < longest
    assert spoken(book) == made.spoken
    if made.titles and len(made.titles) > 1:
        assert [chapter.title for chapter in book.body] == made.titles


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("packaging", ["EPUB 2", "EPUB 3"])
def test_each_habit_of_markup_is_a_book_of_the_right_words(habit: str, packaging: str) -> None:
    check(PACKAGINGS[packaging].make(["plain", habit, "plain"]))


_QUICK = [name for name in HABITS if "without end" not in name and "deep" not in name and "long" not in name]


@pytest.mark.parametrize("name", PACKAGINGS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_each_way_of_packaging_is_a_book_of_the_right_words(name: str) -> None:
    number = list(PACKAGINGS).index(name)
    habits = [_QUICK[number * 2 % len(_QUICK)], "letters of many scripts", _QUICK[(number * 2 + 1) % len(_QUICK)]]
    check(PACKAGINGS[name].make(habits))


def _cut(share: float) -> Callable[[bytes], bytes]:
    return lambda whole: whole[: int(len(whole) * share)]


def _with_flag(whole: bytes) -> bytes:
    """The archive with its documents marked as encrypted by zip's own encryption."""
    flagged = bytearray(whole)
    for header, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(header), whole):
            flagged[found.start() + at] |= 1
    return bytes(flagged)


def _edited(edit: Callable[[Files], None]) -> bytes:
    return Packaging(edit=edit).make(["plain"]).data


@functools.cache
def _too_many_files() -> bytes:
    return packed({str(n): b"" for n in range(20_001)})


def _without(name: str) -> Callable[[Files], None]:
    return lambda files: files.__delitem__(name)


_LAUGHS = (
    "<!DOCTYPE x ["
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    + "]><package>&l9;</package>"
)
_SECRET = '<!DOCTYPE x [<!ENTITY s SYSTEM "file:///etc/passwd">]><package>&s;</package>'
_DRM = FONTS.format("http://www.w3.org/2001/04/xmlenc#aes256-cbc", "OEBPS/c1.xhtml")
_LCP = FONTS.format("http://www.w3.org/2001/04/xmlenc#aes256-cbc", "OEBPS/c2.xhtml")
_SOUND = _edited(lambda files: None)
_BROKEN: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    **{f"cut at {n * 5}%": (_cut(n / 20)(_SOUND), "no readable zip archive") for n in range(1, 20)},
    "zip's own encryption": (_with_flag(_SOUND), "can't be unpacked"),
    "an empty archive": (packed({}), "no EPUB"),
    "no container": (_edited(_without("META-INF/container.xml")), "no EPUB"),
    "a word document": (packed({"word/document.xml": b"<x/>", "[Content_Types].xml": b"<x/>"}), "no text to speak"),
    "an empty container": (_edited(added(**{"META-INF__container_dot_xml": ""})), "no readable XML"),
    "a container of nothing": (_edited(added(**{"META-INF__container_dot_xml": "<a/>"})), "names no package"),
    "no package": (_edited(_without(OPF)), "lacks OEBPS/content.opf"),
    "a package outside": (
        _edited(added(**{"META-INF__container_dot_xml": '<c><rootfile xmlns="u" full-path="../../etc/passwd"/></c>'})),
        "lacks ../../etc/passwd",
    ),
    "an empty package": (_edited(lambda files: files.update({OPF: b""})), "no readable XML"),
    "a package of noise": (_edited(lambda files: files.update({OPF: bytes(range(256))})), "no readable XML"),
    "a package that is HTML": (_edited(lambda files: files.update({OPF: page("<body>x</body>").encode()})), "no text"),
    "a package cut short": (_edited(lambda files: files.update({OPF: files[OPF][:300]})), "no readable XML"),
    "a billion laughs": (_edited(lambda files: files.update({OPF: _LAUGHS.encode()})), "taken for an attack"),
    "external entities": (_edited(lambda files: files.update({OPF: _SECRET.encode()})), "taken for an attack"),
    "laughs in the container": (
        _edited(lambda files: files.update({"META-INF/container.xml": _LAUGHS.encode()})),
        "taken for an attack",
    ),
    "laughs in the encryption": (_edited(added(**{"META-INF__encryption_dot_xml": _LAUGHS})), "taken for an attack"),
    "Adobe's encryption": (_edited(added(**{"META-INF__encryption_dot_xml": _DRM})), r"encrypted \(DRM\)"),
    "another's encryption": (_edited(added(**{"META-INF__encryption_dot_xml": _LCP})), r"encrypted \(DRM\)"),
    "no spine": (_edited(replaced(OPF, "<itemref", "<item")), "no text"),
    "no manifest": (_edited(replaced(OPF, "manifest>", "list>")), "no text"),
    "pictures only": (MadeEpub({"a.xhtml": '<body><img src="a.png" alt="x y"/></body>'}).bytes(), "pages are pictures"),
    "pictures in SVG": (MadeEpub({"a.xhtml": "<body><svg><title>x</title><image/></svg></body>"}).bytes(), "pictures"),
    "empty documents": (MadeEpub({"a.xhtml": "<body></body>", "b.xhtml": ""}).bytes(), "no text|pictures"),
    "a missing document": (_edited(_without("OEBPS/c1.xhtml")), "lacks its document OEBPS/c1.xhtml"),
    "another protocol": (
        _edited(replaced(OPF, 'href="c1.xhtml"', 'href="https://x.test/c1.xhtml"')),
        "lacks its document",
    ),
    "a document outside": (_edited(replaced(OPF, 'href="c1.xhtml"', 'href="../../../../etc/passwd"')), "lacks|no text"),
    "a bomb": (lambda: MadeEpub({"a.xhtml": "<body>" + " " * (33 << 20) + "</body>"}).bytes(), "taken for an attack"),
    "too many files": (_too_many_files, "at most 20000"),
    "too large": (lambda: b"PK" + bytes(101 << 20), "at most 100 MB"),
    "not an archive": (b"PK\x03\x04 and no more", "no readable zip archive"),
    "an archive of another kind": (b"Rar!\x1a\x07\x00", "no text"),
    "nothing": (b"", "no text to speak"),
}


@pytest.mark.parametrize("name", _BROKEN)
def test_what_is_no_book_is_one_clear_error(name: str) -> None:
    data, message = _BROKEN[name]
    started = time.process_time()
    with pytest.raises(BookError, match=message) as error:
        read_book(data if isinstance(data, bytes) else data(), "made.epub")
    assert time.process_time() - started < 2 * _LONGEST
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_bombs_are_refused_before_they_take_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("books.reading.archive.MOST_BYTES", 1 << 20)
    with pytest.raises(BookError, match="taken for an attack"):
        read_book(
            MadeEpub({f"{n}.xhtml": f"<body><p>{'word ' * 50_000}</p></body>" for n in range(9)}).bytes(), "made.epub"
        )
    monkeypatch.setattr("books.reading.document.MOST_BLOCKS", 5_000)
    with pytest.raises(BookError, match="more than 5000 paragraphs"):
        read_book(MadeEpub({"a.xhtml": f"<body>{'<p>x' * 6_000}</body>"}).bytes(), "made.epub")


_REPEATED = {
    "comments": "<!--",
    "declarations": "<!a",
    "document types": "<!DOCTYPE a [<!--",
    "instructions": "<?a",
    "marked sections": "<![CDATA[",
    "conditions": "<![if x",
    "ends": "</a",
    "starts": "<a ",
    "attributes": '<a b="',
    "quotes": "<a b='\"",
    "equals": "<a =",
    "slashes": "<a/",
    "brackets": "<",
    "ampersands": "&",
    "links": '<a href="#x">1',
    "ends of links": "</a><a href='#'>",
    "raised": "<sup>1",
    "titles": "<title>x<b>",
    "cells": "<td>\t",
    "dashes": "- ",
    "spaces": "&nbsp; ",
    "scripts": "<script>",
    "lists": "<ul><li>",
}


@pytest.mark.parametrize("name", _REPEATED)
def test_no_markup_takes_more_than_linear_time(name: str) -> None:
    """Sixty kilobytes of one thing, which take 0.15 seconds at most. A parse in quadratic time takes far longer."""
    body = _REPEATED[name] * (60_000 // len(_REPEATED[name]))
    for document in (f"<body><p>word</p>{body}", f"<body><pre>word {body}</pre>></body>"):
        started = time.process_time()
        book = read_book(MadeEpub({"a.xhtml": f"<html>{document}</html>"}).bytes(), "made.epub")
        assert time.process_time() - started < 0.8
        assert spoken(book)[0] == "word"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_damaged_bytes_are_a_book_or_a_clear_error(method: int) -> None:
    chance = random.Random(method)
    whole = Packaging("both", method=method).make(["plain", "tables"]).data
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3, 20))):
            damaged[chance.randrange(2, len(whole))] = chance.randrange(256)
        try:
            assert read_book(bytes(damaged), "made.epub").body
        except BookError as error:
            assert str(error)


def test_damaged_documents_are_a_book_or_a_clear_error() -> None:
    chance = random.Random(1)
    for _ in range(150):

        def damage(files: Files) -> None:
            for name in list(files):
                data = bytearray(files[name])
                for _ in range(chance.choice((0, 0, 1, 5))):
                    at = chance.randrange(len(data))
                    data[at : at + chance.randrange(3)] = chance.choice(
                        (b"<", b">", b"&", b'"', b"\0", b"<![", b"]]>", b"\xff")
                    )
                files[name] = bytes(data)

        try:
            assert read_book(Packaging("both", edit=damage).make(["lists", "notes of old"]).data, "made.epub").body
        except BookError as error:
            assert str(error)


def test_a_hundred_megabytes_of_pictures_are_read_past() -> None:
    made = Packaging(edit=added(OEBPS__a_dot_png=bytes(99 << 20)), method=zipfile.ZIP_STORED).make(["plain"])
    assert len(made.data) > 98 << 20
    check(made)


def test_a_directory_of_too_many_entries_is_not_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _too_many_files()
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(BookError, match="at most 20000"):
        read_book(data, "a.epub")


def test_thousands_of_files_are_read() -> None:
    """A quarter of a millisecond each, and no time that grows with their square."""
    check(Packaging().make(["plain"] * 2_000), 1.6)
    check(Packaging("ncx", edit=added(**{f"x{n}": "" for n in range(4_000)})).make(["plain"]), 1.6)


def test_entities_that_a_document_defines_as_plain_text_are_spoken() -> None:
    subset = '<!ENTITY hero "Ada"><!ENTITY both "&hero;&hero;"><!ENTITY file SYSTEM "file:///etc/hostname">'
    document = page("<body><p>Here is &hero; and &both;&file; no more.</p></body>").replace(
        "html>", f"html [{subset}]>", 1
    )
    (chapter,) = read_book(MadeEpub({"a.xhtml": document}).bytes(), "made.epub").body
    assert chapter.blocks[0].text.startswith("Here is Ada and ")
