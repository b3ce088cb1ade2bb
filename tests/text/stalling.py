"""Work for the helper that reads long texts: it ends well, raises, dies, or takes for ever, at a step of the test's."""

import os
import re
import signal
from collections.abc import Iterator

from text.lexicon import Lexicon, LexiconMatch
from text.markup.meanings import MarkupError


def for_ever() -> None:
    """One call of `re` that no thread can interrupt."""
    re.match("(?:a|a)+b", "a" * 100)


def steps(last: int, at: int = -1, what: str = "") -> Iterator[int]:
    for number in range(last):
        if number == at:
            done(what)
        yield number


def done(what: str) -> int:
    match what:
        case "for ever":
            for_ever()
        case "dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "refuses":
            raise MarkupError("no", 3, 4)
        case "fails":
            raise ValueError("a bug")
    return 1


class StallingLexicon(Lexicon):
    """Finds one word in no time but in the helper, where that takes for ever."""

    def __len__(self) -> int:
        return 1

    def find(self, token: str, language: str, part: str | None = None) -> LexiconMatch | None:
        if token == "Zebra" and signal.getitimer(signal.ITIMER_PROF)[0]:
            for_ever()
        return None
