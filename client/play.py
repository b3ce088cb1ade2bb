"""The server's player: commands, and what is being played as it changes."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import closing
from threading import Thread
from typing import Any
from urllib.parse import quote, urlsplit

from client.answers import CannotSpeak, NoAnswer, RequestRefused
from client.blocking import ACTION_SECONDS, ANSWER_SECONDS, BlockingClient, GrowingInput

_HERE = ("127.0.0.1", "localhost", "::1")

NOTHING = "There is nothing to speak: give a text, a file's name, or - for standard input."

_ALIVE_SECONDS = 20.0
"""Seconds without a piece after which the server is told that the text still goes on."""


class PlayClient:
    """The player of the server at one address.

    Every method but `end` raises `CannotSpeak`: the server doesn't answer, has no player, or refuses.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        """`headers`: that every request has."""
        self._server = BlockingClient(url, headers=headers)

    @property
    def is_here(self) -> bool:
        """True if the server's loudspeakers are this machine's."""
        return urlsplit(self._server.url).hostname in _HERE

    def state(self) -> dict[str, Any]:
        """The state, as `GET /v1/play` gives it."""
        return self._ask("GET", "")

    def play(self, body: dict[str, Any]) -> str:
        """Have a text played; its id. An interruption while the server answers ends the text."""
        answer: Future[dict[str, Any]] = Future()

        def ask() -> None:
            try:
                answer.set_result(self.ask_to_play(body))
            except BaseException as error:
                answer.set_exception(error)

        asking = Thread(target=ask, daemon=True)
        try:
            asking.start()
            return str(answer.result()["id"])
        except KeyboardInterrupt:
            # The server may have taken the text, whose name comes with the answer alone.
            if asking.ident is not None:
                with contextlib.suppress(CannotSpeak, TimeoutError):
                    self.end(answer.result(ANSWER_SECONDS)["id"])
            raise

    def go_on(self, name: str, pieces: Iterable[str], written: int = 0) -> None:
        """Give the rest of a text that was sent with `more`, as it comes; returns once it is whole, or was ended by
        somebody else. Any error ends the text.

        Args:
            written: characters of it that were sent.
        """
        blank = not written
        try:
            text = GrowingInput(pieces, _ALIVE_SECONDS)
            for piece in text:
                self._go_on(name, piece, written, more=True)
                written += len(piece)
                blank = blank and not piece.strip()
            if text.failure:
                raise text.failure
            if blank:
                raise CannotSpeak(NOTHING)
            self._go_on(name, "", written, more=False)
        except BaseException as error:
            if isinstance(error, RequestRefused) and error.status == 404:
                return
            self.end(name)
            raise

    def _go_on(self, name: str, text: str, offset: int, *, more: bool) -> None:
        self._ask("POST", f"/{quote(name)}", {"input": text, "offset": offset, "more": more})

    def ask_to_play(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have a text played; its `id` and its `position_in_queue`, where 0 is played now."""
        return self._ask("POST", "", body)

    def steer(self, verb: str) -> dict[str, Any]:
        """Give a command; the state afterwards."""
        return self._ask("POST", f"/{verb}")

    def end(self, name: str) -> None:
        """End the text of that id, or take it out of the queue; other programs' texts stay. Does nothing if the text
        is over or the server is gone."""
        with contextlib.suppress(CannotSpeak):
            self._ask("DELETE", f"/{quote(name)}")

    def change(self, **changes: float | str) -> dict[str, Any]:
        """Change speed, voice, volume or place; the state afterwards."""
        return self._ask("PATCH", "", changes)

    def follow(self) -> Generator[dict[str, Any], None, None]:
        """The state now, and each change of it; a word is told as a change of `word` and `seconds`."""
        state: dict[str, Any] = {}
        with closing(self._server.events("GET", "/v1/play/events")) as received:
            for told in received:
                state = told if "state" in told else {**state, **told}
                yield state
        raise NoAnswer(f"the server at {self._server.url} was lost")

    def until_heard(self, name: str) -> Generator[dict[str, Any], None, None]:
        """The states until the text of that id has been played, or was ended."""
        was_there = False
        with closing(self.follow()) as states:
            for state in states:
                there = state["id"] == name or any(each["id"] == name for each in state["queue"])
                if was_there and not there:
                    if state["reason"]:
                        raise CannotSpeak(state["reason"])
                    return
                was_there |= there
                if not there and state["state"] == "idle":
                    return  # it was over before its events were read
                yield state

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = self._server.ask(method, f"/v1/play{path}", body, ACTION_SECONDS).checked().json
        return answer
