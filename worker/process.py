"""The worker's life: load an engine, say so, then serve whichever front the supervisor connects."""

from __future__ import annotations

import logging
import os
import socket
import time
from typing import NoReturn

from setproctitle import setproctitle

from shm.control import ControlSocket
from shm.frames import BrokenChannel
from shm.lifeline import die_with_supervisor, leave_ending_to_supervisor
from shm.messages import BootFailure, Connect, Drain, Ready
from worker.channel import Channel
from worker.engine import Engine, EngineUnavailable
from worker.select import choose
from worker.settings import WorkerSettings

log = logging.getLogger(__name__)


def run(control_end: socket.socket, lifeline: int, generation: int, settings: WorkerSettings) -> NoReturn:
    """Be worker `generation` until the supervisor says `Drain` or is gone."""
    setproctitle(f"kokoro-live: worker[{generation}]")
    die_with_supervisor(lifeline)
    leave_ending_to_supervisor()
    control = ControlSocket(control_end)
    started = time.monotonic()
    try:
        engine = choose(settings)
        engine.warm_up()
    except EngineUnavailable as error:
        control.send(BootFailure("engine", str(error)))
        _end(1)
    control.send(Ready(engine.info, time.monotonic() - started))
    _serve(control, engine)


def _serve(control: ControlSocket, engine: Engine) -> NoReturn:
    channel: Channel | None = None
    try:
        while True:
            for message, fds in control.receive():
                match message:
                    case Connect():
                        if channel is not None:
                            channel.close()
                        channel = Channel(message, fds, engine)
                    case Drain():
                        _end(0)
    except BrokenChannel:
        _end(1)


def _end(status: int) -> NoReturn:
    """Exit without finalisers: native threads of an engine may be in the middle of a run that nobody wants."""
    logging.shutdown()
    os._exit(status)
