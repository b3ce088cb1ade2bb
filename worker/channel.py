"""The worker's end of a channel: orders come in, commits go out, blocks are written to the arena."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable
from typing import Protocol

import msgspec

from shm.frames import HEADER_BYTES, BrokenChannel, FrameReader, FrameWriter
from shm.killpoint import killpoint
from shm.messages import MAX_COMMIT_BYTES, Commit, CommitMessage, Connect, Forget, Quit, decode_order, encode
from shm.ring import Arena
from worker.engine import Engine, ProviderUnavailable
from worker.workbench import Workbench

log = logging.getLogger(__name__)


class ChannelHost(Protocol):
    """A channel's view of the worker that it belongs to."""

    def provider_failed(self, error: ProviderUnavailable) -> None:
        """End this process: the execution provider doesn't work any more, so no segment can be made."""
        ...

    def stream_ended(self) -> None:
        """Note that the front (frontend process) has ended a stream."""
        ...

    def sealed(self) -> None:
        """Note that a block was committed."""
        ...


class Channel:
    """One front's conversation with this worker. The channel ends with that front; the worker keeps its model for the
    next one.

    The channel is kept alive by its own threads: the thread that reads orders ends it when the front is gone.
    """

    def __init__(self, connect: Connect, fds: list[int], engine: Engine, host: ChannelHost) -> None:
        """Take over the descriptors (orders pipe's read end, commits pipe's write end, arena) and start work."""
        orders, commits, memory = fds
        self.open = True
        self._generation = connect.generation
        self._host = host
        self._orders = FrameReader(orders)
        self._commits = FrameWriter(commits)
        arena = Arena(memory, connect.rings, connect.ring_samples)
        os.close(memory)  # the mapping stays
        self._bench = Workbench(engine, connect.generation, arena, self._send, host.provider_failed)
        self._start(self._read_orders, "orders")
        for thread in range(self._bench.threads):
            self._start(self._bench.run_inference, f"inference-{thread}")

    def quit(self) -> None:
        """Tell the front that this worker ends and that no segment is to blame."""
        self._bench.close()
        self._send(Quit(self._generation))

    def _start(self, target: Callable[[], None], name: str) -> None:
        threading.Thread(target=target, name=name, daemon=True).start()

    def _send(self, message: CommitMessage) -> None:
        payload = encode(message)
        assert len(payload) + HEADER_BYTES <= MAX_COMMIT_BYTES, message
        # A front that is gone has also closed the orders pipe, whose reader closes the workbench.
        with contextlib.suppress(BrokenChannel):
            self._commits.write_frame(payload)
            if isinstance(message, Commit):
                self._host.sealed()

    def _read_orders(self) -> None:
        try:
            while True:
                for payload in self._orders.receive():
                    message = decode_order(payload)
                    killpoint(f"{message.__struct_config__.tag}-read")
                    self._bench.handle(message)
                    if isinstance(message, Forget):
                        self._host.stream_ended()
        except BrokenChannel as end:
            log.info("the front's channel ended: %s", end)
        except (msgspec.MsgspecError, ValueError):
            # The front notices that a worker closed its channel, and asks the supervisor for another one.
            log.exception("the front sent nonsense")
        finally:
            self.open = False
            self._bench.close()
            # A closed workbench sends nothing more, so no thread can write into a reused descriptor.
            self._orders.close()
            self._commits.close()
