"""Utterances, one at a time, in a thread of their own: from the server, or from espeak-ng where that is sooner or all
there is.
"""

from __future__ import annotations

import logging
import os
import string
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from typing import Any

from client.answers import NoAnswer, RequestRefused, audio_in
from client.blocking import BlockingClient
from shm.audio import SAMPLE_RATE
from shm.engine_info import VoiceInfo
from supervisor.speechd.at_once import Asked, Espeak, EspeakAudio, Vocabulary, named
from supervisor.speechd.config import ModuleConfig
from supervisor.speechd.document import Mark, SpokenText, Text, marked_up, spelled, words_in
from supervisor.speechd.manner import Manner, VoiceList
from supervisor.speechd.wire import Ended, Playout, Wire, leave

VOICES_AGAIN = 5.0
"""Seconds after which a server that didn't list its voices is asked again: no key typed meanwhile waits for it."""

_LIST_SECONDS = 1.0
_CONNECT_SECONDS = 1.0
"""A blind user who hears nothing can't know why: espeak-ng speaks instead, and soon."""

_SILENT_SECONDS = 4.0
"""Longest wait for the next audio: a worker's restart takes less."""

_WAITING_SECONDS = 1.0
"""Longest wait for a server that serves others first: after it espeak-ng speaks."""

_ALPHABET = string.ascii_lowercase + string.digits
_COMMON = (
    "space,return,tab,backspace,delete,escape,up,down,left,right,home,end,blank,button,link,heading,text,list,menu,"
    "check box,checked,not checked,selected,not selected,expanded,collapsed,pressed,not pressed,dialog"
)
"""Keys, roles and states as English screen readers name them."""

Write = Callable[[str], str]
"""Makes SSML of a stretch of text."""

_log = logging.getLogger(__name__)


class Speaking:
    """Speaks what Speech Dispatcher asks for. Its methods never wait for speech."""

    def __init__(self, wire: Wire, config: ModuleConfig) -> None:
        self._wire = wire
        self._config = config
        agent = {"User-Agent": "kokoro-live-speechd"}
        session = {"X-Session": f"speechd/{os.getpid()}"} | agent
        self._server = BlockingClient(config.url, most=_WAITING_SECONDS, headers=session)
        self._espeak = Espeak()
        self._vocabulary = Vocabulary(BlockingClient(config.url, headers=agent), lambda: self.is_busy)
        self._expected: dict[str, Any] = {}
        """Fields for which letters, digits and common words were asked for last."""
        self._voices: VoiceList | None = None
        self._no_voices_before = 0.0
        """Monotonic seconds until which the server isn't asked for them."""
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._over.set()
        self._is_stopped = False
        """True once the present utterance is to end before its time."""
        self._alone = False
        """True while the server can't be reached: the log says so once."""

    def start(self) -> None:
        self._espeak.start()

    def end_helpers(self) -> None:
        """Stop, and end all helpers."""
        self.stop()
        if self._thread:
            self._thread.join(1.0)
        self._vocabulary.stop_making()
        self._espeak.end_helper()

    @property
    def is_busy(self) -> bool:
        """True while an utterance is under way: its last event hasn't been sent."""
        return not self._over.is_set()

    def voices(self) -> VoiceList:
        """The server's voices, asked for until it answers; Kokoro's own until then."""
        if self._voices is None and time.monotonic() >= self._no_voices_before:
            try:
                listed = self._server.ask("GET", "/v1/audio/voices", seconds=_LIST_SECONDS).checked().json
                voices = [VoiceInfo(each["id"], each["language"], each["gender"]) for each in listed["voices"]]
                self._voices = VoiceList(voices, self._config.voice)
            except (NoAnswer, RequestRefused, LookupError, TypeError) as error:
                self._note_missing(str(error))
                self._no_voices_before = time.monotonic() + VOICES_AGAIN
        return self._voices or VoiceList(preferred=self._config.voice)

    def begin(self, command: str, message: str, manner: Manner) -> None:
        """Begin an utterance. None may be under way.

        Args:
            command: SPEAK (the message is SSML), CHAR, KEY or SOUND_ICON.
        """
        self._is_stopped = False
        self._over.clear()
        self._thread = threading.Thread(target=self._run, args=(command, message, manner), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the present utterance within a block; nothing happens if there is none."""
        if self.is_busy and not self._is_stopped:
            self._is_stopped = True
            self._server.interrupt()

    def _run(self, command: str, message: str, manner: Manner) -> None:
        playout = Playout(self._wire, lambda: self._is_stopped)
        try:
            try:
                self._speak(command, message, manner, playout)
                playout.begin()
            except Ended:
                playout.begin()
            except BrokenPipeError:
                raise
            except Exception:
                _log.exception("an utterance failed")
                playout.begin()
            self._over.set()  # Speech Dispatcher may answer the event before this thread goes on
            self._wire.reply("703 STOP" if self._is_stopped else "702 END")
        except BrokenPipeError:
            leave()

    def _speak(self, command: str, message: str, manner: Manner, playout: Playout) -> None:
        config = self._config
        voices = self.voices()
        voice = voices.chosen(manner)
        language = voices.language(voice) if voice else manner.language
        if command == "CHAR":
            character = " " if message == "space" else message
            document = SpokenText((Text(character),))
            instant = config.instant_characters
        elif command == "SPEAK":
            document = SpokenText.of(message)
            instant = words_in(document.text) <= config.instant_words
        else:
            document = SpokenText((Text(message.replace("_", " ").strip() or message),))
            instant = config.instant_characters or command == "SOUND_ICON"
        named_capital = document.text.isupper() and manner.cap_let_recogn != "none"
        is_sign = command == "CHAR" and (named_capital or not document.text.isalnum())
        signs_apart = manner.punctuation_mode != "none" and not language.startswith("en")
        write = spelled if command == "CHAR" or manner.spelling_mode == "on" else partial(_written, manner, language)
        fields = {"voice": voice} | _fields(manner)
        if voice and instant and not (is_sign or signs_apart) and self._play_kept(document, fields, write, playout):
            return
        if command == "CHAR" and len(document.text) == 1 and (instant or voice is None):
            self._play_pieces(self._espeak.character(document.text, language, manner), playout)
            return
        if voice is None or instant or signs_apart:
            self._by_espeak(document, language, manner, playout)
            return
        try:
            self._by_server(document, fields, write, playout)
            self._alone = False
        except (NoAnswer, RequestRefused) as error:
            if self._is_stopped:
                raise Ended from error
            self._note_missing(str(error))
            playout.another_source()
            self._by_espeak(document.after(playout.reached), language, manner, playout)

    def _play_kept(self, document: SpokenText, fields: dict[str, Any], write: Write, playout: Playout) -> bool:
        """True if the server has made the document's sound before, and it was played."""
        if fields != self._expected:
            self._expected = fields
            common = _COMMON.split(",") if self.voices().language(fields["voice"]).startswith("en") else []
            expected = [*((each, spelled) for each in _ALPHABET), *((each, marked_up) for each in common)]
            self._vocabulary.expect([_asked(SpokenText((Text(text),)), fields, said) for text, said in expected])
        sound = self._vocabulary.get(_asked(document, fields, write))
        if sound is None:
            return False
        playout.audio(sound, SAMPLE_RATE)
        for name in document.marks:
            playout.mark(0, name)
        playout.finish()
        return True

    def _by_server(self, document: SpokenText, fields: dict[str, Any], write: Write, playout: Playout) -> None:
        """Speak a document; where the server refuses it, the client's tags, which may be the reason, are left out.

        Raises:
            NoAnswer, RequestRefused: it wasn't spoken to its end; `Playout.reached` says how far.
        """
        marks = {"timestamps": "word"} if document.marks else {}
        ways = [(True, marks), (False, marks), (False, {})]
        for place, (tags, timestamps) in enumerate(ways, 1):
            asked = fields | timestamps | {"input": document.ssml(write, tags), "markup": "ssml"}
            try:
                self._play_stream(asked, playout)
                break
            except RequestRefused as error:
                if error.code == "unspeakable":  # it is blank
                    break
                if error.passes or place == len(ways) or playout.sounded:
                    raise
        for name in document.marks[playout.reached :]:
            playout.mark(0, name)
        playout.finish()

    def _play_stream(self, asked: dict[str, Any], playout: Playout) -> None:
        answer = self._server.events(
            "POST",
            "/v1/audio/speech",
            {"model": "kokoro", "response_format": "pcm", "stream_format": "sse", "on_busy": "interrupt"} | asked,
            connect=_CONNECT_SECONDS,
            silent=_SILENT_SECONDS,
            is_ended=lambda: self._is_stopped,
        )
        try:
            with closing(answer) as events:
                for event in events:
                    match event:
                        case {"type": "speech.audio.delta"}:
                            playout.audio(audio_in(event), SAMPLE_RATE)
                        case {"type": "speech.audio.marks", "marks": marks}:
                            for mark in marks:
                                playout.mark(round(mark["time"] * SAMPLE_RATE), mark["name"])
                        case {"type": "speech.audio.done"}:
                            break
                        case {"type": "error", "error": {"message": message}}:
                            raise NoAnswer(str(message))
                else:
                    raise NoAnswer("the stream was cut")
        except (ValueError, LookupError, TypeError) as error:
            raise NoAnswer(f"the answer can't be read: {error}") from error
        playout.finish()

    def _by_espeak(self, document: SpokenText, language: str, manner: Manner, playout: Playout) -> None:
        if manner.spelling_mode == "on":
            document = SpokenText(tuple(_apart(part) if isinstance(part, Text) else part for part in document.parts))
        text, marks = document.plain()
        if not text.strip():
            for name in document.marks:
                playout.mark(0, name)
            playout.finish()
            return
        self._play_pieces(self._espeak.text(text, marks, language, manner), playout)

    @staticmethod
    def _play_pieces(pieces: Iterable[EspeakAudio], playout: Playout) -> None:
        for piece in pieces:
            playout.another_source()
            for sample, name in piece.marks:
                playout.mark(sample, name)
            playout.audio(piece.pcm, piece.sample_rate)
            playout.finish()

    def _note_missing(self, reason: str) -> None:
        if not self._alone:
            self._alone = True
            _log.warning("%s doesn't speak (%s): espeak-ng speaks until it does", self._config.url, reason)


def _asked(document: SpokenText, fields: dict[str, Any], write: Write) -> Asked:
    """Fields of the request for a document's sound, whatever its marks."""
    heard = SpokenText(tuple(part for part in document.parts if not isinstance(part, Mark)))
    return (*fields.items(), ("input", heard.ssml(write)))


def _fields(manner: Manner) -> dict[str, Any]:
    return {
        "speed": manner.speed,
        "volume_multiplier": manner.loudness,
        "pitch": manner.semitones,
        "pitch_range": manner.range_factor,
    }


def _written(manner: Manner, language: str, text: str) -> str:
    if language.startswith("en"):
        text = named(text, manner.punctuation_mode, manner.cap_let_recogn != "none")
    return marked_up(text)


def _apart(part: Text) -> Text:
    return Text(" ".join(part.text))
