"""A client of a running server. aiohttp is imported at first use, because its import is slow
(`python -m benchmarks.late_loading`)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from shm.no_answer import reason_of
from supervisor.client.spoken import CannotSpeak, SpokenPiece

ANSWER_SECONDS = 2.0
"""Seconds to wait for a short answer: longer than `/health` takes, and enough for a front that is restarted."""

CONNECT_SECONDS = 10.0

ACTION_SECONDS = 40.0
"""Seconds to wait for the player's answer, which may have to start a process and open a device first."""

KEY_VARIABLE = "KOKORO_LIVE_API_KEY"
"""The variable with the server's key. There is no option: every user of a machine can read its command lines."""

Result = TypeVar("Result")


class NoAnswer(Exception):
    """The address doesn't answer in HTTP, or not in time."""


def address(host: str, port: int) -> str:
    """The URL by which this machine reaches a server that listens at this address."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def is_kokoro_live(url: str) -> bool:
    """True if a kokoro-live listens there, able to speak or not."""
    try:
        status, headers, _ = _get(url, "/health")
    except NoAnswer:
        return False
    return status == 200 and headers.get("Server") == "kokoro-live"


def get_json(url: str, path: str) -> tuple[int, Any]:
    """Status and body of a short answer; None for a body that isn't JSON.

    Raises:
        NoAnswer: there is none.
    """
    status, _, body = _get(url, path)
    return status, _json(body)


def ask_json(url: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Status and body of the answer to a request with a JSON body; None for a body that isn't JSON.

    Raises:
        NoAnswer: there is none.
    """
    status, _, answer = _request(url, method, path, body, ACTION_SECONDS)
    return status, _json(answer)


def lines(url: str, path: str) -> Generator[str, None, None]:
    """The lines of an answer that comes while things happen, until it ends.

    Raises:
        CannotSpeak: the server can't be reached, refuses, or is lost.
    """
    with _event_loop() as run:
        received = _lines(url, path)

        async def following() -> str | None:
            return await anext(received, None)

        while (line := run(following())) is not None:
            yield line


async def _lines(url: str, path: str) -> AsyncGenerator[str, None]:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=_authorization()) as session,
            session.get(url + path) as response,
        ):
            if response.status != 200:
                said = error_in(_json(await response.text(errors="replace")))
                raise CannotSpeak(said or f"the server answers with {response.status} {response.reason}")
            async for line in response.content:
                yield line.decode(errors="replace").rstrip("\n")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        raise CannotSpeak(f"the server at {url} was lost: {reason_of(error)}") from error


def error_in(answer: Any) -> str:
    """The message of an API error; empty if the answer isn't one."""
    match answer:
        case {"error": {"message": str(message)}}:
            return message
        case {"reason": str(reason)}:
            return reason
    return ""


def speak(url: str, body: dict[str, Any]) -> Generator[SpokenPiece, None, None]:
    """POST a speech request and yield its audio as it arrives.

    Raises:
        CannotSpeak: nobody answers, the server refuses, or the stream is cut before its end.
    """
    received = 0
    with _event_loop() as run:
        pieces = _answer(url, body | {"response_format": "pcm"}, _AUDIO)

        async def following() -> bytes | None:
            return await anext(pieces, None)

        while pcm := run(following()):
            received += len(pcm)
            yield SpokenPiece(pcm)
    if received % SAMPLE_BYTES:
        raise CannotSpeak(f"the server's stream ends within a sample after {_seconds(received)}")


def speak_with_words(url: str, body: dict[str, Any]) -> Generator[SpokenPiece, None, None]:
    """POST a speech request with word times, and return audio and words together.

    Raises:
        CannotSpeak: nobody answers, the server refuses, or it can't tell.
    """
    from supervisor.client.captioned_answer import read_captioned

    wanted = {"response_format": "wav", "stream": False, "timestamps": "word"}

    async def whole() -> bytes:
        return b"".join([part async for part in _answer(url, body | wanted, _CAPTIONED)])

    with _event_loop() as run:
        answer = run(whole())
    try:
        yield read_captioned(answer)
    except ValueError as error:
        raise CannotSpeak(f"the server at {url} says in no way that is known when words sound: {error}") from error


@dataclass(frozen=True, slots=True)
class _Form:
    """The form of answer that a request asks for."""

    content_type: str
    """The beginning of the answer's content type."""
    otherwise: str
    """The conclusion about a server that answers in another form."""
    amount: Callable[[int], str]
    """Formats a number of bytes for people."""


async def _answer(url: str, body: dict[str, Any], form: _Form) -> AsyncGenerator[bytes, None]:
    import aiohttp

    received = 0
    timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)
    try:
        speech = f"{url}/v1/audio/speech"
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=_authorization()) as session,
            session.post(speech, json=body) as response,
        ):
            if response.status != 200:
                text = await response.text(errors="replace")
                said = error_in(_json(text)) or f"the server answers with {response.status} {response.reason}"
                raise CannotSpeak(f"{said} Here, {KEY_VARIABLE} has it." if response.status == 401 else said)
            if response.headers.get("X-Speakable") == "none":
                raise CannotSpeak("There is nothing in the text that can be spoken.")
            if (rate := response.headers.get("X-Sample-Rate", str(SAMPLE_RATE))) != str(SAMPLE_RATE):
                raise CannotSpeak(f"the server speaks at {rate} samples per second, not {SAMPLE_RATE}")
            if not response.content_type.startswith(form.content_type):
                raise CannotSpeak(f"{url} answers with {response.content_type}: {form.otherwise}")
            async for part in response.content.iter_any():
                received += len(part)
                yield part
    except aiohttp.ClientPayloadError as error:
        raise CannotSpeak(
            f"the server cut the stream after {form.amount(received)}: the text isn't complete"
        ) from error
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        if received:
            lost = f"the server at {url} was lost after {form.amount(received)}: {reason_of(error)}"
            raise CannotSpeak(lost) from error
        cure = "start it with `kokoro-live serve`, or speak without it with --local"
        raise CannotSpeak(f"the server at {url} can't be reached: {reason_of(error)}; {cure}") from error


def _get(url: str, path: str) -> tuple[int, dict[str, str], str]:
    return _request(url, "GET", path, None, ANSWER_SECONDS)


def _request(url: str, method: str, path: str, body: Any, seconds: float) -> tuple[int, dict[str, str], str]:
    async def ask() -> tuple[int, dict[str, str], str]:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, headers=_authorization()) as session,
                session.request(method, url + path, json=body) as response,
            ):
                return response.status, dict(response.headers), await response.text(errors="replace")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise NoAnswer(f"{url} doesn't answer: {reason_of(error)}") from error

    with _event_loop() as run:
        return run(ask())


def _authorization() -> dict[str, str]:
    key = os.environ.get(KEY_VARIABLE)
    return {"Authorization": f"Bearer {key}"} if key else {}


@contextmanager
def _event_loop() -> Iterator[Callable[[Coroutine[Any, Any, Result]], Result]]:
    """A function that runs a coroutine in another thread's loop and waits for its result.

    The loop isn't in this thread, because an exception raised by a signal handler gets lost in an event loop. Tasks and
    connections left at the end of the block are cancelled and closed.
    """
    loop = asyncio.new_event_loop()
    end = asyncio.Event()

    def live() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(_until(end))

    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    try:
        yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result()
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()


async def _until(event: asyncio.Event) -> None:
    await event.wait()


def _json(text: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _seconds(received: int) -> str:
    return f"{received / SAMPLE_BYTES / SAMPLE_RATE:.1f} s of audio"


_AUDIO = _Form("audio/", "that is no speech server's address", _seconds)
_CAPTIONED = _Form(
    "application/json",
    "it can't tell when words sound. Use a server of this version, or speak without one with --local",
    lambda received: f"{received} bytes",
)
