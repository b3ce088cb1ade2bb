"""Plain text, Markdown, saved pages and PDF as books."""

from collections.abc import Sequence

import pytest

from books.book import BlockKind, Book, BookError, Matter, language_tag
from books.reading.chapters import matter_of
from books.reading.open import read_book, without_furniture
from books.reading.plain import blocks_of_lines, heading_level
from tests.books.made_markup import made_pdf
from tests.books.makers import packed

WRAPPED = """The Made Book

by Ada

CHAPTER I. The Beginning

It was a dark and stormy night; the rain fell in tor-
rents, except at occasional intervals, when it was
checked by a violent gust of wind.

"Who goes?" he said.

* * *

Later.

CHAPTER II

Roses are red,
Violets are blue,
Sugar is sweet,
And so are you.
"""


def titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.body]


def test_wrapped_lines_are_joined_and_chapters_found() -> None:
    book = read_book(WRAPPED.encode(), "made.txt")
    assert titles(book) == ["CHAPTER I. The Beginning", "CHAPTER II"]
    assert book.chapters[0].matter is Matter.FRONT
    first, second = book.body
    assert [(block.kind, block.text) for block in first.blocks] == [
        (BlockKind.HEADING, "CHAPTER I. The Beginning"),
        (
            BlockKind.PARAGRAPH,
            "It was a dark and stormy night; the rain fell in torrents, except at occasional intervals, when it was "
            "checked by a violent gust of wind.",
        ),
        (BlockKind.PARAGRAPH, '"Who goes?" he said.'),
        (BlockKind.SCENE_BREAK, ""),
        (BlockKind.PARAGRAPH, "Later."),
    ]
    assert second.blocks[1].kind is BlockKind.VERSE and second.blocks[1].text.count("\n") == 3


def test_a_line_for_each_paragraph_is_no_wrapped_text() -> None:
    long = "This paragraph is one line of the file, as word processors write it. " * 3
    blocks = blocks_of_lines("\n".join([long] * 4))
    assert [block.text for block in blocks] == [long.strip()] * 4


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("CHAPTER IV", 2),
        ("Chapter the Last", 2),
        ("Part Two", 1),
        ("Chapter Twenty-One: The Return", 2),
        ("Prologue", 2),
        ("XIV", 2),
        ("12.", 2),
        ("第三章 春", 2),
        ("Capítulo 3", 2),
        ("THE RETURN OF THE KING", 2),
        ("He said NO", 0),
        ("OH NO!", 0),
        ("Chapter and verse were quoted.", 0),
    ],
)
def test_a_line_alone_may_be_a_heading(line: str, level: int) -> None:
    assert heading_level(line) == level


def test_the_frame_of_a_gutenberg_text_is_not_the_book() -> None:
    text = (
        "The Project Gutenberg eBook\n\nTitle: Made\nAuthor: Ada\nLanguage: English\n\n"
        f"*** START OF THE PROJECT GUTENBERG EBOOK MADE ***\n{WRAPPED}\n*** END OF THE PROJECT GUTENBERG EBOOK MADE "
        f"***\nLicence"
    )
    book = read_book(text.encode(), "pg1.txt")
    assert (book.title, book.author, book.language) == ("Made", "Ada", "en")
    assert "Licence" not in str(book)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_old_files_are_told(encoding: str) -> None:
    (chapter,) = read_book("Él dijo “sí” — y café.".encode(encoding), "a.txt").body
    assert chapter.blocks[0].text == "Él dijo “sí” — y café."


def test_markdown_divides_at_its_headings_and_leaves_notes_out() -> None:
    facts = "---\ntitle: Made\nauthor: Ada\nlang: en\n---\n"
    text = f"{facts}# One\n\nText[^1] with *stress*.\n\n[^1]: A note.\n\n---\n\n- item\n\n# Two\n\n> Said.\n"
    book = read_book(text.encode(), "a.md")
    assert (book.title, book.author, titles(book)) == ("Made", "Ada", ["One", "Two"])
    assert [(block.kind, block.text) for block in book.body[0].blocks[1:]] == [
        (BlockKind.PARAGRAPH, "Text with stress."),
        (BlockKind.SCENE_BREAK, ""),
        (BlockKind.LIST_ITEM, "item"),
    ]


def test_a_single_first_heading_is_the_books_title() -> None:
    book = read_book(b"# Made\n\n## One\n\na\n\n## Two\n\nb\n", "a.md")
    assert (book.title, titles(book)) == ("Made", ["One", "Two"])


def test_a_saved_page_is_its_article() -> None:
    text = "Words of the article. " * 20
    page = (
        f"<!doctype html><html lang=fr><title>News</title><nav>Menu</nav><header>Site</header><div>Advert</div>"
        f"<article><h1>News</h1><p>{text}</p></article><footer>Imprint</footer></html>"
    )
    book = read_book(page.encode(), "saved.html")
    assert (book.title, book.language, titles(book)) == ("News", "fr", ["News"])
    assert "Menu" not in str(book) and "Advert" not in str(book) and "Imprint" not in str(book)


def test_running_heads_and_page_numbers_of_a_pdf_go() -> None:
    lines = [f"Line {chr(97 + n)} of the page." for n in range(5)]
    pages = [["THE MADE BOOK", *lines[n:], *lines[:n], f"- {n} -"] for n in range(5)]
    assert without_furniture(pages) == [[*lines[n:], *lines[:n]] for n in range(5)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" \n\n* * *\n", "no text"),
        (b"{\\rtf1 hello}", "RTF"),
        (b"\x89PNG\r\n", "a picture"),
        (b"ab\0cd", "no text"),
    ],
)
def test_what_is_no_book_is_one_clear_error(data: bytes, message: str) -> None:
    with pytest.raises(BookError, match=message):
        read_book(data, "a.txt")


def test_halves_of_letters_in_a_pdf_can_be_written_to_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pypdf.PageObject.extract_text", lambda page: "Half \ud83d and whole \ud83d\ude00 it says.")
    book = read_book(made_pdf([["x"]], []), "made.pdf")
    assert [block.text for block in book.chapters[0].blocks] == ["Half \ufffd and whole \U0001f600 it says."]


def test_a_pdf_is_read_by_its_outline() -> None:
    pages = [["Chapter text one, long enough.", "It ends."], ["Chapter text two.", "It ends."]]
    made = made_pdf(pages, ["A", "B"])
    book = read_book(made, "made.pdf")
    assert (book.title, book.author, titles(book)) == ("Made", "Ada", ["A", "B"])
    assert [block.text for block in book.body[1].blocks] == ["Chapter text two. It ends."]
    with pytest.raises(BookError, match="no text layer"):
        read_book(made_pdf([[]], []), "scan.pdf")
    with pytest.raises(BookError, match="can't be read"):
        read_book(made[:200], "cut.pdf")


def test_a_pdf_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("books.reading.open.MOST_PAGES", 2)
    with pytest.raises(BookError, match="3 pages; at most 2"):
        read_book(made_pdf([["Text."]] * 3, []), "made.pdf")


def test_a_name_in_another_encoding_is_a_title_that_can_be_written() -> None:
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    assert read_book(b"A text.", name).title == "caf?"


@pytest.mark.parametrize(
    ("named", "tag"),
    [
        ("en-GB", "en-GB"),
        ("en_US", "en-US"),
        ("eng", "en"),
        ("ENGLISH", "en"),
        ("English, French", "en"),
        ("fre-CA", "fr-CA"),
        ("zh-Hant-TW", "zh-Hant-TW"),
        ("de-1996", "de-1996"),
        ("es-419", "es-419"),
        ("sr", "sr"),
        ("und", ""),
        ("x-default", ""),
        ("Klingon", ""),
        ("en-", "en"),
        ("en-verylongsubtag", "en"),
        ("", ""),
    ],
)
def test_languages_are_tags_however_a_file_names_them(named: str, tag: str) -> None:
    assert language_tag(named) == tag


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


_ROWS = (("Ship", "Berth", "Tons"), ("Anna", "4", "900"), ("Bee", "", "70"))


def _cells(rows: Sequence[Sequence[str]], row: str, cell: str) -> str:
    """A table's rows; `row` and `cell` are forms in which braces stand for what is inside."""
    return "".join(row.format("".join(cell.format(each) for each in each_row)) for each_row in rows)


_HEADED = {
    "a.md": "\n".join(["|".join(_ROWS[0]), "-|-|-", *("|".join(row) for row in _ROWS[1:])]).encode(),
    "a.html": (
        f"<html><table>{_cells(_ROWS[:1], '<tr>{}</tr>', '<th><p>{}</p>')}"
        f"{_cells(_ROWS[1:], '<tr>{}</tr>', '<td><p>{}</p></td>')}</table>"
    ).encode(),
    "a.docx": packed(
        {
            "word/document.xml": f"""<w:document {_W}><w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr>{
                _cells(_ROWS, "<w:tr>{}</w:tr>", "<w:tc>" + _p("{}") + "</w:tc>")
            }</w:tbl></w:document>""".encode()
        }
    ),
    "a.odt": packed(
        {
            "content.xml": f"""<d xmlns:text="{_O}:text:1.0" xmlns:t="{_O}:table:1.0"><t:table><t:table-header-rows>{
                _cells(_ROWS[:1], "<t:table-row>{}</t:table-row>", "<t:table-cell><text:p>{}</text:p></t:table-cell>")
            }</t:table-header-rows>{
                _cells(_ROWS[1:], "<t:table-row>{}</t:table-row>", "<t:table-cell><text:p>{}</text:p></t:table-cell>")
            }</t:table></d>""".encode()
        }
    ),
}


@pytest.mark.parametrize("name", _HEADED)
def test_rows_are_read_with_the_headings_of_their_columns(name: str) -> None:
    told = ["Ship, Berth, Tons", "Anna, Berth: 4, Tons: 900", "Bee, Tons: 70"]
    [chapter] = read_book(_HEADED[name], name).chapters
    assert [" ".join(block.text.split()) for block in chapter.blocks] == told


@pytest.mark.parametrize(
    ("title", "matter"),
    [
        ("Indice generale", Matter.FRONT),
        ("ÍNDICE GERAL.", Matter.FRONT),
        ("目录", Matter.FRONT),
        ("Fußnoten", Matter.NOTES),
        ("Sobre la autora", Matter.BACK),
        ("Remerciements", Matter.BACK),
        ("Vorwort", Matter.BODY),
        ("The Index of Sins", Matter.BODY),
    ],
)
def test_a_title_in_any_language_tells_its_part(title: str, matter: Matter) -> None:
    assert matter_of(title) is matter
