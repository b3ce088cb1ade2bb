"""The states that a player tells while it plays, each with its sample of a recording."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

from shm.audio import SAMPLE_RATE
from tests.system.server import Server

SLACK = SAMPLE_RATE
"""Samples by which a state may be told before or after it is heard: the sound card's buffer and a busy machine."""


class PlayerStates:
    """Follows `GET /v1/play/events` in a thread until it is closed."""

    def __init__(self, speaking: Server, clock: Callable[[], int]) -> None:
        """`clock`: the number of samples that were recorded so far."""
        self.reasons: list[str] = []
        """Reasons that the player gave for silence, each once."""
        self._clock = clock
        self._told = threading.Condition()
        self._states: list[tuple[int, dict[str, Any]]] = []
        connection = speaking.connect()
        connection.request("GET", "/v1/play/events")
        self._socket = connection.sock
        self._response = connection.getresponse()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while line := self._response.readline():
            if line.startswith(b'data: {"state"'):
                self._note(json.loads(line[6:]))

    def _note(self, state: dict[str, Any]) -> None:
        with self._told:
            self._states.append((self._clock(), state))
            if state["reason"] and state["reason"] not in self.reasons:
                self.reasons.append(state["reason"])
            self._told.notify_all()

    def ended(self, name: str, timeout: float) -> bool:
        """Wait until the text of that id has been played; False if it hasn't within `timeout` seconds."""

        def over() -> bool:
            ids = [state["id"] for _, state in self._states]
            return name in ids and ids[-1] != name

        with self._told:
            return self._told.wait_for(over, timeout)

    def buffering(self, start: int, end: int) -> bool:
        """True if the player waited for audio at some time between these two samples of the recording."""
        with self._told:
            begins = [at for at, _ in self._states]
            states = [state["state"] for _, state in self._states]
        return any(
            state == "buffering" and at - SLACK < end and start < until + SLACK
            for at, until, state in zip(begins, [*begins[1:], end], states, strict=True)
        )

    def close(self) -> None:
        """End the connection and the thread."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._response.close()
