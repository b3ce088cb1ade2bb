"""Captions of a spoken chapter, by pysubs2."""

from __future__ import annotations

from collections.abc import Iterator

import pysubs2

from books.book import SAMPLE_RATE, BookWord, SpokenChapter, SpokenSentence

LONGEST_LINE = 42
"""Characters of a caption's line, as broadcasters keep it; a caption has two lines."""


def captions(chapter: SpokenChapter, suffix: str) -> str:
    """Captions of the chapter's sentences.

    A sentence that has more than two lines is divided between words, at the words' own times.

    Args:
        suffix: `srt` or `vtt`.
    """
    subtitles = pysubs2.SSAFile()
    for sentence in chapter.sentences:
        for text, start, end in _divided(sentence):
            subtitles.append(pysubs2.SSAEvent(start=_milliseconds(start), end=_milliseconds(end), text=text))
    return subtitles.to_string(suffix)


def _divided(sentence: SpokenSentence) -> Iterator[tuple[str, int, int]]:
    """Captions of one sentence: text with `\\N` between its lines, first and last sample."""
    if not sentence.words or len(sentence.text) <= 2 * LONGEST_LINE:
        yield _wrapped(sentence.text), sentence.start, sentence.end
        return
    group: list[BookWord] = []
    for word in sentence.words:
        if group and len(" ".join(each.text for each in [*group, word])) > 2 * LONGEST_LINE:
            yield _wrapped(" ".join(each.text for each in group)), group[0].start, word.start
            group = []
        group.append(word)
    yield _wrapped(" ".join(each.text for each in group)), group[0].start, sentence.end


def _wrapped(text: str) -> str:
    """Text in two lines of about the same length if one would be too long."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_LINE:
        return text
    spaces = [index for index, letter in enumerate(text) if letter == " "]
    middle = min(spaces, key=lambda index: abs(index - len(text) / 2), default=None)
    return text if middle is None else f"{text[:middle]}\\N{text[middle + 1 :]}"


def _milliseconds(samples: int) -> int:
    return round(samples * 1000 / SAMPLE_RATE)
