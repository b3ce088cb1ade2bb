"""Talking to a server that runs already. aiohttp is imported when it is needed: it costs 0.15 s."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from supervisor.spoken import CannotSpeak, Piece

ANSWER_SECONDS = 2.0
"""How long to wait for a short answer. `/health` takes less than 0.1 s, and while a front is started again a second."""

CONNECT_SECONDS = 10.0

Result = TypeVar("Result")


class NoAnswer(Exception):
    """Nothing at that address speaks HTTP, or not in time."""


def address(host: str, port: int) -> str:
    """The URL at which a server that listens there is reached from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def is_kokoro_live(url: str) -> bool:
    """Does one of ours listen there? Whether it can speak is another question."""
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


def error_in(answer: Any) -> str:
    """What an answer of the API says is wrong; empty if it isn't one."""
    match answer:
        case {"error": {"message": str(message)}}:
            return message
        case {"reason": str(reason)}:
            return reason
    return ""


def speak(url: str, body: dict[str, Any]) -> Generator[Piece, None, None]:
    """POST a speech request; its audio as it comes.

    Raises:
        CannotSpeak: nobody answers, the server refuses, or the stream is cut before its end.
    """
    with _event_loop() as run:
        pieces = _speech(url, body | {"response_format": "pcm"})

        async def following() -> bytes | None:
            return await anext(pieces, None)

        while pcm := run(following()):
            yield Piece(pcm)


async def _speech(url: str, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
    import aiohttp

    received = 0
    timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)
    try:
        speech = f"{url}/v1/audio/speech"
        async with aiohttp.ClientSession(timeout=timeout) as session, session.post(speech, json=body) as response:
            if response.status != 200:
                text = await response.text(errors="replace")
                said = error_in(_json(text)) or f"the server answers with {response.status} {response.reason}"
                raise CannotSpeak(said)
            if (rate := response.headers.get("X-Sample-Rate", str(SAMPLE_RATE))) != str(SAMPLE_RATE):
                raise CannotSpeak(f"the server speaks at {rate} samples per second, not {SAMPLE_RATE}")
            if not response.content_type.startswith("audio/"):
                raise CannotSpeak(f"{url} answers with {response.content_type}: that is no speech server's address")
            async for pcm in response.content.iter_any():
                received += len(pcm)
                yield pcm
    except aiohttp.ClientPayloadError as error:
        raise CannotSpeak(f"the server cut the stream after {_seconds(received)}: the text isn't complete") from error
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        if received:
            raise CannotSpeak(f"the server at {url} was lost after {_seconds(received)}: {_line(error)}") from error
        cure = "start it with `kokoro-live serve`, or speak without it with --local"
        raise CannotSpeak(f"the server at {url} can't be reached: {_line(error)}; {cure}") from error
    if received % SAMPLE_BYTES:
        raise CannotSpeak(f"the server's stream ends within a sample after {_seconds(received)}")


def _get(url: str, path: str) -> tuple[int, dict[str, str], str]:
    async def get() -> tuple[int, dict[str, str], str]:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        try:
            async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url + path) as response:
                return response.status, dict(response.headers), await response.text(errors="replace")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise NoAnswer(f"{url} doesn't answer: {_line(error)}") from error

    with _event_loop() as run:
        return run(get())


@contextmanager
def _event_loop() -> Iterator[Callable[[Coroutine[Any, Any, Result]], Result]]:
    """A function that runs a coroutine in another thread's loop and waits for its result.

    Not in this one, because an exception that a signal handler raises goes astray in a loop. What still runs or is
    open at the end of the block is cancelled and closed.
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


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
