"""The front process: serves HTTP on the supervisor's socket, follows the supervisor's messages, drains, ends."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from aiohttp import web
from setproctitle import setproctitle

from frontend.audio.formats import FORMATS, output_of
from frontend.contract.in_flight import InFlight
from frontend.contract.request import SpeechRequest, Urgency
from frontend.http.app import make_app, prepare_bodies
from frontend.http.clients import KnownClients
from frontend.http.texts import Phonemizer
from frontend.jobs import JobDesk
from frontend.monitoring.drift import DriftMonitor
from frontend.monitoring.metrics import Event, Metrics
from frontend.monitoring.processes import helper_memory_readings, memory_readings
from frontend.monitoring.readings import cost_readings, demand_readings
from frontend.monitoring.report import Jobs
from frontend.monitoring.selfcheck import History, SelfChecker
from frontend.monitoring.status_handler import Sources, StatusHandler
from frontend.planning.planner import Limits
from frontend.planning.reader import Reader
from frontend.playing.desk import PlayDesk, reachable
from frontend.playing.line import PlayerLine
from frontend.scheduling.scheduler import Scheduler
from frontend.serving.acceptor import Acceptor, room_for
from frontend.serving.connections import Connections
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings, JobSettings
from frontend.speech.voices import asked_speech, usual_format
from frontend.streams.cache import DiskCache, SegmentCache
from shm.awake_loop import SupervisedProcess, run_and_exit
from shm.control import ControlSocket
from shm.engine_info import EngineInfo, VoiceInfo
from shm.folders import state_folder
from shm.handover import Handover, Port
from shm.in_flight import Board
from shm.listeners import Listeners, TlsClients
from shm.messages import (
    Connect,
    ControlMessage,
    Disconnect,
    Drain,
    PlayerLink,
    SharedMemory,
    StandBy,
    Started,
    Suspects,
)
from shm.metric_files import MetricFiles
from shm.records import Records
from shm.situation import Situation
from text.apart import apart
from text.espeak import espeak
from text.g2p import G2P
from text.lexicon import LexiconFile
from text.pipeline import configured_pipeline
from text.settings import TextSettings
from text.words.segment import Notation

if TYPE_CHECKING:
    from frontend.dialects.wyoming.service import WyomingService

log = logging.getLogger(__name__)

_SPARE = "kokoro-live: spare front"
"""The process's title until it is to serve."""


FIRST_TEXT = "It's ready, and has been since 9:30."
"""Read before anybody asks, so that rules and dictionaries are loaded."""

LONGEST_LINE = 32 << 10
"""Bytes of a request's first line: each field that an address may have, with each character in four escaped bytes."""

LAST_REQUESTS = 2.0
"""Seconds after an update in which clients may still send what they were about to send on an open connection."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The parts of a server's settings that its front reads, and the voices of the engines that they allow."""

    front: FrontSettings
    text: TextSettings
    jobs: JobSettings
    voices: Sequence[VoiceInfo]
    clients: KnownClients
    reading: Sequence[str]
    """The command that reads a file's text."""


def run(
    listeners: Listeners,
    control_end: socket.socket,
    handover_end: socket.socket,
    settings: Configuration,
    files: MetricFiles | None,
    g2p: G2P | None = None,
) -> NoReturn:
    """Run the front until the supervisor sends `Drain` or ends.

    Args:
        listeners: the sockets whose connections the supervisor hands over.
        files: the folder of its counts; None counts in memory.
        g2p: what is loaded already.
    """
    setproctitle(_SPARE)
    control_end.setblocking(False)
    front = Front(listeners, ControlSocket(control_end), Handover(handover_end), settings, files, g2p or G2P())
    run_and_exit(front.serve())


class Front(SupervisedProcess):
    def __init__(
        self,
        listeners: Listeners,
        control: ControlSocket,
        handover: Handover,
        configured: Configuration,
        files: MetricFiles | None,
        g2p: G2P,
    ) -> None:
        super().__init__(control)
        settings, text = configured.front, configured.text
        self._listeners = listeners
        self._handover = handover
        self._metrics = Metrics(files, DriftMonitor(state_folder() / "real_time_factors.json"))
        self._settings = settings
        self._clients, self._reading = configured.clients, configured.reading
        espeak.start(partial(self._metrics.helper_restarted, "g2p"))
        apart.start(partial(self._metrics.helper_restarted, "reader"))
        self._g2p = g2p
        g2p.pronounced = self._metrics.pronounced
        self._cache = SegmentCache(settings.cache_bytes, _disk_cache(settings))
        self._lexicon = LexiconFile(text.own_lexicon)
        self._text = text
        misread = partial(self._metrics.count, Event.MISREAD)
        self._pipeline = configured_pipeline(self._g2p, text, self._lexicon, misread)
        reader = Reader(self._pipeline, Limits(), self._metrics.segment_read, text.delimiters)
        tell = self._tell_supervisor
        self._scheduler = Scheduler(reader, self._metrics, tell, settings, self._cache, configured.voices)
        self._selfcheck = self._make_selfcheck() if settings.selfcheck_hours else None
        self._oriented = asyncio.Event()
        """Set once the supervisor has sent the first situation; the supervisor's next connections wait
        until then."""
        self._in_flight = InFlight(tell)
        self._records: Records | None = None
        """The records of all connections, once the supervisor has given them."""
        self._by_tls: TlsClients | None = None
        """The addresses of clients that come by TLS; None if none does, or the supervisor hasn't given them yet."""
        self._player = PlayerLine(tell, reachable(listeners.http))
        self._jobs = JobDesk(configured.jobs, tell, reachable(listeners.http), self._player.key)
        self._drain_seconds = settings.drain_timeout
        self._replaced = False
        """True once another front has taken this one's place."""
        self._has_read = False
        """True once the threads that read texts are told to read one of English."""

    async def serve(self) -> None:
        """Accept requests until told to drain, then finish the open streams."""
        self._listen()
        self._measure()
        services = Services(self._scheduler, self._settings, self._metrics, in_flight=self._in_flight)
        runner = self._runner(services)
        await runner.setup()
        assert runner.server is not None
        connections = Connections(
            runner.server, self._settings, room_for(self._settings.max_connections), self._metrics
        )
        self._metrics.watch("connections", lambda: len(connections))
        wyoming = self._make_wyoming(services)
        protocols = {Port.HTTP: None} | ({Port.WYOMING: wyoming.protocol} if wyoming else {})
        if self._g2p.has("en-us"):  # of the template: it costs nothing, and a listener may come as soon as this serves
            self._load_english()
        prepare_bodies(self._settings)
        self._tell_supervisor(Started())
        await self._oriented.wait()
        connections.by_tls = self._by_tls
        acceptor = Acceptor(
            *(self._handover, connections, protocols, self._records, self._scheduler.speaks),
            lambda: self._in_flight.cause,
        )
        acceptor.start()
        if wyoming:
            wyoming.start()
        prewarming = asyncio.create_task(self._scheduler.prewarm(self._settings.prewarm, self._ahead))
        # While the worker loads: `import av` and LAME took the first MP3 half a second.
        services.encoders.prepare(output_of(FORMATS[usual_format(self._settings)]))
        news = asyncio.create_task(self._jobs.start())
        checking = asyncio.create_task(self._selfcheck.run()) if self._selfcheck else None
        await self._end.wait()
        prewarming.cancel()
        news.cancel()
        if checking:
            checking.cancel()
        await acceptor.stop()
        if self._drain_seconds > self._settings.drain_timeout:
            await asyncio.sleep(LAST_REQUESTS)  # another version serves, and nothing waits for the end of this one
        ending = None
        if wyoming:
            ending = asyncio.create_task(wyoming.stop(self._drain_seconds, replaced=self._replaced))
        runner._shutdown_timeout = self._drain_seconds  # it was made before the time was known
        await runner.cleanup()
        if ending:
            await ending
        self._player.leave_player()
        self._scheduler.shut_down()

    def _measure(self) -> None:
        self._metrics.watch("queue_depth", lambda: self._scheduler.queue_depth)
        self._metrics.readings.add(lambda: demand_readings(self._scheduler.demand))
        self._metrics.readings.add(lambda: cost_readings(self._scheduler.snapshot().costs))
        self._metrics.readings.add(lambda: memory_readings(self._scheduler.snapshot().situation, os.getppid()))
        self._metrics.work.processes = self._roles
        self._metrics.readings.add(self._metrics.work.readings)
        self._metrics.readings.add(lambda: helper_memory_readings({"g2p": espeak.helper_pids(), "reader": apart.pids}))

    def _roles(self) -> dict[int, str]:
        """The role of each of the server's processes, by pid."""
        found = {each.pid: each.role for each in self._scheduler.snapshot().situation.processes if each.pid}
        helpers = {**dict.fromkeys(espeak.helper_pids(), "g2p"), **dict.fromkeys(apart.pids, "reader")}
        return found | helpers | {os.getppid(): "supervisor"}

    def _runner(self, services: Services) -> web.AppRunner:
        desk = PlayDesk(self._player)
        sources = Sources(
            snapshot=self._scheduler.snapshot,
            pronounced=self._g2p.fallbacks,
            metrics=self._metrics,
            settings=self._settings,
            selfcheck=self._selfcheck,
            open=services.open,
            player=desk.report,
            jobs=self._report_jobs,
        )
        phonemizer = Phonemizer(self._pipeline, self._g2p, self._text.own_lexicon)
        app = make_app(services, phonemizer, StatusHandler(sources), desk, self._jobs, self._clients, self._reading)
        app.on_response_prepare.append(self._progressed)
        return web.AppRunner(
            app,
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            shutdown_timeout=self._settings.drain_timeout,
            keepalive_timeout=self._settings.keepalive_timeout,
            max_line_size=LONGEST_LINE,
        )

    async def _report_jobs(self) -> Jobs:
        await self._jobs.refresh()
        return self._jobs.report()

    def _ahead(self, engine: EngineInfo, phrase: str) -> SpeechRequest:
        """A phrase to be spoken ahead, as for a client that names nothing."""
        urgency = Urgency.IDLE
        return asked_speech(engine, self._settings, None, None, request_id="prewarm", text=phrase, urgency=urgency)

    def _make_selfcheck(self) -> SelfChecker:
        history = History(state_folder() / "selfchecks.jsonl")
        check = SelfChecker(self._scheduler, self._settings.selfcheck_hours, history)
        self._metrics.readings.add(check.readings)
        return check

    def _make_wyoming(self, services: Services) -> WyomingService | None:
        if self._listeners.wyoming is None:
            return None
        from frontend.dialects.wyoming.service import WyomingService

        return WyomingService(self._listeners.wyoming, services, self._note_progress)

    async def _progressed(self, _request: web.Request, _response: web.StreamResponse) -> None:
        self._note_progress()

    def _connect(self, message: Connect, fds: list[int]) -> None:
        try:
            self._scheduler.connect(message, fds)
        except OSError as error:
            # Without that channel this front would never speak again; the next front may have the resource that this
            # one lacks. The front ends before it accepts another client.
            log.critical("can't take the channel to worker[%d]: %s", message.generation, error.strerror)
            logging.shutdown()
            os._exit(1)
        if message.engine and message.engine.speaks == "phonemes":
            self._load_english()

    def _read_ahead(self, text: str) -> None:
        """Read a text, so that its rules are loaded: here, or in the helper if it is one for it."""
        deque(self._pipeline.words(text, "en-us", Notation("phonemes", frozenset(), 510)), maxlen=0)

    def _load_english(self) -> None:
        """Have the threads that read texts read one, before a listener waits for their start and for what they load
        (`python -m benchmarks.late_loading`): once a worker loads Kokoro, or an engine that takes phonemes is
        connected."""
        if not self._has_read and self._text.g2p == "misaki":
            self._has_read = True
            self._scheduler.prepare(partial(self._read_ahead, FIRST_TEXT))

    def _follow(self, message: ControlMessage, fds: list[int]) -> None:
        match message:
            case Connect():
                self._connect(message, fds)
            case Disconnect():
                self._scheduler.disconnect(message)
            case PlayerLink():
                self._player.linked(*fds)
            case Situation():
                self._scheduler.situation(message)
                self._metrics.work.look()  # so that all that a new process spends is counted
                self._player.given_up(message.player_reason)
                self._jobs.given_up(message.books_reason)
                if any(report.loading for report in message.processes):
                    self._load_english()
                if not self._oriented.is_set():
                    setproctitle("kokoro-live: front")
                    self._cache.take_over()
                self._oriented.set()
            case SharedMemory(holds):
                (memory,) = fds
                try:
                    match holds:
                        case "records":
                            self._records = Records(memory)
                        case "sounds":
                            self._cache.share(memory)
                        case "clients":
                            assert self._listeners.behind_tls is not None
                            self._by_tls = TlsClients(memory, self._listeners.behind_tls)
                        case "texts":
                            self._in_flight.record_on(Board(memory))
                except OSError as error:
                    log.error("this front goes on without its shared memory of %s: %s", holds, error.strerror)
                os.close(memory)  # the mapping stays
            case StandBy(english):
                if english:
                    self._load_english()
                    self._scheduler.prepare(partial(self._read_ahead, f"Ready. {'-' * 160}"))
            case Suspects():
                self._in_flight.heed(message)
                if message.suspected:
                    # A kill from outside during loading would be held against the text that waits for it.
                    self._scheduler.prepare(partial(self._g2p.words, "a", "en-us"))
            case Drain():
                self._replaced = message.replaced
                if message.seconds is not None:
                    self._drain_seconds = message.seconds
                self._oriented.set()


def _disk_cache(settings: FrontSettings) -> DiskCache | None:
    if settings.disk_cache is None:
        return None
    try:
        return DiskCache(settings.disk_cache, settings.disk_cache_bytes)
    except OSError as error:
        log.error("going on without the disk cache: %s", error)
        return None
