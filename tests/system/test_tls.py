"""Clients over TLS: their answers are whole whichever front is killed, and they are no more local than they are."""

import asyncio
import base64
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import numpy as np
import pytest

from tests.lazy import Lazy
from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import DEADLINE, ROOT, Connection, Server, awaited, server

openai = Lazy("openai")


class SecureConnection(http.client.HTTPSConnection):
    speak = Connection.speak


def is_again(heard: bytes) -> bool:
    return bool(np.array_equal(np.frombuffer(heard, "<i2"), samples_of("Again.")))


class SecureServer:
    """A server as its clients over TLS see it."""

    def __init__(self, started: Server, folder: Path) -> None:
        self.plain = started
        self.port = int(started.logs(r"over TLS on https://127\.0\.0\.1:(\d+)")[1])
        self.authority = folder / "authority.pem"
        self.context = ssl.create_default_context(cafile=str(self.authority))

    def connect(self) -> SecureConnection:
        """A connection that is closed with the server, if not before."""
        connection = SecureConnection("localhost", self.port, context=self.context, timeout=DEADLINE)
        self.plain._connections.append(connection)  # type: ignore[arg-type]
        return connection

    def speak(self, **body: object) -> http.client.HTTPResponse:
        return self.connect().speak(body)  # type: ignore[misc,arg-type]

    def serial(self) -> int:
        """The serial number of the certificate that a client gets now."""
        connection = self.connect()
        connection.connect()
        found = connection.sock.getpeercert()  # type: ignore[attr-defined]
        connection.close()
        return int(found["serialNumber"], 16)


def make(folder: Path) -> Path:
    """What `kokoro-live tls make` writes for a user whose settings are in that folder."""
    command = [sys.executable, "-m", "supervisor", "tls", "make", "tts.example"]
    environment = os.environ | {"XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    told = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    (made,) = folder.rglob("tls")
    assert all(f"{variable}={made}" in told for variable in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"))
    assert "tts.example" in told and (made / "key.pem").stat().st_mode & 0o777 == 0o600
    assert {file.name for file in made.iterdir()} == {"authority.pem", "authorities.pem", "certificate.pem", "key.pem"}
    return made


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def secure(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureServer]:
    files = ("--tls-cert", str(certificate / "certificate.pem"), "--tls-key", str(certificate / "key.pem"))
    with server(*miniature_arguments(tmp_path_factory.mktemp("models")), "--tls-port", "0", *files) as started:
        yield SecureServer(started, certificate)
        assert not [line for line in started.log if "Unhandled" in line], "also of clients that leave at once"


def test_a_killed_front_costs_a_client_over_tls_no_byte(secure: SecureServer) -> None:
    listener = Listener(secure, LONG, held=True)  # type: ignore[arg-type]
    before, victim = len(secure.plain.log), secure.plain.child("front").pid
    os.kill(victim, signal.SIGKILL)
    following = secure.plain.logs(r"started front\[\d+\], pid (\d+)", before)
    os.kill(int(following[1]), signal.SIGKILL)  # it may have taken the connection over, or not yet
    assert listener.heard_all()


def test_what_its_own_death_cuts_is_seen_to_be_cut_and_the_next_one_serves(secure: SecureServer) -> None:
    before = len(secure.plain.log)
    cut, other = Listener(secure, LONG, held=True), Listener(secure.plain, LONG, held=True)  # type: ignore[arg-type]
    os.kill(secure.plain.child("tls").pid, signal.SIGKILL)
    assert cut.was_cut()
    secure.plain.logs(r"started tls\[", before)
    assert is_again(secure.speak(input="Again.", response_format="pcm").read())
    assert other.heard_all()


def test_an_update_costs_a_client_over_tls_no_byte(secure: SecureServer) -> None:
    listener, earlier = Listener(secure, LONG, held=True), secure.plain.child("tls")  # type: ignore[arg-type]
    secure.plain.process.send_signal(signal.SIGUSR2)
    secure.plain.announced()
    following = Listener(secure, LONG, held=True)  # type: ignore[arg-type] # by the earlier one if that accepts still
    assert earlier.is_running(), "an answer goes through it"
    assert listener.heard_all() and following.heard_all()
    awaited(earlier.is_running, lambda running: not running)
    assert is_again(secure.speak(input="Again.", response_format="pcm").read())


def test_a_client_that_leaves_ends_its_speech(secure: SecureServer) -> None:
    connection = secure.connect()
    connection.speak({"input": LONG, "response_format": "pcm"}).read(4800)  # type: ignore[misc,arg-type]
    secure.plain.await_streams(1)
    connection.sock.close()
    connection.close()
    secure.plain.await_streams(0)


def test_a_socket_over_tls_speaks(secure: SecureServer) -> None:
    async def heard() -> bytes:
        url = f"wss://localhost:{secure.port}/v1/text-to-speech/af_heart/stream-input?output_format=pcm_24000"
        async with aiohttp.ClientSession() as session, session.ws_connect(url, ssl=secure.context) as socket:
            for text in (" ", "Spoken over a socket. ", ""):
                await socket.send_json({"text": text})
            parts = [json.loads(message.data) async for message in socket]
            socket._writer.transport.abort()  # aiohttp leaves the end of TLS to later turns of the loop
            await asyncio.sleep(0)
        return b"".join(base64.b64decode(part["audio"]) for part in parts if part.get("audio"))

    said = np.frombuffer(asyncio.run(heard()), "<i2")
    assert np.array_equal(said, samples_of("Spoken over a socket."))


def test_openais_client_needs_the_authority_alone(secure: SecureServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secure.authority.with_name("authorities.pem")))
    with openai.OpenAI(base_url=f"https://localhost:{secure.port}/v1", api_key="none", max_retries=0) as client:
        heard = client.audio.speech.create(model="kokoro", voice="af_heart", input="Again.", response_format="pcm")
    assert is_again(heard.content)


def test_a_renewed_certificate_is_used_and_a_damaged_one_is_not(secure: SecureServer, tmp_path: Path) -> None:
    folder = secure.authority.parent
    first, other = secure.serial(), make(tmp_path)
    for file in ("certificate.pem", "key.pem"):
        shutil.copy(other / file, folder / file)
    secure.context.load_verify_locations(other / "authority.pem")
    second = secure.serial()
    assert second != first
    (folder / "certificate.pem").write_text("damaged")
    assert secure.serial() == second
    secure.plain.logs(r"ERROR: the certificate stays as it was: .*certificate\.pem")
