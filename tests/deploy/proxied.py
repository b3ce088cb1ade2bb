"""Three servers behind a proxy that is configured by the recipe in deploy/proxies, on ports of the test's own."""

import contextlib
import http.client
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.ports import lasting_port
from tests.system.server import DEADLINE, Server, server

RECIPES = Path(__file__).parents[2] / "deploy" / "proxies"
PORTS = ("8881", "8882", "8883")
"""The servers' ports in the recipes; 8880 is the proxy's own."""


def _nginx(recipe: str, folder: Path) -> list[str]:
    (folder / "recipe.conf").write_text(recipe)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    head = f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
    http = f"http {{\naccess_log off;\n{temporary}include recipe.conf;\n}}\n"
    (folder / "nginx.conf").write_text(head + http)
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off; master_process off;"]


def _haproxy(recipe: str, folder: Path) -> list[str]:
    (folder / "haproxy.cfg").write_text(recipe)
    return ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")]


RECIPE = {"nginx": ("nginx.conf", _nginx), "haproxy": ("haproxy.cfg", _haproxy)}


def missing(name: str) -> bool:
    return shutil.which(name) is None


class Proxied:
    """The proxy's port and the servers behind it, each on a port that outlives it."""

    def __init__(self, stack: contextlib.ExitStack, arguments: Sequence[Sequence[str]]) -> None:
        self._stack = stack
        self.ports = [lasting_port() for _ in arguments]
        self._arguments = arguments
        self.servers: list[Server] = [self._start(number) for number in range(len(arguments))]
        self.port = lasting_port()

    def _start(self, number: int) -> Server:
        return self._stack.enter_context(server("--port", str(self.ports[number]), *self._arguments[number]))

    def restart(self, number: int) -> None:
        """Stop a server as a service manager does, and start it again once its streams have ended."""
        assert self.servers[number].stop() == 0
        self.servers[number] = self._start(number)

    def run(self, name: str) -> None:
        """Start the proxy, and wait until it passes requests on."""
        file, command = RECIPE[name]
        recipe = (RECIPES / file).read_text()
        for ours, theirs in zip((*self.ports, self.port), (*PORTS, "8880"), strict=True):
            recipe = re.sub(rf"\b{theirs}\b", str(ours), recipe)
        recipe = recipe.replace(f"listen {self.port}", f"listen 127.0.0.1:{self.port}")
        recipe = recipe.replace(f"bind :{self.port}", f"bind 127.0.0.1:{self.port}")
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        process = subprocess.Popen(command(recipe, folder), stderr=subprocess.PIPE, text=True)
        self._stack.callback(_end, process)
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), contextlib.closing(self.connect()) as connection:
                connection.request("GET", "/ready")
                if connection.getresponse().status == 200:
                    return
            with contextlib.suppress(subprocess.TimeoutExpired):  # a proxy doesn't say when it listens
                process.wait(0.1)
                raise AssertionError(process.stderr and process.stderr.read())
        raise TimeoutError(name)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)

    @contextlib.contextmanager
    def speech(self, text: str, port: int | None = None) -> Iterator[http.client.HTTPResponse]:
        """Ask for speech through the proxy, or at a server's own port; the response is closed at the end."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=DEADLINE)
        with contextlib.closing(connection):
            body = json.dumps({"input": text, "response_format": "pcm"})
            connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
            yield connection.getresponse()


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(DEADLINE)
    assert process.stderr
    process.stderr.close()


@contextlib.contextmanager
def proxied(name: str, arguments: Sequence[Sequence[str]]) -> Iterator[Proxied]:
    """Servers with these arguments behind that proxy."""
    with contextlib.ExitStack() as stack:
        behind = Proxied(stack, arguments)
        behind.run(name)
        yield behind
