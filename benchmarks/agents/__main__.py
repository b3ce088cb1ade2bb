"""Voice agents: answers written as a language model writes them, spoken by a speech server of any kind.

    python -m benchmarks.agents [URL ...] [--ways elevenlabs cartesia deepgram openai wyoming espeak-ng] [--key KEY]
        [--voice af_heart] [--rates 20 62 150] [--listeners 1 4 16] [--answers 60] [--kills 4] [--kill COMMAND]
        [--out FOLDER]

Outside a clone it is `kokoro-live -m benchmarks.agents`, and the extra `agents` brings all that it needs. A URL
(http://host:port, tcp://host:port for Wyoming) is any server that speaks the protocols named by `--ways`; without one,
a server of this installation is started, and kokoro-onnx's with the same model beside it. `openai` is asked for one
sentence after another, as agents ask it; `espeak-ng` is the command, for one sentence after another. The answers have
one, three and six sentences in turn. From the first token: the first byte, and the first 10 ms of sound whose root
mean square is above 0.01; gaps as a listener hears them who plays at once; and from an interruption to the next
answer's sound. Each round asks all ways in turn.

Then each server is killed in the middle of answers of six sentences, at the first sound and a second later: ours by
its worker and by its front, one at a URL by the shell's COMMAND, if one is given. `--out` keeps the figures as JSON and
a page of tables and plots.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from benchmarks.agents.listeners import AT_ONCE, MOMENTS, Heard, Killed, hear, interrupted, killed, round_of
from benchmarks.agents.ways import WAYS, Server
from benchmarks.measuring.evaluation.sentences import spoken_answers
from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import described, machine
from benchmarks.measuring.plots import Plot
from benchmarks.measuring.report import Cell, Report, Table, write
from benchmarks.measuring.subjects import Subject as Started
from benchmarks.measuring.subjects import free_port, kokoro_live, kokoro_onnx_server
from worker.models.choice import kokoro_files
from worker.settings import WorkerSettings
from worker.voices.voice_bank import MIN_ROWS, VoiceBank

LONGEST = 6
"""Sentences of the answers in whose middle a server is killed."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A measured server, and one way in which it is asked."""

    name: str
    way: str
    url: str
    kills: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    """Functions that kill a process of the server, by the process's name."""


async def compared(arguments: argparse.Namespace, subjects: Sequence[Subject]) -> Report:
    """All subjects in turn, for each rate and number of listeners, then with kills."""
    answers = spoken_answers()[: arguments.answers]
    texts = [text for _, text in answers]
    rows: list[list[Cell]] = []
    by_rate: dict[str, list[tuple[float, float]]] = {subject.name: [] for subject in subjects}
    by_crowd: dict[str, list[tuple[float, float]]] = {subject.name: [] for subject in subjects}
    shares: dict[str, list[tuple[float, float]]] = {}
    raw: dict[str, object] = {}
    usual = min(arguments.rates, key=lambda rate: abs(rate - 62))
    least = min(arguments.listeners)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        servers = {each.name: Server(each.url, arguments.voice, arguments.key, session) for each in subjects}
        for each in subjects:
            (await hear(each.way, servers[each.name], texts[0], AT_ONCE)).assert_whole()
        for rate, listeners, each in itertools.product(arguments.rates, arguments.listeners, subjects):
            heard = await round_of(each.way, servers[each.name], texts, rate, listeners)
            alone = listeners == 1
            after = await interrupted(each.way, servers[each.name], texts[:5], rate) if alone else None
            rows.append([each.name, rate, listeners, *figures(heard), after])
            print(f"  {rows[-1]}", file=sys.stderr, flush=True)
            raw[f"{each.name}, {rate:g} tokens/s, {listeners} listeners"] = [
                {"domain": domain, "sound": one.sound, "gaps": one.playback.underruns, "wrong": one.wrong}
                for (domain, _), one in zip(answers, heard, strict=True)
            ]
            sounds = sorted(one.sound for one in heard if one.sound is not None)
            if sounds and listeners == least:
                by_rate[each.name].append((rate, median(sounds)))
            if sounds and rate == usual:
                by_crowd[each.name].append((listeners, median(sounds)))
            if sounds and rate == usual and listeners == least:
                shares[each.name] = [(sound, (place + 1) / len(heard)) for place, sound in enumerate(sounds)]
        longest = [text for place, text in enumerate(texts) if place % 3 == 2]
        killings = [
            [row async for row in kill_rows(each, servers[each.name], longest[: arguments.kills], usual)]
            for each in subjects
        ]
    columns = ("server", "tokens/s", "listeners", "first byte, s", "sound, s", "of ten, the ninth, s", "gaps")
    heads: Sequence[str] = (*columns, "refused or cut", "after an interruption, s")
    tables = [Table(f"From the first token, {len(texts)} answers", heads, rows)]
    if any(killings):
        heads = (
            "server",
            "killed",
            "answers",
            "whole",
            "heard, %",
            "more silence, s",
            "the next one's sound, s",
        )
        told = list(itertools.chain(*killings))
        tables.append(Table(f"Killed in the middle of {LONGEST} sentences, {usual:g} tokens/s", heads, told))
    plots = [
        Plot("From the first token to the sound", "tokens per second", "seconds", by_rate),
        Plot(f"Among listeners, {usual:g} tokens per second", "listeners", "seconds", by_crowd),
        Plot(f"Answers that sound, {usual:g} tokens per second", "seconds", "share", shares),
    ]
    return Report("Voice agents", "the servers named", tables, [], raw=raw, plots=plots)


def figures(heard: Sequence[Heard]) -> list[Cell]:
    """First byte, sound (median, ninetieth percentile), gaps, and how many were refused, cut or silent."""
    sounds = [each.sound for each in heard if each.sound is not None]
    first = [each.arrivals[0][0] for each in heard if each.arrivals]
    return [
        median(first) if first else None,
        median(sounds) if sounds else None,
        float(np.quantile(sounds, 0.9)) if sounds else None,
        sum(each.playback.underruns for each in heard),
        sum(bool(each.wrong) for each in heard),
    ]


async def kill_rows(subject: Subject, server: Server, texts: Sequence[str], rate: float) -> AsyncIterator[list[Cell]]:
    """A row for each of its kills; none after one that it doesn't survive."""
    for name, kill in subject.kills.items():
        found: list[Killed] = []
        for text, moment in zip(texts, itertools.cycle(MOMENTS)):
            found.append(await killed(subject.way, server, text, rate, kill, moment))
            if found[-1].newcomer is None:
                break
        if not found:
            return
        newcomers = [each.newcomer for each in found if each.newcomer is not None]
        whole, gaps = sum(each.whole for each in found), max(each.gaps for each in found)
        share = 100 * median([each.share for each in found])
        sound = median(newcomers) if len(newcomers) == len(found) else None
        yield [subject.name, name, len(found), whole, share, gaps, sound]
        if sound is None:
            return


def kills_of(started: Started, *roles: str) -> dict[str, Callable[[], object]]:
    """Kills of a started server's processes, by their roles."""
    return {role: lambda role=role: started.processes()[role].kill() for role in roles}  # type: ignore[misc]


def one_voice(settings: WorkerSettings, voice: str, folder: Path) -> tuple[Path, Path]:
    """The model that the server takes, and an archive of one of its voices as kokoro-onnx reads it.

    Raises:
        EngineUnavailable: there is no model.
    """
    model, voices = kokoro_files(settings)
    bank = VoiceBank.open(voices)
    archive = folder / "voices.npz"
    styles: dict[str, Any] = {voice: np.stack([bank.style(((voice, 1.0),), 1 + row) for row in range(MIN_ROWS)])}
    np.savez(archive, **styles)
    return model, archive


def subjects_of(arguments: argparse.Namespace, stack: ExitStack) -> Iterator[Subject]:
    """The servers at the URLs, or those that are started here."""
    command = arguments.kill
    kills = {command: lambda: subprocess.run(command, shell=True, check=True)} if command else {}
    for url, way in itertools.product(arguments.urls, arguments.ways):
        if (way == "wyoming") == url.startswith("tcp:") and way != "espeak-ng":
            yield Subject(f"{way} at {url}", way, url.rstrip("/"), kills)
    if not arguments.urls:
        settings = WorkerSettings(engine=arguments.engine, model=arguments.model, voices=arguments.voices)
        port = free_port()
        own = stack.enter_context(kokoro_live(settings, "--wyoming-port", str(port)))
        urls = dict.fromkeys(WAYS, f"http://127.0.0.1:{own.port}") | {"wyoming": f"tcp://127.0.0.1:{port}"}
        for way in arguments.ways:
            if way != "espeak-ng":
                yield Subject(f"kokoro-live, {way}", way, urls[way], kills_of(own, "worker", "front"))
        if arguments.engine != "espeak":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            other = stack.enter_context(kokoro_onnx_server(*one_voice(settings, arguments.voice, folder)))
            yield Subject("kokoro-onnx", "openai", f"http://127.0.0.1:{other.port}", kills_of(other, "other"))
    if "espeak-ng" in arguments.ways and not shutil.which("espeak-ng"):
        print("NOT MEASURED, because it isn't installed: espeak-ng", file=sys.stderr)
    elif "espeak-ng" in arguments.ways:
        yield Subject("espeak-ng", "espeak-ng", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--key", default="none")
    parser.add_argument("--voice", default="af_heart")
    parser.add_argument("--rates", type=float, nargs="+", default=[20.0, 62.0, 150.0])
    parser.add_argument("--listeners", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--kills", type=int, default=4, help="of each process, for each way")
    parser.add_argument("--kill", metavar="COMMAND", help="kills the server at the URL, which something starts again")
    parser.add_argument("--engine", default="kokoro", help="the engine of the server that is started")
    parser.add_argument("--model", type=Path, help="default: the one in the installed packages")
    parser.add_argument("--voices", type=Path, help="default: the embedded ones")
    parser.add_argument("--out", type=Path, help="a folder for bench.json, bench.md, bench.html and plots")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        report = asyncio.run(compared(arguments, list(subjects_of(arguments, stack))))
    print(report.as_markdown())
    print(f"\nOn {described()}.")
    if arguments.out:
        write([report], machine(), " ".join(["python -m benchmarks.agents", *sys.argv[1:]]), False, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
