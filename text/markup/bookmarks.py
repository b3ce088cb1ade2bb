"""Assignment of a text's bookmarks to its words."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from text.markup.marked import Bookmark, Marked
from text.words.segment import Sentence
from text.words.word import Word


class Bookmarks:
    """Bookmarks of a text that no word has yet. Its callers must give the text's words in order, once."""

    def __init__(self, marked: Marked) -> None:
        self._left = deque(each for each in marked.annotations if isinstance(each, Bookmark))

    def __bool__(self) -> bool:
        """True if bookmarks are left."""
        return bool(self._left)

    def given_to(
        self, words: tuple[Word, ...], written: Iterable[str], origins: Iterable[tuple[int, int]]
    ) -> tuple[Word, ...]:
        """The words, each with the bookmarks between the beginning of the word before and its own.

        A bookmark inside a written word belongs to the next one.

        Args:
            written: the user's spelling of each word; "" if the word before has it already.
            origins: the span of the text that each word stands for, in rising order.
        """
        if not self._left:
            return words
        return tuple(
            replace(word, bookmarks=self._until(start)) if spelling else word
            for word, spelling, (start, _) in zip(words, written, origins, strict=True)
        )

    def all_given(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        """The sentences, the last of them with all bookmarks that are left.

        A sentence is held until the next one comes while bookmarks are left, because only the next one shows that it
        isn't the last.
        """
        held: Sentence | None = None
        for sentence in sentences:
            if held:
                yield held
            held = sentence if self._left else None
            if held is None:
                yield sentence
        if held:
            yield self._given_after(held)

    def _given_after(self, sentence: Sentence) -> Sentence:
        """The sentence, with all bookmarks that are left after its last written word."""
        for place in reversed(range(len(sentence))):
            unit = sentence[place]
            for index in reversed(range(len(unit.words))):
                if unit.words[index].written:
                    last = replace(unit.words[index], bookmarks_after=self._until(None))
                    words = (*unit.words[:index], last, *unit.words[index + 1 :])
                    return (*sentence[:place], replace(unit, words=words), *sentence[place + 1 :])
        return sentence

    def _until(self, end: int | None) -> tuple[str, ...]:
        """Take the names of the bookmarks up to a place; None: all of them."""
        names: list[str] = []
        while self._left and (end is None or self._left[0].at <= end):
            names.append(self._left.popleft().name)
        return tuple(names)
