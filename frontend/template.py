"""The process from which fronts are forked: it has imported and loaded what each of them needs, and serves nobody.

A fork takes a hundredth of a start's time, and shares the memory of what was loaded. It is safe, because this process
has one thread, which waits. Fronts become the supervisor's children (`supervisor/processes/spawning.py`).
"""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from setproctitle import setproctitle

from frontend.audio.encoding import load_codec
from frontend.audio.formats import FORMATS, output_of
from frontend.http.app import prepare_bodies
from frontend.process import FIRST_TEXT, Configuration
from shm.control import ControlSocket
from shm.frames import BrokenChannel
from shm.lifeline import ORPHANED, become_child
from shm.messages import Drain, Fork, Forked, Started
from text.apart import apart
from text.espeak import espeak
from text.g2p import G2P
from text.pipeline import configured_pipeline
from text.words.segment import Notation

_TITLE = "kokoro-live: template"

_PAUSE = 0.0005
"""Seconds between two looks whether a new front has its parent."""

Begin = Callable[[socket.socket, socket.socket, G2P], None]
"""Runs a front, with its ends of the control socket and of the channel for connections."""


class FrontTemplate:
    """Forks fronts as long as the supervisor lives."""

    def __init__(self, control_end: socket.socket, settings: Configuration, begin: Begin, *, english: bool) -> None:
        """`english`: the engine in use may take phonemes."""
        setproctitle(_TITLE)
        self._control = ControlSocket(control_end)
        self._supervisor = os.getppid()
        self._settings = settings
        self._begin = begin
        self._g2p = G2P()
        self._english = english and settings.text.g2p == "misaki"

    def serve(self) -> NoReturn:
        """Load everything, then follow the supervisor until it ends."""
        try:
            self._load()
            self._control.send(Started())
            while True:
                for message, fds in self._control.receive():
                    match message:
                        case Fork():
                            self._control.send(Forked(self._forked(fds)))
                            for fd in fds:
                                os.close(fd)
                        case Drain():
                            os._exit(0)
        except BrokenChannel:
            os._exit(ORPHANED)

    def _load(self) -> None:
        prepare_bodies(self._settings.front)
        for kind in FORMATS.values():
            load_codec(output_of(kind))
        if self._english:
            pipeline = configured_pipeline(self._g2p, self._settings.text, None, lambda *_: None)
            for text in (FIRST_TEXT, f"Ready. {'-' * 160}"):
                deque(pipeline.words(text, "en-us", Notation("phonemes", frozenset(), 510)), maxlen=0)
            espeak.stop()
        # Of the objects that are there, a front's collections look through none: their pages stay shared.
        gc.collect()
        gc.freeze()
        assert threading.active_count() == 1, threading.enumerate()

    def _forked(self, fds: list[int]) -> int:
        """The process id of a new front, whose parent is the supervisor; 0 if the system has no room for it."""
        told, tell = os.pipe()
        try:
            middle = os.fork()
            if not middle:
                self._fork_on(tell, fds)
            os.close(tell)
            tell = -1
            pid = int(os.read(told, 32) or 0)
            os.waitpid(middle, 0)
        except OSError:
            return 0
        finally:
            os.close(told)
            if tell >= 0:
                os.close(tell)
        return pid

    def _fork_on(self, tell: int, fds: list[int]) -> NoReturn:
        """Fork through a process of a moment, whose end makes the supervisor the front's parent."""
        middle, status = os.getpid(), 1
        try:
            if pid := os.fork():
                os.write(tell, b"%d" % pid)
            else:
                os.close(tell)
                while os.getppid() == middle:
                    time.sleep(_PAUSE)
                self._become_front(*fds)
            status = 0
        finally:
            os._exit(status)

    def _become_front(self, control: int, handover: int, lifeline: int, _alive: int) -> None:
        """`_alive`: its end tells the supervisor that of this process."""
        if os.getppid() != self._supervisor:
            os._exit(ORPHANED)
        self._control.close()
        with suppress(OSError):  # they are started otherwise when they are needed
            espeak.fork()
            apart.fork()
        become_child(lifeline)
        gc.enable()
        self._begin(socket.socket(fileno=control), socket.socket(fileno=handover), self._g2p)
