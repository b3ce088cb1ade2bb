"""A two-way channel of frames over a socket pair, driven by an asyncio loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from shm.frames import BrokenChannel, FrameReader, FrameWriter

Incoming = TypeVar("Incoming")


class Duplex(Generic[Incoming]):
    """One end of the channel. Messages arrive whole and in order, as calls of `hear`; `gone` is called once if the
    other end ends."""

    def __init__(
        self,
        fd: int,
        decode: Callable[[bytes], Incoming],
        longest: int,
        hear: Callable[[Incoming], None],
        gone: Callable[[], None],
    ) -> None:
        """`fd`: this end of the socket pair, which the object then owns; `longest`: longest message in bytes."""
        os.set_blocking(fd, False)
        self._fd = fd
        self._decode = decode
        self._hear = hear
        self._gone = gone
        self._reader = FrameReader(fd, longest)
        self._writer = FrameWriter(fd)
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._loop.add_reader(fd, self._read)

    def send(self, payload: bytes) -> None:
        """Send a message now or as soon as there is room; a message to an end that is gone is dropped."""
        if not self._open:
            return
        try:
            self._writer.write_frame(payload)
        except BrokenChannel:
            self._end()
            return
        if self._writer.pending:
            self._loop.add_writer(self._fd, self._flush)

    def close(self) -> None:
        """Close this end, without a call of `gone`. Idempotent."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            os.close(self._fd)

    def _flush(self) -> None:
        try:
            self._writer.flush()
        except BrokenChannel:
            self._end()
            return
        if not self._writer.pending:
            self._loop.remove_writer(self._fd)

    def _read(self) -> None:
        try:
            for payload in self._reader.receive():
                self._hear(self._decode(payload))
        except (BrokenChannel, msgspec.MsgspecError):
            self._end()

    def _end(self) -> None:
        if self._open:
            self.close()
            self._gone()
