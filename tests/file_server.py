"""A web server of files that misbehaves as it is told, for the tests of downloads."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WAIT_SECONDS = 30.0


class FileServer(ThreadingHTTPServer):
    """Serves `files` by path, with byte ranges. Each request takes the next act of `script`, if there is one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.script: deque[Callable[[Handler], None]] = deque()
        self.requests: list[tuple[str, str | None]] = []
        """Path and Range of each request so far."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def ranges(self) -> list[str | None]:
        return [asked for _, asked in self.requests]


class Handler(BaseHTTPRequestHandler):
    server: FileServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["Range"]))
        try:
            (self.server.script.popleft() if self.server.script else serve)(self)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    @property
    def body(self) -> bytes:
        return self.server.files[self.path]

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def begin(self) -> bytes:
        """Answer as it should be; give what is still to be written."""
        if self.path not in self.server.files:
            self.head(404, Content_Length=0)
            return b""
        asked = self.headers["Range"]
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start >= len(self.body):
            self.head(416, Content_Length=0, Content_Range=f"bytes */{len(self.body)}")
            return b""
        rest = self.body[start:]
        if asked:
            span = f"bytes {start}-{len(self.body) - 1}/{len(self.body)}"
            self.head(206, Content_Length=len(rest), Content_Range=span)
        else:
            self.head(200, Content_Length=len(rest))
        return rest


def serve(handler: Handler) -> None:
    handler.wfile.write(handler.begin())


def ignore_range(handler: Handler) -> None:
    del handler.headers["Range"]
    serve(handler)


def another_range(handler: Handler) -> None:
    """Answer with the file's first half, whatever was asked for."""
    half = handler.body[: len(handler.body) // 2]
    span = f"bytes 0-{len(half) - 1}/{len(handler.body)}"
    handler.head(206, Content_Length=len(half), Content_Range=span)
    handler.wfile.write(half)


def status(code: int, **headers: object) -> Callable[[Handler], None]:
    return lambda handler: handler.head(code, **{"Content_Length": 0, **headers})


def page(handler: Handler) -> None:
    text = b"<html>please log in</html>"
    handler.head(200, Content_Type="text/html; charset=utf-8", Content_Length=len(text))
    handler.wfile.write(text)


def cut_after(count: int, arrived: threading.Event) -> Callable[[Handler], None]:
    """Close the connection `count` bytes into the answer, once the client has them."""

    def act(handler: Handler) -> None:
        handler.wfile.write(handler.begin()[:count])
        assert arrived.wait(WAIT_SECONDS)
        arrived.clear()
        handler.close_connection = True

    return act


def pause_after(count: int, go_on: threading.Event) -> Callable[[Handler], None]:
    """Be silent `count` bytes into the answer until `go_on` is set."""

    def act(handler: Handler) -> None:
        rest = handler.begin()
        handler.wfile.write(rest[:count])
        assert go_on.wait(WAIT_SECONDS)
        handler.wfile.write(rest[count:])

    return act


def unmeasured(data: bytes) -> Callable[[Handler], None]:
    """Send `data` without saying how long it is; the end of the connection is its end."""

    def act(handler: Handler) -> None:
        handler.head(200, Connection="close")
        handler.wfile.write(data)
        handler.close_connection = True

    return act


@contextmanager
def file_server() -> Iterator[FileServer]:
    with FileServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
