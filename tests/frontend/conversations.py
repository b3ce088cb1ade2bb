"""Conversations on the sockets of every dialect, and what their clients are told."""

import base64
import json
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]

TEXTS = tuple(
    f"Sentence number {number} has a few words more, and then it comes to its end. And one is short."
    for number in range(6)
)


@dataclass
class Told:
    """Audio, words and ends that one context's client was told, without how its audio is divided over messages."""

    audio: bytes = b""
    words: str = ""
    events: list[object] = field(default_factory=list)


Read = Callable[[Any, dict[str, Told]], bool]
"""Adds a message to what contexts were told; returns True if it is the last one."""


def frame(message: Message) -> bytes:
    payload = json.dumps(message).encode()
    length = (
        struct.pack("!BB", 0x81, len(payload)) if len(payload) < 126 else struct.pack("!BBH", 0x81, 126, len(payload))
    )
    return length + payload


def messages(wire: bytes) -> Iterator[Any]:
    """The server's messages that have come whole."""
    at = 0
    while at + 2 <= len(wire):
        opcode, length = wire[at] & 0x0F, wire[at + 1]
        at += 2
        if length >= 126:
            size = 2 if length == 126 else 8
            length, at = int.from_bytes(wire[at : at + size], "big"), at + size
        if at + length > len(wire):
            break
        payload = wire[at : at + length]
        if opcode in (1, 2):
            yield json.loads(payload) if opcode == 1 else payload
        at += length


def events(wire: bytes) -> Iterator[Message]:
    """Wyoming's events that have come whole."""
    while b"\n" in wire:
        line, _, wire = wire.partition(b"\n")
        event = json.loads(line)
        data, payload = event.get("data_length", 0), event.get("payload_length", 0)
        if len(wire) < data + payload:
            return
        yield event | {"payload": wire[data : data + payload]}
        wire = wire[data + payload :]


def elevenlabs(message: Message, told: dict[str, Told]) -> bool:
    context = told[message.get("contextId") or ""]
    context.audio += base64.b64decode(message.get("audio") or "")
    context.words += "".join((message.get("alignment") or {}).get("chars", []))
    if message.get("isFinal") or "error" in message:
        context.events.append(message)
    return bool(message.get("isFinal"))


def cartesia(message: Message, told: dict[str, Told]) -> bool:
    context = told[message["context_id"]]
    context.audio += base64.b64decode(message.get("data") or "")
    if message["type"] == "timestamps":
        context.words += " ".join([*message["word_timestamps"]["words"], ""])
    if message["type"] not in ("timestamps", "chunk"):
        context.events.append(message | {"at": len(context.audio)})
    return bool(message["done"])


def deepgram(message: Any, told: dict[str, Told]) -> bool:
    context = told[""]
    if isinstance(message, bytes):
        context.audio += message
        return False
    if message["type"] == "Flushed" and "speech_id" in message:
        context.words += message["speech_id"]  # it comes whenever the server reads
        return False
    context.events.append(
        {name: message[name] for name in message if name != "request_id"} | {"at": len(context.audio)}
    )
    return message["type"] == "SessionMetadata" or message.get("sequence_id") == len(TEXTS) - 1


def wyoming(event: Message, told: dict[str, Told]) -> bool:
    context = told[""]
    if event["type"] == "audio-chunk":
        context.audio += event["payload"]
    elif event["type"] == "pong":
        context.words += event["type"]  # it comes whenever the server reads
    else:
        context.events.append((event["type"], len(context.audio)))
    return event["type"] in ("synthesize-stopped", "error")


@dataclass(frozen=True)
class Conversation:
    """One client's input, and its way of reading the answers."""

    path: str
    """Path of the WebSocket; empty: the client speaks Wyoming."""
    messages: Sequence[Message]
    read: Read
    ends: int = 1
    """Last messages that are to come."""

    @property
    def opening(self) -> bytes:
        """Bytes that are sent first; their answer ends with an empty line."""
        if not self.path:
            return b""
        head = f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        return f"{head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n\r\n".encode()

    @property
    def input(self) -> list[bytes]:
        return [frame(each) if self.path else json.dumps(each).encode() + b"\n" for each in self.messages]

    def told(self, wire: bytes) -> tuple[dict[str, Told], bool]:
        """Told contexts in these bytes of the server's; True if they are whole."""
        found, ends = defaultdict[str, Told](Told), 0
        if self.path:
            wire = wire.partition(b"\r\n\r\n")[2]
        for message in messages(wire) if self.path else events(wire):
            ends += self.read(message, found)
        return dict(found), ends >= self.ends


FORM = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
CARTESIA = {"model_id": "m", "voice": {"mode": "id", "id": "af_heart"}, "output_format": FORM, "add_timestamps": True}
_ELEVEN = "/v1/text-to-speech/af_heart"

CONVERSATIONS = {
    "elevenlabs": Conversation(
        f"{_ELEVEN}/stream-input?output_format=mp3_44100_128",
        [{"text": " "}, *({"text": f"{text} "} for text in TEXTS), {"text": ""}],
        elevenlabs,
    ),
    "elevenlabs-contexts": Conversation(
        f"{_ELEVEN}/multi-stream-input?output_format=pcm_16000",
        [
            *({"text": f"{text} ", "context_id": f"c{n % 2}", "flush": n > 3} for n, text in enumerate(TEXTS)),
            *({"context_id": f"c{n}", "close_context": True} for n in range(2)),
        ],
        elevenlabs,
        2,
    ),
    "cartesia": Conversation(
        "/tts/websocket",
        [
            *(
                CARTESIA | {"transcript": f"{text} ", "context_id": f"c{n % 2}", "continue": n < 4, "flush": n == 2}
                for n, text in enumerate(TEXTS)
            )
        ],
        cartesia,
        2,
    ),
    "deepgram": Conversation(
        "/v1/speak?encoding=linear16&sample_rate=24000",
        [message for text in TEXTS for message in ({"type": "Speak", "text": text}, {"type": "Flush"})],
        deepgram,
    ),
    "deepgram-turns": Conversation(
        "/v2/speak",
        [
            {"type": "Configure", "speed": 1.5},
            *(message for text in TEXTS for message in ({"type": "Speak", "text": text}, {"type": "Flush"})),
            {"type": "Close"},
        ],
        deepgram,
    ),
    "wyoming": Conversation(
        "",
        [
            {"type": "synthesize-start", "data": {"voice": {"name": "af_heart"}}},
            *({"type": "synthesize-chunk", "data": {"text": f"{text} "}} for text in TEXTS),
            {"type": "ping", "data": {"text": "here"}},
            {"type": "synthesize-stop"},
        ],
        wyoming,
    ),
}
