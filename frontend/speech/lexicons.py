"""The pronunciations that a request brings: its own, and those kept for its API key.

```
lexicons/DIGEST.tsv    lines of `text.lexicon`; DIGEST is of the key
```
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from aiohttp import web

from frontend.contract.errors import ApiError
from frontend.serving.gate import API_KEY
from frontend.speech.body import SpeechBody
from shm.atomic import write_whole
from shm.folders import state_folder
from text.lexicon import Entry, LexiconFile, line_of, read_entries

MOST = 1000
"""Most entries of a key's lexicon, as many as a request may bring: each request carries them to the next front."""


def pronunciations_of(request: web.Request, fields: SpeechBody) -> tuple[Entry, ...]:
    """Entries of the key's lexicon, then those of the request, which precede them.

    Raises:
        ApiError: 400, a word or its sounds are none.
    """
    lines = (f"{word}\t{said}" for word, said in (fields.pronunciations or {}).items())
    entries, problems = read_entries("\n".join(" ".join(line.split("\n")) for line in lines).encode())
    if problems:
        raise ApiError(400, f"`pronunciations`: {problems[0].reason}.", param="pronunciations", code="invalid_value")
    return (*entries_of_key(request), *entries)


def entries_of_key(request: web.Request) -> tuple[Entry, ...]:
    path = _path(request)
    return _file(path).current().entries if path is not None and path.exists() else ()


def lexicon_of_key(request: web.Request) -> Path:
    """The file of the key's lexicon, which may not exist yet.

    Raises:
        ApiError: 403, the request has no key.
    """
    if (path := _path(request)) is None:
        message = "A lexicon is kept for each API key: start the server with --api-key-file."
        raise ApiError(403, message, code="api_key_not_configured")
    return path


def write_entries(path: Path, entries: Sequence[Entry]) -> None:
    """Replace a key's lexicon.

    Raises:
        ApiError: 400, there are more than `MOST`.
        OSError: it can't be written.
    """
    if len(entries) > MOST:
        raise ApiError(400, f"The lexicon has {len(entries)} entries, more than {MOST}.", code="invalid_value")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, "".join(f"{line_of(entry)}\n" for entry in entries).encode())


def _path(request: web.Request) -> Path | None:
    digest: str = request.get(API_KEY, "")
    return state_folder() / "lexicons" / f"{digest[:32]}.tsv" if digest else None


@lru_cache(256)
def _file(path: Path) -> LexiconFile:
    return LexiconFile(path)
