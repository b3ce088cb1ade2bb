"""Short texts in the server's voice, made while nothing is spoken and kept, so that they sound at once: letters,
digits, and what espeak-ng had to say before.
"""

from __future__ import annotations

import logging
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from client.answers import NoAnswer, RequestRefused
from client.blocking import BlockingClient
from shm.audio import SAMPLE_RATE

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
                self._want(asked, last=True)
            return sound

    def expect(self, all_asked: Iterable[Asked]) -> None:
        """Have sounds made that are likely to be asked for, the first ones first."""
        with self._changed:
            for asked in all_asked:
                if asked not in self._sounds and asked not in self._wanted:
                    self._want(asked, last=False)

    def close(self) -> None:
        """Make no more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._server.interrupt()

    def _want(self, asked: Asked, *, last: bool) -> None:
        self._wanted[asked] = None
        self._wanted.move_to_end(asked, last)
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
