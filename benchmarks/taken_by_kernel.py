"""How many bytes of an answer left is what the kernel took: is its count exact when the writer is killed?

    python -m benchmarks.taken_by_kernel [--tries 100000] [--through direct,nginx,haproxy,caddy] [--seed 1]

A process writes a chunked HTTP answer, in sends of random sizes, to a TCP connection of which this program keeps a
duplicate. It is killed at a random moment: while it sends, after a send that it couldn't note, in the middle of a
chunk's header. Its successor asks the kernel for the bytes that it took (Linux: tcp(7)'s `tcpi_bytes_acked`, and with
SIOCOUTQ those that are unsent or unacknowledged) and goes on after them. The client reads at random paces, stalls
included, and compares all that comes with the answer. Exits 1 if a byte was doubled, lost or changed.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from benchmarks.measuring.subjects import free_port
from frontend.serving.acceptor import taken

_LONGEST = 60_000
"""Bytes of the longest single send."""

WRITERS_PER_ANSWER = 10
READING = 60
"""Seconds without a byte after which the client gives an answer up."""

PROXIES = {
    "nginx": """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
    access_log off;
    proxy_buffering off;
    proxy_http_version 1.1;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{origin}; }} }}
}}
""",
    "haproxy": """
defaults
    mode http
    timeout connect 10s
    timeout client 60s
    timeout server 60s
frontend front
    bind 127.0.0.1:{port}
    default_backend origin
backend origin
    server one 127.0.0.1:{origin}
""",
    "caddy": """
{{
    admin off
    auto_https off
}}
http://127.0.0.1:{port} {{
    reverse_proxy 127.0.0.1:{origin} {{
        flush_interval -1
    }}
}}
""",
}
COMMANDS = {
    "nginx": ("nginx", "-c"),
    "haproxy": ("haproxy", "-db", "-f"),
    "caddy": ("caddy", "run", "--adapter", "caddyfile", "--config"),
}


def chunked(body: bytes, draw: random.Random) -> bytes:
    """A whole answer as it stands on the wire, in chunks of 1 to 20,000 bytes."""
    wire, place = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"], 0
    while place < len(body):
        part = body[place : place + draw.choice((1, 15, 480, 4096, 20_000))]
        wire.append(b"%x\r\n%b\r\n" % (len(part), part))
        place += len(part)
    return b"".join((*wire, b"0\r\n\r\n"))


def write_until_killed(connection: socket.socket, wire: memoryview, draw: random.Random) -> None:
    """Write in sends of random sizes and at random paces; at the end, wait to be killed."""
    connection.setblocking(False)
    while wire:
        if draw.random() < 0.3:
            time.sleep(draw.random() * 0.002)
        try:
            wire = wire[connection.send(wire[: draw.choice((1, 3, 6, 700, 4096, _LONGEST))]) :]
        except BlockingIOError:
            select.select([], [connection], [], 1)
    signal.pause()


class Reader(threading.Thread):
    """The client: reads one answer at a random pace and compares it."""

    def __init__(self, address: tuple[str, int], body: bytes, seed: int) -> None:
        super().__init__(daemon=True)
        self._connection = HTTPConnection(*address, timeout=READING)
        self._connection.request("GET", "/")
        self._body, self._draw = body, random.Random(seed)
        self.wrong = "it didn't end"

    def run(self) -> None:
        heard = 0
        try:
            with self._connection.getresponse() as response:
                while got := response.read(self._draw.choice((1, 100, 5000, 1 << 18))):
                    if got != self._body[heard : heard + len(got)]:
                        self.wrong = f"other bytes at {heard}"
                        return
                    heard += len(got)
                    if self._draw.random() < 0.02:
                        time.sleep(self._draw.random() * 0.02)
        except (HTTPException, OSError) as error:
            self.wrong = f"after {heard} of {len(self._body)} bytes: {error!r}"
            return
        finally:
            self._connection.close()
        self.wrong = "" if heard == len(self._body) else f"ended after {heard} of {len(self._body)} bytes"


def kind(before: int, now: int, size: int) -> str:
    return "nothing was sent" if now == before else "all was sent" if now == size else "in the middle"


def answer(listener: socket.socket, address: tuple[str, int], draw: random.Random) -> tuple[str, Counter[str]]:
    """One answer by several writers, of which each but the last is killed: the fault, and the kinds of the kills."""
    body = draw.randbytes(draw.randrange(50_000, 2_000_000))
    wire = memoryview(chunked(body, draw))
    reader = Reader(address, body, draw.randrange(1 << 30))
    kept, _ = listener.accept()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, draw.choice((4096, 1 << 16, 1 << 20)))
    reader.start()
    kinds = Counter[str]()
    place = 0
    while not kept.recv(1 << 16).endswith(b"\r\n\r\n"):
        pass
    for _ in range(WRITERS_PER_ANSWER):
        child = os.fork()
        if not child:
            try:
                write_until_killed(kept, wire[place:], draw)
            finally:  # the reader has left
                os._exit(1)
        time.sleep(draw.choice((0, 0.001, 0.004)) * draw.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        before, place = place, taken(kept)
        kinds[kind(before, place, len(wire))] += 1
        draw.random()
    kept.setblocking(True)
    with kept, suppress(ConnectionError):  # the reader tells why it left
        kept.sendall(wire[place:])
    reader.join(READING + 1)
    return reader.wrong, kinds


@contextmanager
def way(name: str, origin: int) -> Iterator[tuple[str, int]]:
    """The address at which the answers are asked for: the origin's own, or a proxy's before it."""
    if name == "direct":
        yield "127.0.0.1", origin
        return
    with tempfile.TemporaryDirectory() as folder:
        port, configuration = free_port(), Path(folder, "configuration")
        configuration.write_text(PROXIES[name].format(folder=folder, port=port, origin=origin))
        process = subprocess.Popen([*COMMANDS[name], str(configuration)], stderr=subprocess.DEVNULL)
        try:
            while True:
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                if process.poll() is not None:
                    raise SystemExit(f"{name} ended with status {process.returncode}")
            yield "127.0.0.1", port
        finally:
            process.terminate()
            process.wait()


def measure(name: str, tries: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Faults of the answers, and the kinds of the kills, after `tries` kills by one way to the client."""
    draw = random.Random(seed)
    wrong: list[str] = []
    kinds = Counter[str]()
    with socket.create_server(("127.0.0.1", 0)) as listener, way(name, listener.getsockname()[1]) as address:
        for _ in range(max(1, tries // WRITERS_PER_ANSWER)):
            fault, found = answer(listener, address, draw)
            kinds += found
            wrong += [fault] if fault else []
    return wrong, kinds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tries", type=int, default=100_000, help="kills by each way")
    parser.add_argument("--through", default=",".join(("direct", *PROXIES)), help="ways to the client")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults = 0
    for name in options.through.split(","):
        if name != "direct" and not shutil.which(name):
            print(f"{name:10}not installed")
            continue
        began = time.monotonic()
        wrong, kinds = measure(name, options.tries, options.seed)
        faults += len(wrong)
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        seconds = time.monotonic() - began
        print(f"{name:10}{len(wrong)} answers wrong after {kinds.total():,} kills ({told}), {seconds:.0f} s")
        for fault in wrong[:5]:
            print(f"          {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
