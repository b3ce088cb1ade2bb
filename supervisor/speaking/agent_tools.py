"""The tools of `kokoro-live mcp`: a language model's agent speaks through a running server, and its player."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from client.answers import CannotSpeak
from client.blocking import BlockingClient
from client.play import PlayClient
from frontend.audio.formats import BY_EXTENSION
from kokoro_live.installation import NAME
from shm.audio import FASTEST, SAMPLE_BYTES, SAMPLE_RATE, SLOWEST
from supervisor.speaking.sinks import sink_for

INSTRUCTIONS = (
    "Speech on the user's own loudspeakers. `speak` returns at once, and the text waits for all texts before it, so "
    "never wait for one to end before you queue the next. `stop` ends what you have queued."
)

_REMEMBERED = 1100
"""Texts that may still wait: the player takes 1,000. An agent's program may run for weeks."""

Text = Annotated[str, Field(description="The text to speak. Markdown is read as prose.")]
Voice = Annotated[
    str | None,
    Field(description="A voice of `list_voices`, or a blend such as af_heart(2)+af_bella; null: the server's default."),
]
Speed = Annotated[
    float | None,
    Field(ge=SLOWEST, le=FASTEST, description="The pace; 1 is the voice's own, null: the server's default."),
]
WhenBusy = Annotated[
    Literal["queue", "next", "interrupt"],
    Field(
        description="If another text is being played: after all others, right after that one, or in its place. "
        "Interrupt only if the user asks for it."
    ),
]


class AgentTools:
    """The tools over the server at one address. They block, so each call runs in a thread."""

    def __init__(self, url: str) -> None:
        program = {"User-Agent": f"{NAME}-mcp"}
        self._server = BlockingClient(url, headers=program)
        self._player = PlayClient(url, program)
        self._queued: deque[str] = deque(maxlen=_REMEMBERED)
        """The latest texts that were queued here, the oldest first."""

    def server(self) -> MCPServer:
        made = MCPServer(NAME, instructions=INSTRUCTIONS, version=version(NAME), log_level="WARNING")
        looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        acts = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
        for tool, hints in (
            (self.speak, acts),
            (self.stop, acts),
            (self.status, looks),
            (self.list_voices, looks),
            (self.render, acts),
        ):
            made.tool(annotations=hints)(tool)

        @made.resource(f"{NAME}://voices", mime_type="application/json")
        def voices() -> list[dict[str, Any]]:
            """The voices that can speak, each with its language and gender."""
            return self.list_voices()

        made.resource(f"{NAME}://status", mime_type="application/json")(self.status)
        return made

    def speak(
        self, text: Text, voice: Voice = None, speed: Speed = None, on_busy: WhenBusy = "queue"
    ) -> dict[str, Any]:
        """Say a text aloud on the server's machine. Returns at once with the text's id and its place in the queue; 0 is
        spoken now."""
        body = {"input": text, "voice": voice, "speed": speed, "on_busy": on_busy, "source": "mcp"}
        with _explained():
            answer = self._player.ask_to_play(body)
        self._queued.append(answer["id"])
        return answer

    def stop(
        self,
        everything: Annotated[
            bool, Field(description="End the texts of other programs too, and empty the queue.")
        ] = False,
    ) -> dict[str, Any]:
        """End the speech of this agent, the text being spoken and all that wait; texts of others go on. Returns the
        player's state."""
        with _explained():
            if everything:
                self._queued.clear()
                return _state(self._player.steer("stop"))
            state = self._player.state()
            there = {state["id"], *(each["id"] for each in state["queue"])}
            # The last first: the text that is being spoken would otherwise give way to the next one for a moment.
            for name in reversed(self._queued):
                if name in there:
                    self._player.end(name)
            self._queued.clear()
            return _state(self._player.state())

    def status(self) -> dict[str, Any]:
        """The server's state: its engine, if it can speak, and the texts that are played and wait."""
        with _explained():
            answer = self._server.get("/status")
            engine = answer.get("engine") or {}
            found = {"server": self._server.url, "ready": answer.get("ready"), "engine": engine.get("name")}
            if answer.get("reason"):
                found["reason"] = answer["reason"]
            try:
                found["player"] = _state(self._player.state())
            except CannotSpeak as error:
                found["player"] = {"state": "missing", "reason": str(error)}
            return found

    def list_voices(
        self, language: Annotated[str | None, Field(description="Only voices of this language: en-gb, es, ja.")] = None
    ) -> list[dict[str, Any]]:
        """The voices that can speak, each with its language and gender."""
        with _explained():
            listed = self._server.get("/v1/audio/voices")["voices"]
        wanted = (language or "").lower().replace("_", "-")
        return [
            {name: voice.get(name) for name in ("id", "language", "gender")}
            for voice in listed
            if str(voice.get("language", "")).startswith(wanted)
        ]

    def render(
        self,
        text: Text,
        path: Annotated[str, Field(description=f"The file, absolute or from ~: {', '.join(BY_EXTENSION)}.")],
        voice: Voice = None,
        speed: Speed = None,
        overwrite: Annotated[bool, Field(description="Replace a file that is there already.")] = False,
    ) -> dict[str, Any]:
        """Write a text's speech into an audio file, and play nothing. Returns the path and the seconds of audio, once
        the whole file is written."""
        with _explained():
            file = Path(path).expanduser()
            if not file.is_absolute():
                raise CannotSpeak(f"{path}: give an absolute path, or one from ~.")
            if file.exists() and not overwrite:
                raise CannotSpeak(f"{file} is there already; `overwrite` replaces it.")
            sink = sink_for(str(file))
            body = {"model": "kokoro", "input": text, "voice": voice, "speed": speed, "priority": "file"}
            samples = 0
            with contextlib.closing(self._server.speak(body)) as pieces:
                # No file is begun for a text that is rejected.
                first = next(pieces, None)
                if first is None:
                    raise CannotSpeak("There is nothing in the text that can be spoken.")
                with sink as write:
                    for piece in chain([first], pieces):
                        write(piece.pcm)
                        samples += len(piece.pcm) // SAMPLE_BYTES
        return {"path": str(file), "seconds": round(samples / SAMPLE_RATE, 2)}


def _state(state: dict[str, Any]) -> dict[str, Any]:
    """The parts of the player's state that an agent can use."""
    kept = {name: state.get(name) for name in ("state", "id", "title", "source", "reason") if state.get(name)}
    return kept | {"waiting": len(state.get("queue", ()))}


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Give the model the reason of a failure that is the server's or the text's."""
    try:
        yield
    except CannotSpeak as error:
        raise ToolError(str(error)) from error
