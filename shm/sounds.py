"""Sounds in memory that outlives a front: what was made of each segment, whole or not.

The supervisor reserves the memory once and gives it to each front. One front at a time writes there:

  | writer, 8 bytes | rows in use, 8 | row 0, 2 copies of 2 KiB | row 1 | ...  | page 0, 16 KiB | page 1 | ...

A row (`SoundRow`) says which pages hold a sound, and the CRC of its samples. Samples are written before the row that
counts them, and a row that loses its pages is cleared before another sound gets them: a front that is killed at any
store leaves each sound as it was before or after the step, or no sound.

A front that begins to serve becomes the writer. The one before it, if it lives, then writes nothing more, and checks
what it reads. The memory is sparse: only pages that were written take any.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterable

import msgspec
import numpy as np

from shm.audio import SAMPLE_BYTES, Pcm
from shm.decoding import msgpack_decoder
from shm.memory import HEAD_BYTES, copy_of, newest
from shm.timing import Mark, pack_marks, unpack_marks

PAGE = 1 << 14
ROWS = 1 << 13
"""Sounds at a time."""

_COPY = 2048
_ROWS_AT = 4096
_NUMBER = struct.Struct("<Q")
_WRITER_AT, _IN_USE_AT = 0, 8

MAX_PAGES = (_COPY - HEAD_BYTES - 128) // 5
"""Pages of one sound's samples: the number of one takes up to 5 bytes."""

_MAX_MARK_PAGES = 2


class SoundRow(msgspec.Struct, array_like=True, frozen=True):
    """One sound. Without a key, the row is free."""

    key: bytes = b""
    own: bool = False
    """True if it is for one text only, until that is whole."""
    whole: bool = False
    samples: int = 0
    crc32: int = 0
    pages: tuple[int, ...] = ()
    marks: int = 0
    """Bytes of packed marks."""
    marks_crc32: int = 0
    mark_pages: tuple[int, ...] = ()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgpack_decoder(SoundRow)


class Sound(msgspec.Struct):
    """A sound, as the writer knows it. `number`: its row's."""

    number: int
    generation: int
    row: SoundRow
    checked: bool = True
    """False until the samples that another front has written were compared with their CRC."""
    kept: bool = True
    """False once its pages are another sound's."""

    @property
    def bytes(self) -> int:
        return max(len(self.row.pages) + len(self.row.mark_pages), 1) * PAGE


def memory_bytes(max_bytes: int, rows: int = ROWS) -> int:
    """The size of a memory that holds `max_bytes` of sounds."""
    return _row_at(rows) + -(-max_bytes // PAGE) * PAGE


class Sounds:
    """The sounds of one memory. Those that anybody may have take at most `public_bytes`; all of them the whole memory.
    The least recently used one is dropped first.

    Call `take_over` before the first use.
    """

    def __init__(self, memory: mmap.mmap | bytearray, public_bytes: int, rows: int = ROWS) -> None:
        self._memory = memory
        self._public_bytes = public_bytes
        self._rows = rows
        self._pages_at = _row_at(rows)
        self._pages = (len(memory) - self._pages_at) // PAGE
        self._writer = -1
        self._rows_in_use = 0
        self._free_rows: list[int] = []
        self._free: list[int] = []
        self._public: OrderedDict[bytes, Sound] = OrderedDict()
        self._own: OrderedDict[bytes, Sound] = OrderedDict()
        self.bytes = 0
        """Bytes that the sounds take which anybody may have."""

    @classmethod
    def of(cls, fd: int, public_bytes: int, own_bytes: int) -> Sounds:
        """The sounds of a memory that fronts share, enlarged if it is too small.

        Raises:
            OSError: there is no such memory.
        """
        size = memory_bytes(public_bytes + own_bytes)
        if os.fstat(fd).st_size < size:
            os.ftruncate(fd, size)
        return cls(mmap.mmap(fd, size), public_bytes)

    def take_over(self) -> None:
        """Become the writer, and learn what the one before has left."""
        self._writer = self._number(_WRITER_AT) + 1
        self._store(_WRITER_AT, _NUMBER.pack(self._writer))
        self._rows_in_use = min(self._number(_IN_USE_AT), self._rows)
        self._free_rows, used = [], set[int]()
        self._public.clear()
        self._own.clear()
        for number in reversed(range(self._rows_in_use)):
            generation, payload = newest(self._memory, _row_at(number), _COPY)
            row = _decode(payload) if payload else SoundRow()
            pages = {*row.pages, *row.mark_pages}
            if not row.key or max(pages, default=0) >= self._pages or pages & used:
                self._free_rows.append(number)
                continue
            used |= pages
            (self._own if row.own else self._public)[row.key] = Sound(number, generation, row, checked=False)
        self._free = [page for page in reversed(range(self._pages)) if page not in used]
        self.bytes = sum(sound.bytes for sound in self._public.values())
        self._keep_bound(0)

    @property
    def strangers(self) -> tuple[bytes, ...]:
        """The keys of the sounds that another front has kept for one text, and that no text has taken."""
        return tuple(key for key, sound in self._own.items() if not sound.checked)

    # -- reading

    def get(self, key: bytes) -> tuple[Pcm, tuple[Mark, ...], Sound] | None:
        """The samples of a sound, and its marks; None if there is none."""
        sounds = self._public if key in self._public else self._own
        if (sound := sounds.get(key)) is None:
            return None
        sounds.move_to_end(key)
        row = sound.row
        pcm = self._gathered(row.pages, row.samples * SAMPLE_BYTES)
        packed = self._gathered(row.mark_pages, row.marks)
        if not (sound.checked and self._is_writer):
            if zlib.crc32(pcm) != row.crc32 or zlib.crc32(packed) != row.marks_crc32:
                self.drop(sound)
                return None
            sound.checked = True
        return np.frombuffer(pcm, np.int16), tuple(unpack_marks(bytes(packed))), sound

    def _gathered(self, pages: Iterable[int], length: int) -> bytearray:
        found = bytearray(length)
        for place, page in enumerate(pages):
            start, at = place * PAGE, self._pages_at + page * PAGE
            end = min(start + PAGE, length)
            if end > start:
                found[start:end] = self._memory[at : at + end - start]
        return found

    # -- writing

    def begin(self, key: bytes) -> Sound | None:
        """A sound for one text, without samples; None if there is no room for it."""
        if not self._is_writer or (number := self._free_row()) is None:
            return None
        if old := self._own.get(key):
            self.drop(old)
        generation, _ = newest(self._memory, _row_at(number), _COPY)
        self._own[key] = sound = Sound(number, generation, SoundRow(key, own=True))
        return sound

    def append(self, sound: Sound, samples: Pcm) -> None:
        """Add samples. A sound that finds no room for them is dropped."""
        if not (sound.kept and self._is_writer):
            return
        row = sound.row
        data = samples.astype("<i2", copy=False).tobytes()
        start = row.samples * SAMPLE_BYTES
        pages = self._allot(sound, row.pages, start + len(data), MAX_PAGES)
        if pages is None:
            self.drop(sound)
            return
        written = 0
        while written < len(data):
            place, within = divmod(start + written, PAGE)
            part = data[written : written + PAGE - within]
            self._store(self._pages_at + pages[place] * PAGE + within, part)
            written += len(part)
        self._commit(
            sound,
            msgspec.structs.replace(
                row, samples=row.samples + len(samples), crc32=zlib.crc32(data, row.crc32), pages=pages
            ),
        )

    def mark(self, sound: Sound, marks: Iterable[Mark]) -> None:
        """Replace the marks."""
        if not (sound.kept and self._is_writer):
            return
        packed = pack_marks(tuple(marks))
        old = sound.row.mark_pages
        pages = self._allot(sound, (), len(packed), _MAX_MARK_PAGES)
        if pages is None:
            self.drop(sound)
            return
        for place, page in enumerate(pages):
            self._store(self._pages_at + page * PAGE, packed[place * PAGE : (place + 1) * PAGE])
        self._commit(
            sound,
            msgspec.structs.replace(sound.row, marks=len(packed), marks_crc32=zlib.crc32(packed), mark_pages=pages),
        )
        self._free += old

    def finish(self, sound: Sound, public: bytes | None) -> None:
        """Note that the sound is whole.

        Args:
            public: the key under which anybody may have it; None: it stays its text's.
        """
        if not (sound.kept and self._is_writer):
            return
        row = msgspec.structs.replace(sound.row, whole=True)
        if public is None or sound.bytes > self._public_bytes:
            self._commit(sound, row)
            return
        if old := self._public.get(public):
            self.drop(old)
        self._keep_bound(sound.bytes)
        self._own.pop(row.key)
        self._public[public] = sound
        self.bytes += sound.bytes
        self._commit(sound, msgspec.structs.replace(row, key=public, own=False))

    def drop(self, sound: Sound) -> None:
        """Forget a sound. Idempotent."""
        if not sound.kept:
            return
        sound.kept = False
        row = sound.row
        if row.own:
            self._own.pop(row.key, None)
        else:
            self._public.pop(row.key, None)
            self.bytes -= sound.bytes
        if self._is_writer:
            self._commit(sound, SoundRow())
            self._free_rows.append(sound.number)
            self._free += (*row.pages, *row.mark_pages)

    def drop_key(self, key: bytes) -> None:
        """Forget one text's sound of that key, if there is one."""
        if sound := self._own.get(key):
            self.drop(sound)

    def __len__(self) -> int:
        return len(self._public)

    def _keep_bound(self, more: int) -> None:
        while self.bytes + more > self._public_bytes:
            self.drop(next(iter(self._public.values())))

    def _free_row(self) -> int | None:
        if not self._free_rows and self._rows_in_use < self._rows:
            self._rows_in_use += 1
            self._store(_IN_USE_AT, _NUMBER.pack(self._rows_in_use))
            return self._rows_in_use - 1
        if not self._free_rows:
            self._drop_oldest(None)
        return self._free_rows.pop() if self._free_rows else None

    def _allot(self, sound: Sound, pages: tuple[int, ...], length: int, most: int) -> tuple[int, ...] | None:
        """Pages for that many bytes, the given ones first; None if there aren't as many, or they are more than
        `most`."""
        wanted = -(-length // PAGE)
        if wanted > most:
            return None
        while len(self._free) < wanted - len(pages):
            if not self._drop_oldest(sound):
                return None
        return (*pages, *(self._free.pop() for _ in range(wanted - len(pages))))

    def _drop_oldest(self, wanted: Sound | None) -> bool:
        """Drop the sound that was used longest ago, another text's first; returns False if there is none."""
        for sounds in (self._own, self._public):
            for sound in sounds.values():
                if sound is not wanted:
                    self.drop(sound)
                    return True
        return False

    @property
    def _is_writer(self) -> bool:
        return self._number(_WRITER_AT) == self._writer

    def _commit(self, sound: Sound, row: SoundRow) -> None:
        sound.row = row
        sound.generation += 1
        at, copy = copy_of(sound.generation, _encode(row), _COPY)
        self._store(_row_at(sound.number) + at, copy)

    def _number(self, at: int) -> int:
        return int(_NUMBER.unpack_from(self._memory, at)[0])

    def _store(self, at: int, data: bytes | memoryview) -> None:
        self._memory[at : at + len(data)] = data


def _row_at(number: int) -> int:
    return _ROWS_AT + number * 2 * _COPY
