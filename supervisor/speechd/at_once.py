"""Speech that sounds at once, without waiting for the server.

espeak-ng speaks every language; its library runs in a helper process, because some texts crash it. The vocabulary has
short texts in the server's voice, made while nothing is spoken and kept: letters, digits, and what espeak-ng had to say
before.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import tomllib
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from client.answers import NoAnswer, RequestRefused
from client.blocking import BlockingClient
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from shm.espeak.messages import LIBRARY_RATE, SPEAKING, EspeakRequest, EspeakResult, decode_spoken, encode
from shm.espeak.pieces import pieces
from shm.expendable import Expendable, HelperDied
from shm.expendable_link import HelperError
from supervisor.speechd.manner import Manner

_SIGNS = tomllib.loads(Path(__file__).with_name("signs.toml").read_text("utf-8"))
NAMES: dict[str, str] = _SIGNS["names"]
LEVELS: dict[str, str] = {"none": "", **_SIGNS["levels"], "all": "".join(NAMES)}
"""Characters that are named at each of Speech Dispatcher's levels."""

_STOPS = frozenset(".!?…,;:")
"""Signs that stay after their names, because they also are pauses or melody."""

_CAPITAL = re.compile(r"(?<!\w)(?=[A-Z])")


def named(text: str, level: str, capitals: bool = False) -> str:
    """The text with the names of the level's signs.

    Args:
        level: a key of `LEVELS`.
        capitals: announce words that begin with a capital.
    """
    if capitals:
        text = _CAPITAL.sub("capital ", text)
    signs = LEVELS[level]
    if not signs:
        return text

    def name(sign: re.Match[str]) -> str:
        ends = sign.end() == len(text) or text[sign.end()].isspace()
        return f" {NAMES[sign[0]]}{sign[0] if sign[0] in _STOPS and ends else ' '}"

    return re.sub(f"[{re.escape(signs)}]", name, text)


_LONGEST = 10.0
"""Seconds for one piece; it takes a few milliseconds."""

_PIECE = 200
"""Characters of a piece, about: a long text begins to sound before all of it is made."""

_FALLBACK_VOICE = "en-us"


@dataclass(frozen=True, slots=True)
class EspeakAudio:
    pcm: bytes
    """int16, little-endian, mono."""
    marks: list[tuple[int, str]]
    """Names of the marks with the samples at which they are reached."""
    sample_rate: int = LIBRARY_RATE


class Espeak:
    """Speaks texts. One thread at a time."""

    def __init__(self) -> None:
        self._helper = Expendable(SPEAKING, "kokoro-live: speech-dispatcher's espeak-ng", _LONGEST)

    def start(self) -> None:
        """Load the library ahead of the first text."""
        self._helper.start()

    def end_helper(self) -> None:
        self._helper.end_helper()

    def character(self, character: str, language: str, manner: Manner) -> Iterator[EspeakAudio]:
        speech = self._speech([character], language, manner)
        speech.character, speech.punctuation = True, None
        if (said := self._said(speech)) is not None:
            yield EspeakAudio(said.samples, [])

    def text(self, text: str, marks: list[tuple[int, str]], language: str, manner: Manner) -> Iterator[EspeakAudio]:
        """A text, sentence by sentence.

        Args:
            marks: names with the number of characters before them, in rising order.
            language: a language tag.
        """
        marks = list(marks)
        start = 0
        for part in _sentences(text):
            end = start + len(part)
            last = end == len(text)
            own = [(at - start, name) for at, name in marks if at < end or last]
            del marks[: len(own)]
            yield self._piece(part, own, self._speech([], language, manner, end_pause=not last))
            start = end

    def _piece(self, text: str, marks: list[tuple[int, str]], speech: EspeakRequest) -> EspeakAudio:
        cut = pieces(text)
        speech.texts = [piece.text for piece in cut]
        said = self._said(speech)
        if said is None:
            return EspeakAudio(b"", [(0, name) for _, name in marks])
        begun = [
            (cut[of].places[place], sample)
            for of, place, sample in said.words
            if of < len(cut) and 0 <= place < len(cut[of].places)
        ]
        length = len(said.samples) // SAMPLE_BYTES
        placed: list[tuple[int, str]] = []
        for at, name in marks:
            sample = next((sample for place, sample in begun if place >= at), length)
            placed.append((max(sample, placed[-1][0] if placed else 0), name))
        return EspeakAudio(said.samples, placed)

    @staticmethod
    def _speech(texts: list[str], language: str, manner: Manner, *, end_pause: bool = False) -> EspeakRequest:
        return EspeakRequest(
            texts,
            _voice(language, manner),
            manner.words_per_minute,
            manner.espeak_pitch,
            end_pause=end_pause,
            seed=0,
            volume=round(100 * manner.loudness),
            punctuation=_punctuation(manner),
            capitals=manner.cap_let_recogn != "none",
        )

    def _said(self, speech: EspeakRequest) -> EspeakResult | None:
        """The helper's answer; None if the text crashes the library. A language that it lacks is read as English."""
        try:
            return decode_spoken(self._helper.ask(encode(speech)))
        except HelperDied:
            return None
        except HelperError:
            if speech.voice.startswith(_FALLBACK_VOICE):
                return None
            speech.voice = _FALLBACK_VOICE
            return self._said(speech)


def _voice(language: str, manner: Manner) -> str:
    name = {"en-us": "en-us", "en-gb": "en", "pt-br": "pt-br", "zh": "cmn"}.get(language.lower())
    name = name or language.lower().partition("-")[0]
    return f"{name}+{'f2' if 'female' in manner.voice_type or manner.voice[1:2] == 'f' else 'm3'}"


def _punctuation(manner: Manner) -> str | None:
    """`EspeakRequest.punctuation` for a level: espeak-ng knows all signs by itself, and a list."""
    if manner.punctuation_mode == "all":
        return ""
    return LEVELS[manner.punctuation_mode] or None


def _sentences(text: str) -> Iterator[str]:
    """Parts of a text that end after a sentence or a clause, each of at least `_PIECE` characters but for the last."""
    start = 0
    for place in range(1, len(text)):
        if (
            text[place].isspace()
            and text[place - 1] in ".!?;:…。！？"
            and place - start >= (1 if not start else _PIECE)
        ):
            yield text[start:place]
            start = place
    yield text[start:]


QUIET_SECONDS = 1.0
"""Seconds without an utterance after which the next sound is made."""

_AGAIN_SECONDS = 5.0
"""Pause after a server that serves others has made none."""

_MOST = 300
"""Sounds kept; those that weren't heard for the longest time go first. Half a second each is 7 MB in all."""

_HEARD = 100
"""Amplitude from which a sample is part of the sound; what is before it is left out."""

_TAIL = SAMPLE_RATE // 20
"""Samples kept after the last of them."""

_log = logging.getLogger(__name__)

Asked = tuple[tuple[str, Any], ...]
"""Fields of the request for a sound, in order."""


class Vocabulary:
    """Sounds by what is asked of the server for them."""

    def __init__(self, server: BlockingClient, is_busy: Callable[[], bool]) -> None:
        """`is_busy`: True while an utterance is under way."""
        self._server = server
        self._is_busy = is_busy
        self._sounds: OrderedDict[Asked, bytes] = OrderedDict()
        self._wanted: OrderedDict[Asked, None] = OrderedDict()
        """Sounds to make, the next one last."""
        self._changed = threading.Condition()
        self._touched = time.monotonic()
        self._closed = False
        threading.Thread(target=self._run, daemon=True).start()

    def get(self, asked: Asked) -> bytes | None:
        """The sound; None if it isn't there, and then it is made before others."""
        with self._changed:
            self._touched = time.monotonic()
            self._changed.notify()
            sound = self._sounds.get(asked)
            if sound:
                self._sounds.move_to_end(asked)
            else:
                self._want(asked)
            return sound

    def expect(self, all_asked: Sequence[Asked]) -> None:
        """Have sounds made that are likely to be asked for, the first ones first, and all before earlier ones."""
        with self._changed:
            for asked in reversed(all_asked):
                if asked not in self._sounds:
                    self._want(asked)

    def stop_making(self) -> None:
        """Make no more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._server.interrupt()

    def _want(self, asked: Asked) -> None:
        self._wanted[asked] = None
        self._wanted.move_to_end(asked)
        while len(self._wanted) > _MOST:
            self._wanted.popitem(last=False)
        self._changed.notify()

    def _run(self) -> None:
        while asked := self._next():
            touched = self._touched
            try:
                self._keep(asked, self._made(dict(asked)))
            except NoAnswer:
                self._wait(asked, partial(self._spoken_since, touched))
            except RequestRefused as error:
                if error.passes:
                    self._wait(asked, lambda: False, _AGAIN_SECONDS)
                else:
                    _log.info("no sound is made: %s", error)

    def _spoken_since(self, touched: float) -> bool:
        return self._touched != touched

    def _keep(self, asked: Asked, sound: bytes) -> None:
        with self._changed:
            self._sounds[asked] = sound
            while len(self._sounds) > _MOST:
                self._sounds.popitem(last=False)

    def _wait(self, asked: Asked, over: Callable[[], bool], seconds: float | None = None) -> None:
        """Want a sound again that wasn't made, and wait."""
        with self._changed:
            self._wanted.setdefault(asked)
            self._changed.wait_for(lambda: self._closed or over(), seconds)

    def _next(self) -> Asked | None:
        """Wait until a sound is wanted and nothing has been spoken for a while; None once closed."""
        with self._changed:
            while not self._closed:
                quiet = time.monotonic() - self._touched
                if not self._wanted:
                    self._changed.wait()
                elif self._is_busy() or quiet < QUIET_SECONDS:
                    self._changed.wait(max(QUIET_SECONDS - quiet, QUIET_SECONDS / 4))
                else:
                    return self._wanted.popitem()[0]
        return None

    def _made(self, asked: dict[str, Any]) -> bytes:
        body = {"model": "kokoro", "response_format": "pcm", "stream": False, "priority": "idle", "markup": "ssml"}
        return _without_silence(self._server.whole("/v1/audio/speech", body | asked))


def _without_silence(pcm: bytes) -> bytes:
    """Samples (int16) from the first that is heard to a little after the last; all of them if none is."""
    samples = array("h", pcm)
    heard = [place for place, sample in enumerate(samples) if abs(sample) >= _HEARD]
    return samples[heard[0] : heard[-1] + _TAIL].tobytes() if heard else pcm
