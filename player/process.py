"""The player process: follows the front's messages, reports what sounds, and ends after a while without work."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import NoReturn

from setproctitle import setproctitle

from player.fetching import Fetcher
from player.media_keys import MediaKeys, NoMediaKeys
from player.output.output import Opener, open_output
from player.playback import ItemPlayback
from player.settings import PlayerSettings
from shm.awake_loop import SupervisedProcess, run_and_exit
from shm.control import ControlSocket
from shm.duplex import Duplex
from shm.lifeline import die_with_supervisor, dump_stacks_on_request, leave_ending_to_supervisor
from shm.messages import ControlMessage, PlayerLink, Started
from shm.playing import (
    MAX_MESSAGE_BYTES,
    Change,
    Extend,
    FromPlayer,
    Greeting,
    Held,
    Play,
    PlayedWord,
    PlayerAnswer,
    PlayerState,
    Playing,
    Remove,
    Steer,
    ToPlayer,
    Welcome,
    decode_to_player,
    encode,
)


class FrontLink:
    """One front at a time; each new one is greeted before it is told anything else."""

    def __init__(self, greeting: Callable[[], Sequence[FromPlayer]], hear: Callable[[ToPlayer], None]) -> None:
        """
        Args:
            greeting: gives the messages of the greeting; none before it is known what there is to play with.
            hear: called with each message of the front's.
        """
        self._greeting = greeting
        self._hear_message = hear
        self._channel: Duplex[ToPlayer] | None = None
        self._greeted = False
        self._welcome: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()

    async def known(self) -> Welcome:
        return await asyncio.shield(self._welcome)

    def take(self, fd: int) -> None:
        if self._channel:
            self._channel.close()
            self._lost()  # its key is none of the next front's
        self._channel = Duplex(fd, decode_to_player, MAX_MESSAGE_BYTES, self._hear, self._lost)
        self._greeted = False
        self.greet()

    def greet(self) -> None:
        """Greet the front, unless that was done or can't be done yet."""
        messages = self._greeting() if self._channel and not self._greeted else ()
        if messages:
            self._greeted = True
            for message in messages:
                self.tell_front(message)

    def tell_front(self, message: FromPlayer) -> None:
        """Tell the front, once it was greeted; a front that is gone or not greeted yet learns it by the greeting."""
        if self._channel and self._greeted:
            self._channel.send(encode(message))

    def _lost(self) -> None:
        """The front is gone; the supervisor links the next one."""
        self._channel = None
        self._forget_welcome()

    def _forget_welcome(self) -> None:
        if self._welcome.done():
            self._welcome = asyncio.get_running_loop().create_future()

    def _hear(self, message: ToPlayer) -> None:
        if isinstance(message, Welcome):
            self._forget_welcome()
            self._welcome.set_result(message)
        self._hear_message(message)


# Notices that the machine has slept.

_LEAST = 2.0
"""Seconds of sleep that count: clocks that are corrected may differ by less."""

_WITH_SLEEP = time.CLOCK_BOOTTIME if hasattr(time, "CLOCK_BOOTTIME") else time.CLOCK_MONOTONIC
"""The clock that runs on during sleep: on Linux CLOCK_BOOTTIME, on macOS CLOCK_MONOTONIC, where Python's own monotonic
clock stands still."""


def seconds_asleep() -> float:
    """Seconds that the machine has slept, since some fixed moment."""
    return time.clock_gettime(_WITH_SLEEP) - time.monotonic()


class SleepWatch:
    """Compares the time asleep between two looks."""

    def __init__(self, asleep: Callable[[], float] = seconds_asleep) -> None:
        self._asleep = asleep
        self._known = asleep()

    def slept(self) -> bool:
        known, self._known = self._known, self._asleep()
        return self._known - known > _LEAST


# The player's priority: on a busy machine its few milliseconds of work must not wait for other programs.

_NICE = -11
"""PulseAudio's own nice value, where real-time scheduling isn't permitted and this is."""


def come_first() -> str:
    """Take real-time scheduling, or else a better nice value, where that is permitted; returns what was taken.

    Every thread is meant: the output's thread waits for the interpreter, which a thread that is kept waiting may hold.
    On a busy machine ordinary scheduling keeps the output waiting for longer than its buffer lasts
    (`python -m benchmarks.playing` counts such gaps).
    """
    if hasattr(os, "sched_setscheduler"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
            return "real-time"
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICE)
        return f"nice {_NICE}"
    return "ordinary"


SHOWN_SECONDS = 60.0
"""Seconds without anything to play after which the player leaves the desktop's list of players."""

IDLE_SECONDS = 86_400.0
"""Seconds without anything to play after which the process ends; the next text starts another one, which takes the
better part of a second."""

WATCH_SECONDS = 1.0
"""Seconds between two looks at the clocks that show if the machine has slept."""

log = logging.getLogger(__name__)


def run(control_end: socket.socket, lifeline: int, settings: PlayerSettings) -> NoReturn:
    """Run the player until it is idle for long, the supervisor sends `Drain`, or the supervisor ends."""
    setproctitle("kokoro-live: player")
    die_with_supervisor(lifeline)
    leave_ending_to_supervisor()
    dump_stacks_on_request()
    log.info("priority: %s", come_first())
    sys.setswitchinterval(0.001)  # the output's thread needs the interpreter every 10 ms
    control_end.setblocking(False)
    run_and_exit(_serve(ControlSocket(control_end), settings))


async def _serve(control: ControlSocket, settings: PlayerSettings) -> None:
    await PlayerProcess(control, partial(open_output, buffer_ms=settings.play_buffer_ms)).serve()


class PlayerProcess(SupervisedProcess):
    """Connects the playback with the supervisor and the front."""

    def __init__(self, control: ControlSocket, opener: Opener) -> None:
        super().__init__(control)
        self._front = FrontLink(self._greeting, self._hear)
        self._fetcher = Fetcher(self._front.known)
        self.playback = ItemPlayback(self._fetcher, opener, self._tell)
        self._idle: asyncio.TimerHandle | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._media_keys: MediaKeys | None = None
        self._desktop: asyncio.Task[None] | None = None
        """Has the media keys, while the desktop is to show the player."""
        self._shown: asyncio.TimerHandle | None = None

    async def serve(self) -> None:
        self._listen()
        self._rest()
        # The process was started for a text: whether there is an output decides if the text can be taken.
        self.playback.loudspeaker.want()
        self.playback.changed()
        self._tell_supervisor(Started())
        sleep = asyncio.create_task(self._watch_sleep())
        self._show_on_desktop()
        await self._end.wait()
        sleep.cancel()
        self._leave_desktop()
        self.playback.stop_work()
        await self._fetcher.client.close()
        await self.playback.loudspeaker.close_outputs()

    async def _watch_sleep(self) -> None:
        watch = SleepWatch()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if watch.slept() and self.playback.phase in (Playing.PLAYING, Playing.BUFFERING):
                log.info("the machine has slept: pausing")
                self.playback.pause()

    def _show_on_desktop(self) -> None:
        if self._desktop is None or self._desktop.done():
            self._desktop = asyncio.create_task(self._open_media_keys())

    def _leave_desktop(self) -> None:
        if self._desktop:
            self._desktop.cancel()
            self._desktop = None
        if self._media_keys:
            self._media_keys.leave_bus()
            self._media_keys = None

    async def _open_media_keys(self) -> None:
        try:
            media_keys = MediaKeys(self.playback)
            log.info("media keys: %s", await media_keys.open())
        except NoMediaKeys as reason:
            log.info("no media keys: %s", reason)
        else:
            self._media_keys = media_keys
            media_keys.show(self.playback.state)
            await media_keys.until_lost()

    # -- the supervisor

    def _follow(self, message: ControlMessage, fds: list[int]) -> None:
        if isinstance(message, PlayerLink):
            self._front.take(*fds)

    def _rest(self) -> None:
        loop = asyncio.get_running_loop()
        for timer in filter(None, (self._idle, self._shown)):
            timer.cancel()
        self._idle = loop.call_later(IDLE_SECONDS, self._end_if_idle)
        self._shown = loop.call_later(SHOWN_SECONDS, self._leave_if_idle)

    def _leave_if_idle(self) -> None:
        if self.playback.lineup.idle:
            self._leave_desktop()

    def _end_if_idle(self) -> None:
        if self.playback.lineup.idle:
            self._end.set()
        else:
            self._rest()

    # -- the front

    def _greeting(self) -> list[FromPlayer]:
        """The first messages to a front: the output, once it is known, and the items and state."""
        speaker = self.playback.loudspeaker
        if not (speaker.name or speaker.reason):
            return []
        greeting = Greeting("" if speaker.reason else speaker.name, speaker.reason)
        return [greeting, *map(Held, self.playback.lineup.items), self.playback.state]

    def _tell(self, message: PlayerState | PlayedWord) -> None:
        self._front.greet()
        self._front.tell_front(message)
        if isinstance(message, PlayerState):
            if message.state is Playing.PLAYING:
                self._note_progress()
            self._rest()
            if self._media_keys:
                self._media_keys.show(message)

    def _hear(self, message: ToPlayer) -> None:
        match message:
            case Welcome():
                self.playback.deck.volume = message.volume
            case Play():
                self._play(message)
            case Extend():
                self._answer(self.playback.extend(message))
            case Steer():
                self._answer(self.playback.steer(message))
            case Remove():
                self._answer(self.playback.remove(message))
            case Change():
                self._answer_later(self.playback.change(message))

    def _play(self, message: Play) -> None:
        self._show_on_desktop()
        was_idle = self.playback.lineup.idle
        answer = self.playback.play(message)
        if was_idle:
            self._answer_later(self._accepted(message, answer))
        else:
            self._answer(answer)

    async def _accepted(self, message: Play, answer: PlayerAnswer) -> PlayerAnswer:
        """The answer to the only item, once it is known that it can be heard: the output that was there for the last
        item may be gone."""
        speaker = self.playback.loudspeaker
        if answer.refusal or await speaker.settled():
            return answer
        self.playback.remove(Remove(0, message.item.id))
        refusal = f"This machine has no output for sound any more: {speaker.reason}."
        return PlayerAnswer(message.number, refusal=refusal, code="no_sound_card")

    def _answer_later(self, answer: Coroutine[None, None, PlayerAnswer]) -> None:
        async def answering() -> None:
            self._answer(await answer)

        task = asyncio.create_task(answering())
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def _answer(self, answer: PlayerAnswer) -> None:
        self._front.tell_front(self.playback.state)  # the client is answered with the state after its command
        self._front.tell_front(answer)
