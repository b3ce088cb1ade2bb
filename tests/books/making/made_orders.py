"""Books for tests, and the orders to make them."""

from pathlib import Path

from books.book import BlockKind, Book, Chapter, TextBlock
from books.making.maker import Order
from books.making.outputs import output_of
from books.making.settings import BookSettings


def made_book(chapters: int = 3, paragraphs: int = 4) -> Book:
    """A book of headings and of paragraphs that take two passages each."""

    def blocks(chapter: int) -> tuple[TextBlock, ...]:
        text = []
        for number in range(paragraphs):
            inner = " ".join(f"It goes on in line {chapter} {number} {line}." for line in range(18))
            text.append(TextBlock(BlockKind.PARAGRAPH, f"Paragraph {chapter} of {number} begins. {inner} It ends."))
        return (
            TextBlock(BlockKind.HEADING, f"Chapter {chapter}", 1),
            *text[:2],
            TextBlock(BlockKind.SCENE_BREAK),
            *text[2:],
        )

    return Book("Made", tuple(Chapter(f"Chapter {n}", blocks(n)) for n in range(1, chapters + 1)), "Ada", "en")


def order(folder: Path, book: Book, name: str = "book.flac", settings: BookSettings | None = None) -> Order:
    """The order to make that book in the folder, with subtitles, and what is kept of it in a folder of that."""
    output = output_of(folder / name, captions=("srt",))
    return Order(book, book.chapters, settings or BookSettings(), output, folder / "kept")
