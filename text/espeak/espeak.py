"""Client of espeak-ng's text-to-phoneme function: text in, IPA out, through a helper process that some texts crash.

espeak-ng 1.52 segfaults on some words (in its voice `hi`: a letter without a name, a Latin letter and another letter
without a name). Such a word ends the helper process, gets no phonemes, and is remembered; `shm.expendable` starts a new
helper.
"""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from shm.espeak.messages import PRONOUNCING, PhonemesRequest
from shm.expendable import Expendable, HelperDied, NoHelper
from shm.expendable_child import forked
from shm.expendable_link import HelperError
from text.words.punctuation import kind

_log = logging.getLogger(__name__)

MAX_WORD = 40
"""Most characters of one word. espeak-ng drops the rest of a word after about 160 bytes of UTF-8, and a character takes
up to four.
"""

TIE = "^"
"""Tie character that joins the characters of one phoneme, as misaki's tables expect it."""

# espeak-ng writes "(fr)" and the like where it changes its voice within a text; phonemes have no parentheses.
_LANGUAGE_FLAG = re.compile(r"\([^()]*\)")
# Rows of hyphens, and hyphens at a word's edge, crash espeak-ng 1.52 (measured: "-----" before Devanagari); brackets
# have no sound.
_UNSENDABLE = re.compile(r"[{}\[\]_]+|-{2,}|(?<![^\W_])-|-(?![^\W_])")
_REPEATED = re.compile(r"([^\w\s])\1+")

_MAX_CALL = 100
"""Most characters in one call of the library: espeak-ng's clause buffers overflow on some texts of 160 characters and
more (found with random texts).
"""

_MAX_WORDS_CALL = 500
"""Most bytes in one call for texts of letters only, which give at most one phoneme a byte. espeak-ng takes 800 bytes
and 1,000 phonemes.
"""

_ONLY_WORDS = re.compile(r"(?>(?:[^\W\d_]++(?>(?:['’-][^\W\d_]++)*)'?(?: |\Z))*)")

_REMEMBERED = 4096
"""Most texts whose phonemes are cached; a request to the helper process takes far longer than a look-up."""

_TITLE = "kokoro-live: g2p"
_helper = Expendable(PRONOUNCING, _TITLE)
_memory: OrderedDict[tuple[str, str], str] = OrderedDict()
_lock = threading.Lock()
_unavailable: list[str] = []
"""Errors of espeak-ng that are logged already; each is logged once."""


class EspeakUnavailable(Exception):
    """espeak-ng's library can't be loaded, or has no such voice."""


def start(restarted: Callable[[], None] | None = None) -> None:
    """Start the helper process without waiting for it; otherwise the first text starts it.

    Args:
        restarted: callback that runs after each death of the helper process.
    """
    if restarted is not None:
        _helper.restarted = restarted
    _helper.start()


def fork() -> None:
    """Make the helper process a fork of this one, as `Expendable.fork`. `start` follows."""
    _helper.fork(forked)


def stop() -> None:
    """End the helper process, and this process's thread for it; the next text starts another."""
    global _helper
    _helper.end_helper()
    _helper = Expendable(PRONOUNCING, _TITLE)


def helper_pids() -> tuple[int, ...]:
    return _helper.pids


def version() -> str:
    """espeak-ng's version.

    Raises:
        EspeakUnavailable: the library can't be loaded.
    """
    try:
        return _asked("", [])[0]
    except HelperDied as error:
        raise EspeakUnavailable(str(error)) from error


def phonemes(text: str, voice: str) -> str:
    """IPA words with spaces between them, stress marked, characters of one phoneme tied with `TIE`.

    The result is empty if espeak-ng has no sound for the text, or crashes on it. Punctuation splits clauses and is
    dropped.

    Args:
        text: any text; words over `MAX_WORD` characters may lose their ends.
        voice: one of `LANGUAGE_FILES`' values, or another of espeak-ng's voice files.

    Raises:
        EspeakUnavailable: the library can't be loaded, or has no such voice.
    """
    return phonemes_of([text], voice)[0]


def phonemes_of(texts: Sequence[str], voice: str) -> list[str]:
    """Phonemes of each text (as `phonemes` gives them), in one request to the helper process.

    Raises:
        EspeakUnavailable: the library can't be loaded, or has no such voice.
    """
    pieces = [list(_pieces(text)) for text in texts]
    unknown = [piece for of_text in pieces for piece in of_text if (voice, piece) not in _memory]
    found: dict[str, str] = {}
    if unknown:
        try:
            found = dict(zip(unknown, _asked(voice, unknown), strict=True))
        except HelperDied as death:
            found = _apart(unknown, voice, death)
    return [_plain(" ".join(_remembered(voice, piece, found) for piece in of_text)) for of_text in pieces]


def _remembered(voice: str, piece: str, found: dict[str, str]) -> str:
    with _lock:
        if piece in found:
            _memory[voice, piece] = found[piece]
            while len(_memory) > _REMEMBERED:
                _memory.popitem(last=False)
            return found[piece]
        if (known := _memory.get((voice, piece))) is not None:
            _memory.move_to_end((voice, piece))
            return known
    # Another thread has evicted the piece since `phonemes_of` looked it up.
    return phonemes(piece, voice)


def _apart(pieces: Sequence[str], voice: str, death: HelperDied) -> dict[str, str]:
    """Retries texts that crashed the helper together: each text alone, then word by word. A word that crashes it is
    silent.
    """
    if len(pieces) == 1 and " " not in pieces[0]:
        _log.warning("espeak-ng can't pronounce a word of %d characters: %s", len(pieces[0]), death)
        return {pieces[0]: ""}
    alone = pieces if len(pieces) > 1 else pieces[0].split()
    found: dict[str, str] = {}
    for text in alone:
        try:
            found[text] = _memory[voice, text] if (voice, text) in _memory else _asked(voice, [text])[0]
        except HelperDied as its_own:
            found |= _apart([text], voice, its_own)
            _memory[voice, text] = found[text]
    return found if len(pieces) > 1 else {pieces[0]: " ".join(filter(None, map(found.__getitem__, alone)))}


def _asked(voice: str, texts: list[str]) -> list[str]:
    try:
        answer = _helper.ask(msgspec.json.encode(PhonemesRequest(voice, texts)))
    except (HelperError, NoHelper) as error:
        from shm.espeak.installation import cure  # loads espeak-ng's packages

        # A broken library may crash each helper before it can tell.
        reason = f"{error}; {cure()}" if isinstance(error, NoHelper) else str(error)
        if reason not in _unavailable:
            _unavailable.append(reason)
            _log.error("no pronunciation by espeak-ng: %s", reason)
        raise EspeakUnavailable(reason) from error
    found: list[str] = msgspec.json.decode(answer)
    return found


def _plain(ipa: str) -> str:
    joined = _LANGUAGE_FLAG.sub("", ipa.replace("\u0361", TIE))
    return " ".join(joined.replace("_", "").split())


def _sendable(text: str) -> str:
    """The text without characters that have no sound and shape none.

    espeak-ng crashes on some of these characters (the name of a braille pattern in Arabic), ends the text at one (NUL),
    and takes others for commands.
    """
    heard = "".join(" " if kind(character) == "x" else character for character in text)
    return " ".join(_REPEATED.sub(r"\1", _UNSENDABLE.sub(" ", heard)).split())


def _pieces(text: str) -> Iterator[str]:
    """Pieces of the text of at most `_MAX_CALL` characters, words over `MAX_WORD` split; a text of letters only may be
    one piece of `_MAX_WORDS_CALL` bytes.
    """
    text = unicodedata.normalize("NFKC", text)
    if not (plain := _ONLY_WORDS.fullmatch(text)):
        text = _sendable(text)
        plain = _ONLY_WORDS.fullmatch(text)
    words = text.split()
    if plain and len(text.encode()) <= _MAX_WORDS_CALL and all(len(word) <= MAX_WORD for word in words):
        if words:
            yield " ".join(words)
        return
    piece: list[str] = []
    length = 0
    for word in words:
        for start in range(0, len(word), MAX_WORD):
            part = word[start : start + MAX_WORD]
            if length + len(part) + 1 > _MAX_CALL:
                yield " ".join(piece)
                piece, length = [], 0
            piece.append(part)
            length += len(part) + 1
    if piece:
        yield " ".join(piece)
