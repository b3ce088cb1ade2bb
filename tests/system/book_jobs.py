"""A client of /v1/jobs, for tests of a whole server."""

import contextlib
import json
import uuid
from pathlib import Path
from typing import Any

from tests.system.server import DEADLINE, Server, awaited

PATIENCE = 2 * DEADLINE
"""Seconds that a book may take on a busy machine."""


def upload(to: Server, file: Path | bytes, name: str = "", **fields: str) -> tuple[int, Any]:
    data = file if isinstance(file, bytes) else file.read_bytes()
    name = name or (file.name if isinstance(file, Path) else "book.md")
    body, kind = multipart({**fields, "file": (name, data)})
    with contextlib.closing(to.connect()) as connection:
        connection.request("POST", "/v1/jobs", body, {"Content-Type": kind})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def multipart(fields: dict[str, str | tuple[str, bytes]]) -> tuple[bytes, str]:
    """The body and its content type; a pair is a file's name and its bytes."""
    boundary = uuid.uuid4().hex
    parts = []
    for name, value in fields.items():
        head = f'Content-Disposition: form-data; name="{name}"'
        content = value if isinstance(value, tuple) else ("", value.encode())
        if content[0]:
            head += f'; filename="{content[0]}"\r\nContent-Type: application/octet-stream'
        parts.append(f"--{boundary}\r\n{head}\r\n\r\n".encode() + content[1] + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def accepted(to: Server, file: Path | bytes, name: str = "", **fields: str) -> str:
    """Upload a book that is taken; its job's id."""
    status, answer = upload(to, file, name, **fields)
    assert status == 202, answer
    identity: str = answer["id"]
    return identity


def job(of: Server, identity: str) -> dict[str, Any]:
    """The job as it is now. The call waits for a front that was killed a moment ago."""

    def look() -> tuple[int, Any]:
        with contextlib.suppress(OSError, ValueError):
            return of.get(f"/v1/jobs/{identity}")
        return 0, None

    found: dict[str, Any] = awaited(look, lambda answer: answer[0] == 200)[1]
    return found


def until(of: Server, identity: str, *states: str) -> dict[str, Any]:
    return awaited(lambda: job(of, identity), lambda found: found["state"] in states, PATIENCE)


def result(of: Server, identity: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and bytes of a finished book."""
    with contextlib.closing(of.connect()) as connection:
        connection.request("GET", f"/v1/jobs/{identity}/result", headers=headers or {})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()


def passages(folder: Path) -> int:
    return len(list(folder.rglob("*.spoken")))


def until_passages(folder: Path, count: int) -> None:
    """Wait until so many passages are kept."""
    awaited(lambda: passages(folder), lambda kept: kept >= count, PATIENCE)


def until_files(folder: Path, names: set[str]) -> None:
    """Wait until a folder has these files and no others."""
    awaited(lambda: {each.name for each in folder.iterdir()}, lambda found: found == names)
