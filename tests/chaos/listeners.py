"""Listeners of a server that is being killed: what each asked, what it heard, when, and how it ended."""

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tests.system.oracle import samples_of
from tests.system.server import DEADLINE, Server

Ending = Literal["clean", "cut", "refused", "answered", "unfinished"]
"""A stream's end. clean: an orderly end after a 200. cut: visibly broken off. refused: no connection. answered: another
status."""

DECLINED = 429

SENTENCES = [f"Here is {thing} number {n}." for n in range(1, 31) for thing in ("a cat", "the river")]
_EXPECTED: dict[str, bytes] = {}
_pronouncing = threading.Lock()


def some_text(rng: random.Random, longest: int = 8, least: int = 2) -> str:
    """A few sentences, out of so many that two streams seldom have the same."""
    return " ".join(rng.sample(SENTENCES, rng.randint(least, longest)))


def expected_bytes(text: str) -> bytes:
    with _pronouncing:  # the front, too, reads texts in one thread
        if text not in _EXPECTED:
            _EXPECTED[text] = samples_of(text).astype("<i2").tobytes()
        return _EXPECTED[text]


@dataclass
class Heard:
    """One request's history. Times are monotonic seconds."""

    listener: int
    text: str
    started: float
    pieces: list[tuple[float, int]] = field(default_factory=list)
    """Times of arrival, each with the number of bytes."""
    heard: int = 0
    """Bytes."""
    wrong_at: int | None = None
    """The first byte that isn't the one that belongs there."""
    ending: Ending = "unfinished"
    detail: str = ""
    ended: float = 0.0
    declined: int = 0
    """Number of 429 answers before the server spoke, which a busy machine may give."""

    @property
    def complete(self) -> bool:
        return self.ending == "clean" and self.wrong_at is None and self.heard == len(expected_bytes(self.text))

    @property
    def visibly_cut(self) -> bool:
        """Nothing wrong was heard, and whoever heard it knows that it isn't all."""
        return self.ending == "cut" and self.wrong_at is None and self.heard <= len(expected_bytes(self.text))

    def take(self, data: bytes) -> None:
        due = expected_bytes(self.text)[self.heard : self.heard + len(data)]
        if data != due and self.wrong_at is None:
            pairs = zip(data, due, strict=False)
            self.wrong_at = self.heard + next((at for at, (a, b) in enumerate(pairs) if a != b), len(due))
        self.heard += len(data)
        self.pieces.append((time.monotonic(), len(data)))


def listen(to: Server, heard: Heard) -> Heard:
    """Ask for the text and hear it out, whatever happens; a listener who is told to come again later does."""
    connection = http.client.HTTPConnection("127.0.0.1", to.port, timeout=DEADLINE)
    try:
        body = json.dumps({"input": heard.text, "response_format": "pcm"})
        connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        while response.status == DECLINED and time.monotonic() < heard.started + DEADLINE:
            heard.declined += 1
            response.read()
            time.sleep(float(response.headers["Retry-After"]))
            connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
        if response.status != 200:
            heard.ending, heard.detail = "answered", f"{response.status} {response.read()!r}"
            return heard
        while data := response.read1(1 << 16):
            heard.take(data)
        heard.ending = "clean"
    except ConnectionRefusedError as error:
        heard.ending, heard.detail = "refused", repr(error)
    except (http.client.IncompleteRead, http.client.BadStatusLine, ConnectionError) as error:
        heard.ending, heard.detail = "cut", repr(error)
    except Exception as error:
        heard.detail = repr(error)  # a timeout, say: nobody told this listener anything
    finally:
        heard.ended = time.monotonic()
        connection.close()
    return heard


class Crowd:
    """Listeners that ask again and again, each in a thread of its own, until told to stop."""

    def __init__(self, to: Server, count: int, seed: int, longest: int = 8, texts: int = 0) -> None:
        """`texts`: how many each listener has, from which it chooses; 0: a new one for each request.

        Foretelling a text takes 9 ms of a core, so listeners with always new texts are slower than the server.
        """
        self.heard: list[Heard] = []
        """Every request so far, also those under way."""
        self._latest: dict[int, Heard] = {}
        self._last_heard: dict[int, float] = {}
        self.to = to
        self._longest = longest
        self._texts = texts
        self._changed = threading.Condition()
        self.going = True
        """Until it is dismissed, or somebody has heard what nobody should."""
        self._threads = [
            threading.Thread(target=self._listen, args=(number, random.Random(f"{seed} {number}")))
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, number: int, rng: random.Random) -> None:
        texts = [some_text(rng, self._longest) for _ in range(self._texts)]
        while self.going:
            text = rng.choice(texts) if texts else some_text(rng, self._longest)
            expected_bytes(text)
            heard = _Announced(number, text, time.monotonic(), crowd=self)
            with self._changed:
                self.heard.append(heard)
                self._latest[number] = heard
            listen(self.to, heard)
            if heard.wrong_at is not None or heard.ending not in ("clean", "cut"):
                self.dismiss()  # enough was seen
            self.notice()

    def notice(self, listener: int | None = None) -> None:
        """A history has grown; that listener has just heard something."""
        with self._changed:
            if listener is not None:
                self._last_heard[listener] = time.monotonic()
            self._changed.notify_all()

    def wait_for(self, state: Callable[[], bool]) -> bool:
        """Wait for something that a growing history brings about, or for the crowd's end; false if neither comes."""
        with self._changed:
            return self._changed.wait_for(lambda: state() or not self.going, DEADLINE)

    def wait_until_each_hears(self, since: float = 0.0) -> bool:
        """Wait until every listener has heard something after that moment (monotonic seconds), in whichever request.

        Requests of a swift server last 0.1 s, so at no moment need all of them have begun to sound.
        """
        listeners = range(len(self._threads))
        return self.wait_for(lambda: all(self._last_heard.get(number, -1.0) > since for number in listeners))

    def latest(self) -> list[Heard]:
        return list(self._latest.values())

    def dismiss(self) -> None:
        """Let nobody ask again."""
        self.going = False

    def leave(self) -> list[Heard]:
        """Hear out what is under way and ask no more; every history."""
        self.dismiss()
        for thread in self._threads:
            thread.join(2 * DEADLINE)
        return self.heard


@dataclass
class _Announced(Heard):
    """A history that tells its crowd when it grows."""

    crowd: Crowd = field(kw_only=True, repr=False)

    def take(self, data: bytes) -> None:
        super().take(data)
        self.crowd.notice(self.listener)
