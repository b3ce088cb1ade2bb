"""A listener in a thread of its own, to whom things happen meanwhile."""

import contextlib
import http.client
import threading

import numpy as np

from tests.system.oracle import samples_of, sentences
from tests.system.server import DEADLINE, Server

LONG = sentences(24)
"""3.3 MB of samples, 69 s. A ring of 20 s and the system's buffers hold less than half of it, so a listener who doesn't
read leaves something to be made."""


class Listener:
    """Reads a stream to its end; made when its first samples are there."""

    def __init__(self, to: Server, text: str, held: bool = False) -> None:
        """`held`: it doesn't read on until it is asked what it has heard: a stream of `LONG` isn't over before that."""
        self._text = text
        self._reads_on = threading.Event()
        if not held:
            self._reads_on.set()
        self._began = threading.Event()
        self._heard: list[bytes] = []
        self._cut: Exception | None = None
        self._thread = threading.Thread(target=self._read, args=(to,))
        self._thread.start()
        assert self._began.wait(DEADLINE)

    def _read(self, to: Server) -> None:
        try:
            with contextlib.closing(to.connect()) as connection:
                response = connection.speak({"input": self._text, "response_format": "pcm"})
                self._heard.append(response.read(4800))
                self._began.set()
                self._reads_on.wait(DEADLINE)
                self._heard.append(response.read())
        except (OSError, http.client.HTTPException) as error:
            self._cut = error

    def heard_all(self) -> bool:
        """Every sample, in order, and a clean end."""
        self._reads_on.set()
        self._thread.join(DEADLINE)
        got = np.frombuffer(b"".join(self._heard), "<i2")
        return self._cut is None and bool(np.array_equal(got, samples_of(self._text)))

    def was_cut(self) -> bool:
        """Visibly, not as if that had been all."""
        self._reads_on.set()
        self._thread.join(DEADLINE)
        return isinstance(self._cut, ConnectionError | http.client.IncompleteRead)
