"""`python -m benchmarks.same_bytes`: are the answers of two checkouts the same, over every dialect?

Each checkout's own server answers one list of requests, good ones and bad ones; status, headers, JSON and the sha256 of
the audio are compared. A redesign loses nothing and changes no sample where nothing differs:

    python -m benchmarks.same_bytes record before.json --tree ../before
    python -m benchmarks.same_bytes compare before.json

Where audio leaves in pieces (sockets, server-sent events) the pieces are joined, because their edges depend on time.
Masked are ids, times and what names the process. Both checkouts need a `.venv` of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from wyoming.event import async_read_event, async_write_event

from benchmarks.measuring.asked_of_dialects import Message, conversations, requests, with_headers, wyoming_events
from benchmarks.measuring.subjects import free_port

KEPT = {"content-type", "retry-after", "allow", "x-engine", "x-sample-rate", "x-speakable", "x-warning", "x-cache"}
MASKED = re.compile(
    r"req-[\w-]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|127\.0\.0\.1:\d+|/download/[\w.-]+|play-[\w-]+|job-[\w-]+"
    r"|/\S+/(?:\.venv/bin/python|constraints\.txt)"
)
WORDS = ("alignment", "normalizedAlignment", "normalized_alignment")
VOLATILE = {
    "seq",
    "samples",
    "lines",
    "flush_id",
    "step_time",
    "request_id",
    "model_uuid",
    "created",
    "real_time_factor",
}


def digest(audio: bytes) -> str:
    """Length and sha256 of some bytes. An Ogg stream has a random serial number, and a checksum of it on each page."""
    if audio.startswith(b"OggS"):
        audio = re.sub(rb"(OggS.{10}).{4}(.{4}).{4}", rb"\1\2", audio, flags=re.DOTALL)
    return f"{len(audio)} {hashlib.sha256(audio).hexdigest()[:16]}"


def masked(value: Any) -> Any:
    """A JSON value without what differs from process to process; audio in base64 as its digest."""
    match value:
        case dict():
            # A line's id is the place up to which it reached, which depends on when the samples came.
            lasting = {name: each for name, each in value.items() if not (name == "id" and isinstance(each, int))}
            return {name: "…" if name in VOLATILE else masked(each) for name, each in lasting.items()}
        case list():
            return [masked(each) for each in value]
        case str() if len(value) > 200 and re.fullmatch(r"[\w+/]+=*", value):
            return digest(base64.b64decode(value))
        case str():
            return MASKED.sub("…", value)
    return value


class Joined:
    """A stream's messages, with the audio of all of them as one."""

    def __init__(self) -> None:
        self.audio: dict[str, bytes] = {}
        self.words: dict[str, str] = {}
        self.messages: list[Any] = []

    def add(self, message: Message) -> None:
        """A decoded message; its audio joins that of its context."""
        for name in ("audio", "data", "audio_base64"):
            if isinstance(sound := message.get(name), str):
                key = str(message.get("context_id", message.get("contextId", "")))
                self.audio[key] = self.audio.get(key, b"") + base64.b64decode(sound)
                message = {**message, name: "audio"}
        for name in WORDS:
            if name in message:  # how words fall into messages depends on time
                found = message[name]
                letters = (found.get("chars") or found.get("characters") or []) if isinstance(found, dict) else []
                self.words[name] = self.words.get(name, "") + "".join(letters)
                message = {key: value for key, value in message.items() if key != name}
        self.messages.append(masked(message))

    def result(self) -> dict[str, Any]:
        """Messages in order, runs of equal ones as one."""
        kept = [each for each, before in zip(self.messages, [None, *self.messages], strict=False) if each != before]
        audio = {name: digest(each) for name, each in self.audio.items()}
        return {"messages": kept, "audio": audio, "words": self.words}


def body_of(content_type: str, body: bytes) -> Any:
    """What is compared of an HTTP answer's body."""
    if (
        "event-stream" in content_type
        or "json" in content_type.removesuffix("/json")
        or content_type.startswith("application/json")
    ):
        lines = [line.removeprefix("data: ") for line in body.decode().splitlines() if line[:1] in "d{"]
        objects = [json.loads(line) for line in lines if line.startswith("{")]
        if len(objects) > 1:
            joined = Joined()
            for each in objects:
                joined.add(each)
            return joined.result()
        return masked(json.loads(body))
    if content_type.startswith("text/"):
        return digest(MASKED.sub("…", body.decode()).encode())
    return digest(body)


async def over_http(session: aiohttp.ClientSession, base: str) -> dict[str, Any]:
    """Each request's answer."""
    found: dict[str, Any] = {}
    listed = [*(({}, each) for each in requests()), *with_headers()]
    for number, (more, (method, path, body)) in enumerate(listed):
        data = json.dumps(body) if isinstance(body, dict) else body
        headers = {"Content-Type": "application/json", **more}
        async with session.request(method, base + path, data=data, headers=headers) as got:
            read = await got.read()
            kept = {name.lower(): MASKED.sub("…", value) for name, value in got.headers.items() if name.lower() in KEPT}
            answer = {"status": got.status, "headers": kept, "body": body_of(got.content_type, read)}
        named = "".join(f" {name}: {value}" for name, value in more.items())
        found[f"{number:03} {method} {path} {str(data)[:160]}{named}"] = answer
    return found


async def over_websockets(session: aiohttp.ClientSession, base: str) -> dict[str, Any]:
    """Each conversation's messages, audio and end."""
    found: dict[str, Any] = {}
    for number, (path, messages) in enumerate(conversations()):
        joined, binary = Joined(), b""
        async with session.ws_connect(base + path) as sent:
            for message in messages:
                await sent.send_str(json.dumps(message))
            while True:
                try:
                    got = await sent.receive(timeout=2.0)
                except TimeoutError:
                    break
                if got.type is aiohttp.WSMsgType.TEXT:
                    joined.add(json.loads(got.data))
                elif got.type is aiohttp.WSMsgType.BINARY:
                    binary += got.data
                else:
                    break
            ended = [sent.close_code, MASKED.sub("…", str(got.extra or ""))]
        key = f"{number:03} {path} {json.dumps(messages)[:200]}"
        found[key] = {**joined.result(), "binary": digest(binary), "end": ended}
    return found


async def over_wyoming(port: int) -> dict[str, Any]:
    """Each connection's events."""
    found: dict[str, Any] = {}
    for number, events in enumerate(wyoming_events()):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for event in events:
            await async_write_event(event, writer)
        kept, audio = [], b""
        while True:
            try:
                got = await asyncio.wait_for(async_read_event(reader), 2.0)
            except TimeoutError:
                break
            if got is None:
                break
            if got.type == "audio-chunk":
                audio += got.payload or b""
            else:
                kept.append([got.type, masked(got.data)])
        writer.close()
        found[f"{number:03} wyoming {[event.type for event in events]}"] = {"events": kept, "audio": digest(audio)}
    return found


@asynccontextmanager
async def server(tree: Path, engine: list[str]) -> AsyncIterator[tuple[str, int]]:
    """A checkout's own server; its address, and its Wyoming port."""
    port, wyoming = free_port(), free_port()
    command = [
        str(tree / ".venv/bin/kokoro-live"),
        "serve",
        "--port",
        str(port),
        "--wyoming-port",
        str(wyoming),
        *engine,
    ]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "XDG_STATE_HOME": folder, "XDG_CACHE_HOME": folder}
        process = await asyncio.create_subprocess_exec(*command, cwd=tree, stdout=log, stderr=log, env=environment)
        try:
            async with aiohttp.ClientSession() as session:
                base = f"http://127.0.0.1:{port}"
                while await _status(session, f"{base}/ready") != 200:
                    if process.returncode is not None:
                        sys.exit(f"the server of {tree} ended with {process.returncode}")
                    await asyncio.sleep(0.1)
            yield base, wyoming
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _status(session: aiohttp.ClientSession, address: str) -> int:
    try:
        async with session.get(address) as got:
            return got.status
    except aiohttp.ClientError:
        return 0


async def answers(tree: Path, engine: list[str]) -> dict[str, Any]:
    """All that the checkout's server answers."""
    async with server(tree, engine) as (base, wyoming), aiohttp.ClientSession() as session:
        return {**await over_http(session, base), **await over_websockets(session, base), **await over_wyoming(wyoming)}


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """One line for each place where two records differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in {**before, **after}:
            yield from differences(before.get(name, "(absent)"), after.get(name, "(absent)"), f"{path} › {name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif before != after:
        yield f"{path.removeprefix(' › ')}\n    before: {str(before)[:300]}\n    after:  {str(after)[:300]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--tree", type=Path, default=Path.cwd(), help="the checkout whose server answers; this one")
    parser.add_argument("--serve", default="--engine espeak", help="arguments of `serve`; %(default)r by default")
    given = parser.parse_args()
    found = asyncio.run(answers(given.tree.resolve(), given.serve.split()))
    if given.what == "record":
        given.file.write_text(json.dumps(found, indent=1, ensure_ascii=False))
        print(f"{len(found)} answers in {given.file}")
        return
    lines = list(differences(json.loads(given.file.read_text()), found))
    print(*lines, f"{len(found)} answers, {len(lines)} differences", sep="\n")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
