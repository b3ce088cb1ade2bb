"""`kokoro-live tune`: measure how to divide the cores, and keep the result for `serve`."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import IO, Any

import click
import msgspec

import worker
from kokoro_live import own_command
from supervisor.commands.client_command import ClientCommand
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options
from supervisor.settings.profile import Attempt, Case, TuningProfile, Unusable, Way, ago, profile_file, read, write
from worker.engine import EngineUnavailable
from worker.machine import cores
from worker.select import asked_rows
from worker.settings import WorkerSettings, processors
from worker.tuning.messages import MeasurementFailed, Round, decode_result, encode

PROCESS = own_command("-m", "worker.tuning.process")

_LAST_WORDS = 300
"""Characters of a crashed process's last line of standard error that go into the message."""


class CannotMeasure(Exception):
    """The engine can't be loaded, or crashed, or took too long; the message says which."""


class _DefaultFailed(CannotMeasure):
    """The default failed, rather than the way that is measured."""


class MeasuredEngine:
    """The process of one measured engine. Its first measurement waits until the engine has loaded."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes], timeout: float) -> None:
        self._process = process
        self._log = log
        self._timeout = timeout

    def write_line(self, line: bytes) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # the missing answer gives the reason
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def measure(self) -> Round:
        """
        Raises:
            CannotMeasure: the engine fails, or doesn't load.
        """
        self.write_line(b"\n")
        assert self._process.stdout
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)
        if not poll.poll(self._timeout * 1000):
            raise CannotMeasure(f"no answer within {self._timeout:g} s")
        try:
            result = decode_result(self._process.stdout.readline())
        except msgspec.DecodeError:
            raise CannotMeasure(self._end()) from None
        if isinstance(result, MeasurementFailed):
            raise CannotMeasure(result.reason)
        return result

    def _end(self) -> str:
        _kill(self._process)
        status = self._process.returncode
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"its process ended with {how}" + (f": {lines[-1][-_LAST_WORDS:]}" if lines else "")


@contextlib.contextmanager
def measured_engine(
    settings: WorkerSettings, timeout: float, command: Sequence[str] = PROCESS
) -> Iterator[MeasuredEngine]:
    """An engine that lasts until the end of the block. Its process dies with this one, however this one ends.

    Args:
        timeout: seconds within which it must answer, the first time also load.
        command: gets the number of its lifeline (`shm.lifeline`) as its last argument.

    """
    lifeline_end, lifeline = os.pipe()
    path = os.pathsep.join(filter(None, (str(Path(worker.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
    try:
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                [*command, str(lifeline_end)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=[lifeline_end],
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for this process, which then ends the engine's
            )
            try:
                engine = MeasuredEngine(process, log, timeout)
                engine.write_line(encode(settings))
                yield engine
            finally:
                _kill(process)
                for stream in (process.stdin, process.stdout):
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()  # type: ignore[union-attr]
    finally:
        os.close(lifeline_end)
        os.close(lifeline)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with everything that it started. A process that has ended keeps its own status."""
    # macOS gives EPERM if the group consists of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


ROUNDS = 5
"""Pairs of measurements for each way. The default wins all of them by chance once in 32 times."""

GAIN = 1.05
"""Least median ratio of first audio, or of throughput, for which a way is chosen."""

LOSS = 0.95
"""Median ratio below which a figure counts as worse."""


Open = Callable[[WorkerSettings], AbstractContextManager[MeasuredEngine]]
"""Opens an engine for the duration of a block."""


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    chosen: Way | None
    """The chosen way; None: the defaults stay."""
    verdict: str
    attempts: tuple[Attempt, ...]


def ways(cores: int) -> list[Way]:
    """All cores divided among inferences: 1, 2, 4, … threads each, and one inference with all of them.

    The default is none of these ways: it gives a lone inference all cores, and several ones one core each.
    """
    threads = [1 << power for power in range(cores.bit_length()) if 1 << power < cores]
    return [Way(threads=each, concurrency=cores // each) for each in (*threads, cores)] if cores > 1 else []


def compare(
    open: Open, settings: WorkerSettings, tried: Sequence[Way], tell: Callable[[str], None]
) -> ComparisonResult:
    """Measure each way against the default and choose the best, if one is better.

    Args:
        tell: told of each step, for people.

    Raises:
        CannotMeasure: the default itself can't be measured.
    """
    attempts = []
    tell("loading the default")
    with open(settings) as default:
        default.measure()  # the first start of an engine makes files of the model that all later ones load
        for number, way in enumerate(tried):
            tell(f"{number + 1} of {len(tried)}: {way}")
            attempts.append(_attempt(open, settings, default, way))
    gains = {_gain(each): each for each in attempts if each.first is not None and not each.note}
    if not gains:
        return ComparisonResult(None, "the defaults stay: no way was better", tuple(attempts))
    best = gains[max(gains)]
    verdict = f"{best.way}: first audio {best.first:.2f}, speed {best.together:.2f} times the default's"
    return ComparisonResult(best.way, verdict, tuple(attempts))


def _attempt(open: Open, settings: WorkerSettings, default: MeasuredEngine, way: Way) -> Attempt:
    mine: list[Round] = []
    others: list[Round] = []
    try:
        with open(replace(settings, **msgspec.structs.asdict(way))) as speaker:
            speaker.measure()  # sessions open at their first use
            for number in range(ROUNDS):
                # The second of a pair finds a warmer machine than the first, so the order alternates.
                if number % 2:
                    mine.append(speaker.measure())
                try:
                    others.append(default.measure())
                except CannotMeasure as error:
                    raise _DefaultFailed(str(error)) from error
                if not number % 2:
                    mine.append(speaker.measure())
    except _DefaultFailed:
        raise
    except CannotMeasure as error:
        return Attempt(way=way, note=str(error))
    first = [other.first / each.first for each, other in zip(mine, others, strict=True)]
    alone = [each.alone / other.alone for each, other in zip(mine, others, strict=True)]
    together = [each.together / other.together for each, other in zip(mine, others, strict=True)]
    return Attempt(
        way=way,
        first=median(first),
        alone=median(alone),
        together=median(together),
        note=_rejection(first, alone, together),
    )


def _rejection(first: Sequence[float], alone: Sequence[float], together: Sequence[float]) -> str:
    """The reason why the way with these ratios isn't better than the default; empty if it is."""
    figures = {"first audio": first, "one at a time": alone, "throughput": together}
    if worse := [f"{name} {median(ratios):.2f}" for name, ratios in figures.items() if median(ratios) < LOSS]:
        return f"worse: {', '.join(worse)}"
    gained = [ratios for ratios in (first, together) if median(ratios) >= GAIN]
    if not gained:
        return f"gains less than {GAIN - 1:.0%}"
    return "" if any(min(ratios) > 1 for ratios in gained) else "not better in every round"


def _gain(attempt: Attempt) -> float:
    assert attempt.first is not None and attempt.together is not None
    return math.sqrt(attempt.first * attempt.together)


TIMEOUT = 300.0
"""Seconds within which an engine must load or answer; if providers compile, their time is added."""


class _Tune(ClientCommand):
    reads = ClientCommand.reads | {"manifest", "workers"}


@click.command(cls=_Tune)
@click.option("--show", "shows", is_flag=True, help="Show the kept result, and measure nothing.")
@click.option("--clear", "clears", is_flag=True, help="Remove the kept result, and measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result for programs.")
@settings_options(*KINDS)
@click.pass_context
def tune(context: click.Context, /, shows: bool, clears: bool, as_json: bool, **_: Any) -> None:
    """Measure how many inference threads and inferences side by side suit this machine.

    The engine that `serve` would load speaks a sentence, with each way to divide the cores and with the default in
    turn. A way is kept if its first audio or its speed is 5 % better and nothing is 5 % worse; `serve` then applies it.
    Takes some minutes, in which the machine should do nothing else.
    """
    settings = Settings.given(context)
    file = profile_file(settings)
    try:
        if clears:
            file.unlink(missing_ok=True)
            return
        if not shows:
            write(file, _measure(context, settings))
        profile = read(file)
    except FileNotFoundError:
        raise click.ClickException("there is no result; `kokoro-live tune` measures one") from None
    except Unusable as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{file} can't be changed: {error.strerror}") from error
    _show(profile, as_json)


def open_engine(timeout: float) -> Open:
    return lambda settings: measured_engine(settings, timeout)


def _measure(context: click.Context, settings: Settings) -> TuningProfile:
    """
    Raises:
        click.ClickException: there is nothing to measure, or it can't be.
    """
    if settings.supervisor.workers > 1:
        raise click.UsageError("One worker is measured: leave --workers out.")
    if settings.worker.threads or settings.worker.concurrency:
        raise click.UsageError("--threads and --concurrency are measured: leave them out.")
    if asked_rows(settings.worker)[0].has_model:
        from worker.models.choice import chosen_model

        # Before the first start the model may still be in its packages; Case.of says if it is missing.
        with contextlib.suppress(EngineUnavailable):
            chosen_model(settings.worker)
    try:
        case = Case.of(settings)
    except Unusable as error:
        raise click.UsageError(f"There is nothing to tune: {error}.") from error
    found = _compare(context, settings)
    return TuningProfile(
        case=case, created=time.time(), chosen=found.chosen, verdict=found.verdict, attempts=found.attempts
    )


def _compare(context: click.Context, settings: Settings) -> ComparisonResult:
    from client.answers import address
    from client.blocking import BlockingClient

    url = address(context.params["host"], context.params["port"])
    if BlockingClient(url).is_kokoro_live:
        click.echo(f"A server runs on {url}: its work disturbs the measurements.", err=True)
    worker = replace(settings.worker, engine=asked_rows(settings.worker)[0].option)
    compiles = 0.0 if worker.provider == "cpu" else worker.compile_timeout
    count = len(processors(worker.worker_cpus)) if worker.worker_cpus else cores()
    try:
        return compare(open_engine(TIMEOUT + compiles), worker, ways(count), lambda step: click.echo(step, err=True))
    except CannotMeasure as error:
        raise click.ClickException(f"the engine can't be measured: {error}") from error


def _show(profile: TuningProfile, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(profile), indent=2).decode())
        return
    click.echo("Ratios to the default; above 1 is better.")
    click.echo(f"{'threads':>7}{'at once':>9}{'first audio':>13}{'one at a time':>15}{'throughput':>12}")
    for each in profile.attempts:
        figures = ((each.first, 13), (each.alone, 15), (each.together, 12))
        cells = "".join(f"{'' if ratio is None else f'{ratio:.2f}':>{width}}" for ratio, width in figures)
        click.echo(f"{each.way.threads:7}{each.way.concurrency:9}{cells}  {each.note}".rstrip())
    click.echo(f"{profile.verdict[0].upper()}{profile.verdict[1:]}.")
    click.echo(f"Measured {ago(time.time() - profile.created)} ago.")
