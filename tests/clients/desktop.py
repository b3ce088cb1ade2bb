"""Speech Dispatcher with our module, as a desktop starts it, and a client of it as screen readers are."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from click.testing import CliRunner

from supervisor.commands.install import install_speechd
from tests.system.server import DEADLINE, ROOT
from tests.system.sound_card import SoundCard


class Client:
    def __init__(self, lines: TextIO) -> None:
        self._lines = lines

    def send(self, *commands: str) -> None:
        self._lines.write("".join(f"{command}\r\n" for command in commands))
        self._lines.flush()

    def until(self, last: str) -> list[str]:
        found: list[str] = []
        while last not in found:
            line = self._lines.readline()
            assert line, found
            found.append(line.strip())
        return found


class Desktop:
    """A user with a home, a sound card and a Speech Dispatcher of their own, without D-Bus."""

    def __init__(self, folder: Path, card: SoundCard, url: str) -> None:
        self.card = card
        self._runtime = folder / "run"
        self._runtime.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "KOKORO_", "DBUS_"))}
        self.environment = (
            kept
            | card.environment
            | {"HOME": str(folder), "XDG_RUNTIME_DIR": str(self._runtime), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        )
        installed = CliRunner().invoke(install_speechd, ["--url", url], env=self._for_click(folder))
        assert installed.exit_code == 0, installed.output
        self.log = self._runtime / "speech-dispatcher" / "log" / "kokoro.log"
        self._process = subprocess.Popen(
            ["speech-dispatcher", "--run-single", "--timeout", "0"],
            env=self.environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.wait_for(lambda: (self._runtime / "speech-dispatcher" / "speechd.sock").exists())

    @staticmethod
    def _for_click(folder: Path) -> dict[str, str | None]:
        return {"HOME": str(folder), "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None, "KOKORO_LIVE_URL": None}

    def wait_for(self, condition: Callable[[], bool]) -> None:
        limit = time.monotonic() + DEADLINE
        while not condition():
            assert self._process.poll() is None and time.monotonic() < limit
            time.sleep(0.02)

    def say(self, *arguments: str, wait: bool = True) -> str:
        """`spd-say`, until the text is spoken unless told otherwise."""
        return subprocess.run(
            ["spd-say", *(["--wait"] if wait else []), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=DEADLINE,
        ).stdout

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of Speech Dispatcher's own protocol that hears of all events."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(DEADLINE)
            connection.connect(str(self._runtime / "speech-dispatcher" / "speechd.sock"))
            with connection.makefile("rw", encoding="utf-8", newline="") as lines:
                client = Client(lines)
                client.send("SET SELF CLIENT_NAME me:test:main", "SET SELF NOTIFICATION ALL ON")
                yield client

    def close(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(DEADLINE)
