"""Pairs of a front and a worker that share a channel, until the front has released the worker."""

from __future__ import annotations

from shm.messages import Connect, Disconnect
from supervisor.processes.channels import channel
from supervisor.processes.fronts import Fronts
from supervisor.processes.incarnation import Incarnation
from supervisor.settings.supervisor import SupervisorSettings


class Joints:
    """Pairs of a front's generation and a worker's. Each pair has its own channel."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts) -> None:
        self._rings, self._samples = settings.rings, settings.ring_samples
        self._fronts = fronts
        self._leaving: dict[tuple[int, int], bool] = {}
        """For each pair, true if the front was told that the worker drains."""

    def join(self, front: Incarnation, worker: Incarnation, slot: int) -> None:
        """Give the two processes a channel, unless they have one.

        Raises:
            shm.memory.NoMemory: the channel's arena can't be reserved.
        """
        pair = (front.generation, worker.generation)
        if pair in self._leaving:
            return
        assert worker.ready is not None
        self._leaving[pair] = False
        with channel(self._rings, self._samples) as ends:
            worker.send(Connect(worker.generation, self._rings, self._samples), ends.worker)
            told = Connect(worker.generation, self._rings, self._samples, worker.ready.engine, slot)
            self._fronts.send(front, told, ends.front)

    def drain(self, worker: Incarnation) -> bool:
        """Tell the fronts to send the worker no new segments; returns True if every front has released it."""
        for pair in self._of(worker.generation):
            if not self._leaving[pair]:
                self._leaving[pair] = True
                self._fronts.tell(pair[0], Disconnect(worker.generation, draining=True))
        return not self._of(worker.generation)

    def idle(self, front: int, worker: int) -> None:
        """Note a front's message that it has no work left at the draining worker."""
        if self._leaving.get((front, worker)):
            del self._leaving[front, worker]

    def gone(self, child: Incarnation) -> None:
        """Note that a process has ended, and tell the fronts that were joined to it."""
        for pair in [pair for pair in self._leaving if child.generation in pair]:
            del self._leaving[pair]
            if child.role == "worker":
                self._fronts.tell(pair[0], Disconnect(child.generation))

    def _of(self, worker: int) -> list[tuple[int, int]]:
        return [pair for pair in self._leaving if pair[1] == worker]
