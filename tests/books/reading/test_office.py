"""Word's and OpenDocument's texts, and captions: headings, lists, rows of tables; and what isn't to be read."""

import pytest

from books.book import BlockKind, Book
from books.reading.open import read_book
from tests.books.makers import packed

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_STYLES = f'<w:styles {_W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>'
_FACTS = (
    '<x xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Facts</dc:title><dc:creator>A. Nobody</dc:creator></x>'
)


def _p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


_HEADING = '<w:pStyle w:val="berschrift1"/>'
WORD = f"""<w:document {_W}><w:body>{_p("First", _HEADING)}
<w:p><w:r><w:t xml:space="preserve">It </w:t></w:r>
<w:del><w:r><w:t>was</w:t></w:r></w:del><w:r><w:t>is &amp; stays.</w:t></w:r></w:p>
{_p("one", "<w:numPr/>")}<w:tbl><w:tr><w:tc>{_p("Ship")}</w:tc><w:tc>{_p("Berth")}</w:tc></w:tr></w:tbl>
{_p("Second", _HEADING)}{_p("The end.")}</w:body></w:document>"""

_O = "urn:oasis:names:tc:opendocument:xmlns"
OPEN = f"""<office:d xmlns:office="{_O}:office:1.0" xmlns:text="{_O}:text:1.0"
xmlns:table="{_O}:table:1.0"><office:body>
<text:tracked-changes><text:p>was</text:p></text:tracked-changes>
<text:h text:outline-level="1">First</text:h>
<text:p>It <text:span>is</text:span><text:s/>&amp; stays.<text:note>no</text:note></text:p>
<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>Ship</text:p></table:table-cell><table:table-cell><text:p>Berth</text:p>
</table:table-cell></table:table-row></table:table>
<text:h text:outline-level="1">Second</text:h><text:p>The end.</text:p></office:body></office:d>"""

WORD_FILE = packed(
    {"word/document.xml": WORD.encode(), "word/styles.xml": _STYLES.encode(), "docProps/core.xml": _FACTS.encode()}
)
OPEN_FILE = packed({"content.xml": OPEN.encode(), "meta.xml": _FACTS.encode()})

SRT = b"""1
00:00:01,000 --> 00:00:03,000
<i>Good evening, ladies</i>

2
00:00:03,100 --> 00:00:05,000
and gentlemen.

3
00:00:05,100 --> 00:00:06,000
[applause]

4
00:01:00,000 --> 00:01:02,000
The play begins.
"""
VTT = b"""WEBVTT

name
00:01.000 --> 00:03.000 align:left
<v Ann>Good evening, ladies

00:03.100 --> 00:05.000
and gentlemen.

01:00:00.000 --> 01:00:02.000
The play begins.
"""


def _blocks(book: Book) -> list[list[tuple[BlockKind, str]]]:
    return [[(block.kind, " ".join(block.text.split())) for block in chapter.blocks] for chapter in book.chapters]


@pytest.mark.parametrize(("data", "name"), [(WORD_FILE, "a.docx"), (OPEN_FILE, "a.odt")])
def test_headings_lists_and_rows_are_read(data: bytes, name: str) -> None:
    book = read_book(data, name)
    assert (book.title, book.author) == ("Facts", "A. Nobody")
    assert _blocks(book) == [
        [
            (BlockKind.HEADING, "First"),
            (BlockKind.PARAGRAPH, "It is & stays."),
            (BlockKind.LIST_ITEM, "one"),
            (BlockKind.PARAGRAPH, "Ship, Berth"),
        ],
        [(BlockKind.HEADING, "Second"), (BlockKind.PARAGRAPH, "The end.")],
    ]


@pytest.mark.parametrize(("data", "name"), [(SRT, "a.srt"), (SRT, "a.txt"), (VTT, "a.vtt")])
def test_captions_are_read_as_sentences(data: bytes, name: str) -> None:
    assert _blocks(read_book(data, name)) == [
        [(BlockKind.PARAGRAPH, "Good evening, ladies and gentlemen."), (BlockKind.PARAGRAPH, "The play begins.")]
    ]
