"""The clients as the page shows them: what `kokoro-live connect` would change, without a look at the user's files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from frontend.http.clients import ClientRow, KnownClient
from supervisor.connect.changes import USUAL_WYOMING_PORT, Asked, ShownLines
from supervisor.connect.clients import CLIENTS
from supervisor.connect.files import FileEdit


def known_clients(
    wyoming: tuple[str, int | None], here: str, url: str, key: str | None, voice: str
) -> Iterator[KnownClient]:
    """All rows.

    Args:
        wyoming: host and port of the server's Wyoming service; without a port, the one that `connect` would open.
        here: the server's address on its machine.
        url: its address as the clients see it.
    """
    home = Path.home()
    port = wyoming[1] or USUAL_WYOMING_PORT
    asked = Asked(here, url, key, voice, None, (wyoming[0], port), os.environ, home)
    for client in CLIENTS:
        change = client.change(asked)
        words = lines = ""
        if isinstance(change, ShownLines):
            words, lines = change.words, change.lines
        elif isinstance(change, FileEdit):
            path = change.path
            words = f"In {Path('~', path.relative_to(home)) if path.is_relative_to(home) else path}"
            lines = change.entry.strip("\n")
        command = f"kokoro-live connect {client.name}" + (f" --address {url}" if url != here else "")
        yield KnownClient(
            ClientRow(client.name, client.title, command, words, lines, client.then, client.way), client.calls
        )
