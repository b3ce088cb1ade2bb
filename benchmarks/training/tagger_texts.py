"""English texts whose licences let anyone train on them, read from the files of Debian's packages.

| package | text | licence |
|---|---|---|
| Debian `wordnet-base` | WordNet's definitions and example sentences | WordNet's, permissive |
| Debian `sword-text-web` | World English Bible | public domain |
| Debian `fortunes` | quotations and jokes | BSD |
| Debian `python3.11-doc` | tutorials and reference of Python | PSF |
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

_EXAMPLE = re.compile(r'"([^"]+)"')
_NOTES = re.compile(r"<(note|title|rdg)\b[^>]*>.*?</\1>", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?”’]) (?=[A-Z“‘])")
_TAGS = re.compile(r"<[^>]*>")
_FORTUNES = ("fortunes", "literature", "wisdom", "science", "people", "work", "kids", "men-women", "education", "love")
_ROLE = re.compile(r"(?::[\w:]+:)?`~?([^`<]*?)(?: <[^>`]*>)?`_{0,2}")
_CODE = re.compile(r"[{}<>\[\]|=_*\\]|::|--|\.\. ")
_BLOCK_BYTES = 12
"""Bytes of one entry of a SWORD module's index: a block's offset, packed size and size, four bytes each."""


def texts(root: Path) -> Iterator[str]:
    """Paragraphs of all four sources, one after another.

    Args:
        root: the folder into which Debian's packages were unpacked (`dpkg -x FILE.deb ROOT`), or `/`.

    Raises:
        FileNotFoundError: a package isn't unpacked there.
    """
    wordnet, games = root / "usr/share/wordnet", root / "usr/share/games/fortunes"
    python = root / "usr/share/doc/python3.11/html/_sources"
    bible = next((root / "usr/share/sword/modules/texts/ztext").glob("engWEB*"), None)
    if bible is None or not all(folder.is_dir() for folder in (wordnet, games, python)):
        raise FileNotFoundError(f"wordnet-base, sword-text-web, fortunes and python3.11-doc must be unpacked in {root}")
    yield from chain(_wordnet(wordnet), _bible(bible), _fortunes(games), _python_docs(python))


def _wordnet(folder: Path) -> Iterator[str]:
    for name in ("data.adj", "data.adv", "data.noun", "data.verb"):
        for line in (folder / name).read_text(encoding="ascii", errors="ignore").splitlines():
            gloss = line.partition("| ")[2].strip()
            yield from _EXAMPLE.findall(gloss)
            yield from filter(None, (part.strip() for part in _EXAMPLE.sub("", gloss).split(";")))


def _bible(folder: Path) -> Iterator[str]:
    for testament in ("ot", "nt"):
        index = (folder / f"{testament}.bzs").read_bytes()
        packed = (folder / f"{testament}.bzz").read_bytes()
        for entry in range(0, len(index), _BLOCK_BYTES):
            start, size = (int.from_bytes(index[entry + at : entry + at + 4], "little") for at in (0, 4))
            book = zlib.decompress(packed[start : start + size]).decode("utf-8", errors="ignore").replace("\0", "\n")
            text = " ".join(_TAGS.sub(" ", _NOTES.sub(" ", book)).split())
            yield from _SENTENCE_END.split(text)


def _fortunes(folder: Path) -> Iterator[str]:
    for name in _FORTUNES:
        file = folder / name
        for quotation in file.read_text(encoding="utf-8", errors="ignore").split("\n%\n") if file.is_file() else ():
            said, _, _ = quotation.partition("\n\t\t")
            yield " ".join(said.split())


def _python_docs(folder: Path) -> Iterator[str]:
    """Prose of reStructuredText sources: paragraphs without code, with the names of roles and their markup removed."""
    for file in sorted(folder.rglob("*.rst.txt")):
        for paragraph in file.read_text(encoding="utf-8").split("\n\n"):
            if not paragraph.startswith(("..", " ", "\t", "=", "*")) and "\n=" not in paragraph:
                joined = _ROLE.sub(r"\1", " ".join(paragraph.replace("``", "").split())).replace("*", "")
                if not _CODE.search(joined):
                    yield joined
