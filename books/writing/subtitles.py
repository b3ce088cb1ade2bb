"""Subtitle files of what was spoken, a text or a book's chapter: SubRip and WebVTT, as pysubs2 writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from pysubs2 import SSAEvent, SSAFile
from pysubs2.time import make_time

from shm.timing import WordTiming
from text.sentences.sentences import sentences

# Words with their times, cut into what is shown at once.

LINE = 42
"""Characters. Two lines of 42 for at most 7 s are what broadcasters agree on for Latin script."""

LONGEST = 7.0
"""Seconds."""

SHORTEST = 1.0
"""Seconds, where the next cue leaves them: less can't be read."""

_LONG_PAUSE = 1.5
"""Seconds without a word after which the words before are no longer shown."""

_PART = re.compile(rf".{{1,{LINE - 1}}}[。！？।॥、，；：]|.{{1,{LINE}}}")
_PAUSES = re.compile(r"[,;:!?.…)\]—–、，；：。！？।॥][\"'”’»)\]]*$")
_WORTH = 20
"""Difference of the two lines' lengths, in characters, that a cut at a pause is worth."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue: the text that is shown at once."""

    start: float
    """Seconds."""
    end: float
    lines: tuple[str, ...]
    """The text's lines: one or two."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A word, or a part of one that is longer than a line."""

    text: str
    start: float
    end: float
    space: str
    """The separator before a word, if the word isn't the first of its line."""
    ends_sentence: bool

    @property
    def pauses(self) -> bool:
        return _PAUSES.search(self.text) is not None


def cues(timings: Sequence[WordTiming], language: str = "en") -> Iterator[Cue]:
    """Cues in order, none beginning before another's end, with each written word in one of them.

    A cue has whole sentences where one fits, and else ends at a clause's end if that leaves it half full.

    Args:
        language: by which sentences are told apart, as espeak names it.
    """
    words = _words(timings, language)
    first = 0
    while first < len(words):
        stop = _stop(words, first)
        shown = words[first:stop]
        following = words[stop].start if stop < len(words) else float("inf")
        start = shown[0].start
        end = min(max(shown[-1].end, start + SHORTEST), start + LONGEST, following)
        yield Cue(start, end, _lines(shown))
        first = stop


def _words(timings: Sequence[WordTiming], language: str) -> list[_Part]:
    words: list[_Part] = []
    text = " ".join(" ".join(timing.word.split()) for timing in timings)
    ends = set(accumulate(_length(sentence) for sentence in sentences(text, language)))
    so_far = 0
    for timing in timings:
        parts = [
            (part, "" if place else " ")
            for token in timing.word.split()
            for place, part in enumerate(_PART.findall(token))
        ]
        share = (timing.end - timing.start) / max(_length(timing.word), 1)
        start = timing.start
        for part, space in parts:
            so_far += len(part)
            end = min(start + share * len(part), timing.end)
            words.append(_Part(part, start, end, space, so_far in ends))
            start = end
    return words


def _length(text: str) -> int:
    return sum(not character.isspace() for character in text)


def _stop(words: Sequence[_Part], first: int) -> int:
    """After the last word of the cue that begins with `first`."""
    stop = first + 1
    while stop < len(words) and _goes_on(words[first : stop + 1]):
        stop += 1
    if stop == len(words):
        return stop
    shown = words[first:stop]
    sentence = max((i for i, word in enumerate(shown, 1) if word.ends_sentence), default=0)
    if sentence:
        return first + sentence
    clause = max((i for i, word in enumerate(shown, 1) if word.pauses), default=0)
    half_full = 2 * len(_joined(shown[:clause])) >= len(_joined(shown))
    return first + clause if half_full else stop


def _goes_on(words: Sequence[_Part]) -> bool:
    """True where the last word can be shown together with the others."""
    return (
        words[-1].end - words[0].start <= LONGEST
        and words[-1].start - words[-2].end <= _LONG_PAUSE
        and all(len(line) <= LINE for line in _lines(words))
    )


def _lines(words: Sequence[_Part]) -> tuple[str, ...]:
    """One line if the words fit, else two of about equal length, preferably cut at a pause."""
    whole = _joined(words)
    if len(whole) <= LINE:
        return (whole,)
    halves = [
        ((_joined(words[:place]), _joined(words[place:])), words[place - 1].pauses) for place in range(1, len(words))
    ]

    def awkward(candidate: tuple[tuple[str, str], bool]) -> tuple[int, int]:
        (upper, lower), pauses = candidate
        overlong = max(len(upper) - LINE, len(lower) - LINE, 0)
        return overlong, abs(len(upper) - len(lower)) - _WORTH * pauses

    return min(halves, key=awkward)[0]


def _joined(words: Sequence[_Part]) -> str:
    return "".join(word.space * (place > 0) + word.text for place, word in enumerate(words))


FORMATS: Mapping[str, str] = {".srt": "srt", ".vtt": "vtt"}
"""The formats' names in pysubs2, by the files' suffixes."""

_BACKSLASH = "\ufdd0"
"""Stand-in for a backslash while pysubs2 has the text, because it takes `\\n` and `\\h` for commands. Unicode assigns
this code point no character."""


def subtitles(shown: Iterable[Cue], format_: str) -> str:
    """The file's text, in the format `srt` or `vtt`.

    SubRip has no way to write `<b>` as text: players may take it for markup.
    """
    file = SSAFile()
    for cue in shown:
        text = r"\N".join(line.replace("\\", _BACKSLASH) for line in cue.lines)
        if format_ == "vtt":
            text = escape(text, quote=False)
        file.append(SSAEvent(start=make_time(s=cue.start), end=make_time(s=cue.end), text=text))
    # Styles off and tags kept: braces in the text are text.
    return file.to_string(format_, keep_ssa_tags=True).replace(_BACKSLASH, "\\")
