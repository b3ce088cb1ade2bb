"""States in which a power cut may leave the disk: a recorded run's changes, cut at each point, in legal orders.

The library (`shim.c`) records the changes. A file system keeps

- a file's bytes that were synced; of later ones any beginning, a torn last write, or lengths with zeros for bytes;
- a name (made, renamed, removed) whose folder was synced after it, or something below it; of later ones any beginning,
  in order. (POSIX asks that each folder's own name is synced too; ext4, XFS, btrfs and APFS don't.)
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

MAPPED = "-shm"
"""The end of the name of SQLite's index over its log: it is mapped, and made anew after a crash."""

_HEAD = struct.Struct("<cHHqq")

State = Mapping[str, bytes | None]
"""Files with their bytes, and folders (None), by their paths; parents before what is in them."""


class Change(NamedTuple):
    """One call: `c` made a file, `d` a folder, `r` renamed, `u` removed, `t` set a length, `a` at least set it, `w`
    wrote, `s` syncs."""

    letter: str
    path: str
    other: str
    at: int
    """The offset in the file at which `w` wrote, or the length in bytes that `t` and `a` set."""
    data: bytes


def read_log(file: Path) -> list[Change]:
    """The changes in the order of their calls; the file is gone afterwards."""
    log, at, changes = file.read_bytes(), 0, []
    while at < len(log):
        letter, path, other, where, size = _HEAD.unpack_from(log, at)
        at += _HEAD.size
        names = os.fsdecode(log[at : at + path]), os.fsdecode(log[at + path : at + path + other])
        at += path + other
        if not names[0].endswith(MAPPED):
            changes.append(Change(letter.decode(), *names, where, log[at : at + size]))
        at += size
    file.unlink()
    return changes


@dataclass(eq=False)
class _File:
    """One inode: the changes of its bytes, with their numbers."""

    first: bytes = b""
    changes: list[tuple[int, Change]] = field(default_factory=list)

    def content(self, upto: int, rule: str) -> bytes:
        """Its bytes on the disk, if the power fails before change `upto`."""
        held = [(number, change) for number, change in self.changes if number < upto]
        synced = max((number for number, change in held if change.letter == "s"), default=-1)
        later = [number for number, change in held if number > synced]
        found = bytearray(self.first)
        for number, change in held:
            if change.letter == "s" or (number > synced and rule == "none"):
                continue
            torn = rule == "torn" and later[-1:] == [number]
            data = change.data[: len(change.data) // 2] if torn else change.data
            if number > synced and rule == "zeros":
                data = bytes(len(data))
            if change.letter == "t":
                found[change.at :] = bytes(max(change.at - len(found), 0))
            else:
                end = change.at if change.letter == "a" else change.at + len(data)
                found.extend(bytes(max(end - len(found), 0)))
                if change.letter == "w":
                    found[change.at : end] = data
        return bytes(found)


RULES = ("all", "none", "torn", "zeros")
"""Fates of written bytes that weren't synced: all are kept, none are, the last write is kept by half (`torn`), or
lengths are kept with zeros for bytes."""


class Cut(NamedTuple):
    """The power fails before change `upto`; names before change `named` were kept, and all that were synced."""

    upto: int
    named: int
    rule: str


class Recording:
    """A run's changes, and the states of the disk that a power cut may leave."""

    def __init__(self, before: State, changes: Iterable[Change]) -> None:
        """`before`: what was on the disk at the beginning."""
        self._before: dict[str, _File | None] = {
            path: None if data is None else _File(data) for path, data in before.items()
        }
        self._changes: list[tuple[Change, _File | None]] = []
        self._syncs: dict[str, list[int]] = {}
        """Their numbers, by the folder."""
        names = dict(self._before)
        for number, change in enumerate(changes):
            if change.letter == "s" and names.get(change.path, self) is None:
                self._syncs.setdefault(change.path, []).append(number)
            file = _File() if change.letter == "c" else names.get(change.path)
            if file and change.letter in "wtas":
                file.changes.append((number, change))
            self._changes.append((change, file))
            _rename(names, change, file)

    def left(self, cut: Cut) -> State:
        """Returns the files and folders that the cut leaves on the disk."""
        upto, named, rule = cut
        names = dict(self._before)
        for number, (change, file) in enumerate(self._changes[:upto]):
            if number < named or any(number < synced < upto for synced in self._syncs_of(change)):
                _rename(names, change, file)
        reached: dict[str, bytes | None] = {}
        for path in sorted(names):
            if not reached or str(Path(path).parent) in reached:
                file = names[path]
                reached[path] = None if file is None else file.content(upto, rule)
        return reached

    def _syncs_of(self, change: Change) -> Iterator[int]:
        """Numbers of the syncs that keep its names."""
        name = Path(change.other or change.path)
        for folder, numbers in self._syncs.items():
            if name.parent == Path(folder) or name in (Path(folder), *Path(folder).parents):
                yield from numbers

    def cuts(self) -> list[Cut]:
        """Those that leave different states; the last one is after all changes, of which it keeps what was synced."""
        found: dict[int, Cut] = {}
        for upto in range(len(self._changes), -1, -1):
            for named in sorted({0, upto // 2, upto}):
                for rule in RULES:
                    cut = Cut(upto, named, rule)
                    found.setdefault(hash(tuple(self.left(cut).items())), cut)
        return sorted(found.values())

    def is_last(self, cut: Cut) -> bool:
        """True if the run had ended."""
        return cut.upto == len(self._changes)


def _rename(names: dict[str, _File | None], change: Change, file: _File | None) -> None:
    """Make a change of names."""
    match change.letter:
        case "c" | "d":
            names[change.path] = file if change.letter == "c" else None
        case "u":
            names.pop(change.path, None)
        case "r":
            for path in [each for each in names if each == change.path or each.startswith(change.path + "/")]:
                names[change.other + path[len(change.path) :]] = names.pop(path)


def on_disk(folder: Path) -> State:
    """Returns the state of a folder, itself included."""
    found = [folder, *(path for path in folder.rglob("*") if not path.name.endswith(MAPPED))]
    return {str(path): None if path.is_dir() else path.read_bytes() for path in sorted(found)}


def put(state: State) -> None:
    """Write a state where nothing is."""
    for path, data in state.items():
        if data is None:
            Path(path).mkdir(exist_ok=True)
        else:
            Path(path).write_bytes(data)
