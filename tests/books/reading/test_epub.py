"""EPUBs of many makers' habits: each is a book, or one clear error."""

import pytest

from books.book import Book, BookError, Matter
from books.reading.open import read_book
from books.reading.told import told
from tests.books.made_markup import MadeEpub, nav, ncx, page

LONG = "<p>" + "word " * 200 + "</p>"
TWO = {"one.xhtml": "<body><h1>One</h1><p>First.</p></body>", "two.xhtml": "<body><h1>Two</h1><p>Second.</p></body>"}


def read(made: MadeEpub) -> Book:
    return read_book(made.bytes(), "made.epub")


def titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.body]


def link(file: str, title: str, inner: str = "") -> str:
    return f'<li><a href="{file}">{title}</a>{f"<ol>{inner}</ol>" if inner else ""}</li>'


@pytest.mark.parametrize(
    "toc",
    [
        nav(link("one.xhtml", "The first") + link("two.xhtml", "The second")),
        ncx([("The first", "one.xhtml"), ("The second", "two.xhtml")]),
    ],
)
def test_chapters_are_those_of_the_table_of_contents(toc: str) -> None:
    book = read(MadeEpub(TWO, toc=toc))
    assert titles(book) == ["The first", "The second"]
    assert [block.text for block in book.body[1].blocks] == ["Two", "Second."]
    assert (book.title, book.author, book.language) == ("Made", "Ada", "en")


def test_without_a_table_headings_divide_and_without_headings_documents() -> None:
    assert titles(read(MadeEpub(TWO))) == ["One", "Two"]
    bare = {"a.xhtml": "<body><p>First.</p></body>", "b.xhtml": "<body><p>Second.</p></body>"}
    assert titles(read(MadeEpub(bare))) == ["a.xhtml", "b.xhtml"]


def test_a_broken_table_is_as_none() -> None:
    assert titles(read(MadeEpub(TWO, toc="<ncx"))) == ["One", "Two"]
    assert titles(read(MadeEpub(TWO, toc=nav(link("gone.xhtml", "Gone"))))) == ["One", "Two"]


def test_chapters_may_share_a_document_and_run_over_several() -> None:
    documents = {
        "a.xhtml": '<body><h2 id="c1">1</h2><p>First.</p><h2 id="c2">2</h2><p>Second.</p></body>',
        "b.xhtml": "<body><p>Second goes on.</p></body>",
    }
    book = read(MadeEpub(documents, toc=nav(link("a.xhtml#c1", "Chapter 1") + link("a.xhtml#c2", "Chapter 2"))))
    assert titles(book) == ["Chapter 1", "Chapter 2"]
    assert [block.text for block in book.body[1].blocks] == ["2", "Second.", "Second goes on."]


def test_parts_hold_chapters_and_chapters_hold_sections() -> None:
    documents = {
        "part.xhtml": "<body><h1>Part I</h1></body>",
        "one.xhtml": f'<body><h2>One</h2>{LONG}<h3 id="s">Section</h3>{LONG}</body>',
        "two.xhtml": f"<body><h2>Two</h2>{LONG}</body>",
    }
    inner = link("one.xhtml", "One", link("one.xhtml#s", "Section")) + link("two.xhtml", "Two")
    book = read(MadeEpub(documents, toc=nav(link("part.xhtml", "Part I", inner))))
    assert titles(book) == ["Part I", "One", "Two"]
    inner = link("one.xhtml", "One") + link("two.xhtml", "Two")
    assert titles(read(MadeEpub(documents, toc=nav(link("one.xhtml", "Part I", inner))))) == ["Part I: One", "Two"]


def test_front_matter_notes_and_back_matter_are_told_apart() -> None:
    documents = {
        "cover.xhtml": '<body epub:type="cover"><p>Made by Ada</p></body>',
        "rights.xhtml": "<body><p>All rights reserved.</p></body>",
        **TWO,
        "notes.xhtml": '<body epub:type="endnotes"><p>1. A note.</p></body>',
        "index.xhtml": "<body><h1>Index</h1><p>a, 1</p></body>",
    }
    toc = nav(link("one.xhtml", "One") + link("two.xhtml", "Two") + link("index.xhtml", "Index"))
    book = read(MadeEpub(documents, toc=toc))
    assert titles(book) == ["One", "Two"]
    assert [chapter.matter for chapter in book.chapters] == [Matter.FRONT, Matter.BODY, Matter.BODY, Matter.BACK]


def test_marks_of_notes_and_page_numbers_are_not_spoken() -> None:
    body = (
        '<body><p>A claim<sup><a href="#n1">1</a></sup>, another<a href="#n2"><sup>2</sup></a>, a third'
        '<a href="n.xhtml#n3">[3]</a> and 10<sup>6</sup> more, see <a href="#x">page 4</a>.'
        '<span epub:type="pagebreak" title="12">12</span></p><aside epub:type="footnote"><p>Unread.</p></aside></body>'
    )
    (chapter,) = read(MadeEpub({"a.xhtml": body})).body
    assert [block.text for block in chapter.blocks] == ["A claim, another, a third and 10⁶ more, see page 4."]


def test_text_from_right_to_left_and_names_in_other_cases_are_read() -> None:
    documents = {"A%20b.xhtml": "<body><p>بسم الله</p></body>"}
    made = MadeEpub(documents, files={"OEBPS/a B.XHTML": page("<body><p>بسم الله</p></body>")})
    assert read(made).body[0].blocks[0].text == "بسم الله"


def test_the_cover_is_found_in_both_ways() -> None:
    cover = {"OEBPS/c.jpg": b"\xff\xd8\xff"}
    new = '<item id="c" href="c.jpg" media-type="image/jpeg" properties="cover-image"/>'
    old = '<item id="c" href="c.jpg" media-type="image/jpeg"/>'
    metadata = '<dc:title>Made</dc:title><meta name="cover" content="c"/>'
    for made in (MadeEpub(TWO, cover, manifest=new), MadeEpub(TWO, cover, manifest=old, metadata=metadata)):
        found = read(made).cover
        assert found and (found.data, found.media_type) == (b"\xff\xd8\xff", "image/jpeg")
        assert told(read(made))["cover"] == "data:image/jpeg;base64,/9j/"
    assert told(read(MadeEpub(TWO)))["cover"] == ""


def test_any_error_of_a_decompressor_is_an_error_of_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each compression method brings its own exceptions, and newer versions of Python have more methods."""

    class Damaged(Exception):
        pass

    class Decompressor:
        eof, unconsumed_tail = False, b""

        def decompress(self, *_: object) -> bytes:
            raise Damaged("no frame")

    whole = MadeEpub(TWO, toc=nav(link("one.xhtml", "One"))).bytes()
    monkeypatch.setattr("zipfile._get_decompressor", lambda method: Decompressor() if method else None)
    with pytest.raises(BookError, match="can't be unpacked: no frame"):
        read_book(whole, "damaged.epub")


def test_a_cover_that_cannot_be_unpacked_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = '<item id="c" href="c.jpg" media-type="image/jpeg" properties="cover-image"/>'
    made = MadeEpub(TWO, {"OEBPS/c.jpg": b"a picture" * 1000}, manifest=manifest)
    assert read(made).cover
    monkeypatch.setattr("books.reading.archive.MOST_BYTES_OF_A_FILE", 8000)
    book = read(made)
    assert book.cover is None and titles(book) == ["One", "Two"]
