"""A dispatcher that starts the module and speaks its protocol, and a server whose answers a test decides."""

import base64
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from frontend.speech.voices import described
from supervisor.speechd.config import ModuleConfig
from tests.followed_output import FollowedOutput
from worker.voices.kokoro_voices import kokoro_voice

DEADLINE = 60.0
ROOT = Path(__file__).parents[3]

_PATIENT = f"""
from supervisor.speechd import __main__, speaking
speaking._LIST_SECONDS = speaking._CONNECT_SECONDS = speaking._SILENT_SECONDS = {DEADLINE}
__main__.main()
"""
"""The module's program, with a server that may be slow: on a busy machine espeak-ng would speak in its place."""


class Dispatcher:
    """Reads all that the module says, as lines and as blocks of audio, and keeps their order."""

    def __init__(self, config: Path, environment: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PATIENT, str(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {}),
        )
        self.heard: list[str] = []
        """Final lines and marks, in order; `audio N R` for N samples at R per second."""
        self.audio = b""
        assert self._process.stderr
        self._log = FollowedOutput(map(bytes.decode, self._process.stderr))
        self.log = self._log.lines
        self._taken = 0
        self._more = threading.Condition()
        self._hold = threading.Event()
        self._hold.set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        values: dict[str, int] = {}
        for line in self._process.stdout:
            self._hold.wait()
            text = line[:-1]
            if text.startswith(b"705-AUDIO\0"):
                pcm = re.sub(rb"\}(.)", lambda byte: bytes([byte[1][0] ^ 0x20]), text[10:], flags=re.DOTALL)
                assert len(pcm) == 2 * values["num_samples"]
                self._hear(f"audio {values['num_samples']} {values['sample_rate']}", pcm)
            elif text.startswith(b"705-"):
                name, _, value = text[4:].decode().partition("=")
                values[name] = int(value)
            elif text != b"705 AUDIO":
                self._hear(text.decode())
        self._hear("(end)")

    def _hear(self, line: str, pcm: bytes = b"") -> None:
        with self._more:
            self.heard.append(line)
            self.audio += pcm
            self._more.notify_all()

    @contextmanager
    def playing_slowly(self) -> Iterator[None]:
        """Meanwhile nothing is read, as while a long block is played."""
        self._hold.clear()
        try:
            yield
        finally:
            self._hold.set()

    def send(self, *lines: str) -> None:
        assert self._process.stdin
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self._process.stdin.flush()

    def until(self, pattern: str) -> list[str]:
        """All that was heard since the last call, up to a line that matches wholly."""

        def found() -> int | None:
            lines = enumerate(self.heard[self._taken :], self._taken)
            return next((place for place, line in lines if re.fullmatch(pattern, line)), None)

        with self._more:
            assert self._more.wait_for(lambda: found() is not None or "(end)" in self.heard, DEADLINE), self._state()
            end = found()
            assert end is not None, self._state()
            part = self.heard[self._taken : end + 1]
            self._taken = end + 1
            return part

    def skip(self) -> None:
        with self._more:
            self._taken = len(self.heard)

    def logs(self, text: str) -> None:
        assert self._log.find(re.escape(text), DEADLINE), self._state()

    def _state(self) -> str:
        return "\n".join([str(self.heard[self._taken :]), *self.log])

    def set(self, **parameters: object) -> str:
        """SET; its last answer."""
        self.send("SET", *(f"{name}={value}" for name, value in parameters.items()), ".")
        assert self.until("203 OK RECEIVING SETTINGS")
        return self.until(r"\d\d\d .*")[-1]

    def say(self, command: str, *message: str) -> None:
        """SPEAK, CHAR, KEY or SOUND_ICON, up to the answer that it is spoken."""
        self.send(command)
        self.until("202 OK RECEIVING MESSAGE")
        self.send(*message, ".")
        self.until("200 OK SPEAKING")

    def spoken(self, command: str, *message: str) -> list[str]:
        """A whole utterance: its events, with consecutive audio counted as one, at its rate."""
        self.say(command, *message)
        return summed(self.until("70[234] .*"))

    def wait(self) -> int:
        """The exit status."""
        return self._process.wait(DEADLINE)

    def close_pipe(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    def close(self) -> None:
        """End the module, however it is."""
        self._hold.set()
        with suppress(OSError):
            self.close_pipe()
        self._process.kill()
        self._process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        self._log.join(DEADLINE)
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe
            pipe.close()


def summed(heard: list[str]) -> list[str]:
    """Events with the audio between them as one entry, and marks as `mark NAME`."""
    found: list[str] = []
    for line in heard:
        if line.startswith("audio ") and found and found[-1].startswith("audio "):
            _, count, rate = line.split()
            found[-1] = f"audio {int(found[-1].split()[1]) + int(count)} {rate}"
        elif line.startswith("700-"):
            found.append(f"mark {line[4:]}")
        elif line != "700 INDEX MARK":
            found.append(line)
    return found


Answer = Callable[["Sender", dict[str, Any]], None]


class Sender:
    """One answer of the server, as events."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler
        self._begun = False
        self.authorization = handler.headers["Authorization"]

    def event(self, **event: object) -> None:
        if not self._begun:
            self._begun = True
            self._handler.send_response(200)
            self._handler.send_header("Content-Type", "text/event-stream")
            self._handler.end_headers()
        self._handler.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self._handler.wfile.flush()

    def audio(self, pcm: bytes) -> None:
        self.event(type="speech.audio.delta", audio=base64.b64encode(pcm).decode())

    def marks(self, **times: float) -> None:
        self.event(type="speech.audio.marks", marks=[{"name": name, "time": time} for name, time in times.items()])

    def done(self) -> None:
        self.event(type="speech.audio.done", usage={})

    def refuse(self, status: int, code: str) -> None:
        body = json.dumps({"error": {"message": f"no: {code}", "code": code}}).encode()
        self._handler.send_response(status)
        self._handler.send_header("Content-Length", str(len(body)))
        self._handler.end_headers()
        self._handler.wfile.write(body)

    def clip(self, pcm: bytes) -> None:
        """Answer with whole audio, not events."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", "audio/pcm")
        self._handler.send_header("Content-Length", str(len(pcm)))
        self._handler.end_headers()
        self._handler.wfile.write(pcm)

    def gone(self) -> bool:
        """Wait until the client has closed the connection; False after `DEADLINE`."""
        self._handler.connection.settimeout(DEADLINE)
        with suppress(ConnectionError):
            return not self._handler.connection.recv(1)
        return True


def whole(seconds: float = 0.2) -> Answer:
    def answer(sender: Sender, _: dict[str, Any]) -> None:
        sender.audio(bytes(range(256)) * round(seconds * 24_000 / 128))
        sender.done()

    return answer


class Scripted:
    """A server on a port of its own; every request is answered by `answer`."""

    def __init__(self) -> None:
        self.answer: Answer = whole()
        self.asked: list[dict[str, Any]] = []
        self.made: queue.Queue[dict[str, Any]] = queue.Queue()
        """Requests for sounds that nobody waits for; they have an answer of their own."""
        self.make: Answer = lambda sender, asked: sender.refuse(429, "listeners_first")
        self.voices = ["af_heart", "am_michael", "bf_emma", "ef_dora"]
        self.failures: list[BaseException] = []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(
                    {"voices": [asdict(described(kokoro_voice(name), "kokoro")) for name in scripted.voices]}
                ).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                is_idle = asked.get("priority") == "idle"
                if not is_idle:
                    scripted.asked.append(asked)
                with suppress(ConnectionError):
                    (scripted.make if is_idle else scripted.answer)(Sender(self), asked)
                if is_idle:
                    scripted.made.put(asked)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(DEADLINE)


@contextmanager
def scripted() -> Iterator[Scripted]:
    server = Scripted()
    try:
        yield server
    finally:
        server.close()


@contextmanager
def dispatcher(folder: Path, config: ModuleConfig, **environment: str) -> Iterator[Dispatcher]:
    """The module with a configuration, after INIT."""
    path = folder / f"kokoro-{time.monotonic_ns()}.conf"
    path.write_text(config.written(), "utf-8")
    found = Dispatcher(path, environment)
    try:
        found.send("INIT")
        assert found.until("299 OK LOADED SUCCESSFULLY")
        yield found
    finally:
        found.close()
