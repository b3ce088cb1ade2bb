"""Measures whole books.

    python -m benchmarks.books --kills 50
    python -m benchmarks.books --hours 10
    python -m benchmarks.books --real --model MODEL --voices VOICES [--words N] [--chapters N] [--pairs N]
        [--excerpts N]
    python -m benchmarks.books --quick

`--kills`: a made book of 20 chapters on the miniature model; worker, front, supervisor and the command itself are
killed by turns. Its bytes must be those of an undisturbed run, its chapter marks within a frame of the chapters' first
sounds, and its lengths those of its passages and pauses.

`--hours`: the command's peak memory in each hour of audio, with a stand-in for the server that answers at once. The
last hour's peak must be within a tenth of the first's; writing the file may add an index of 8 MB for an hour.

`--real`: the first chapters of "Moby-Dick" (from npm's registry) on a real model: real-time factor, word errors by
Whisper tiny.en in excerpts of each chapter (extra `quality`), and a listener's time to first audio alongside the book
divided by that of one alone, in pairs one after the other. It must be within a tenth.

`--quick`: four kills of a short book, and half an hour of audio, in which the heap still reaches its size: that memory
is shown and not judged. Exits with 1 if anything that must be so isn't.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.books.kills import KilledBook, kill_by_turns
from benchmarks.books.memory import FLAT, INDEX, Memory, memory_over
from benchmarks.books.real import RealBook, RealOptions, make_real
from benchmarks.measuring.machine import machine
from benchmarks.measuring.report import Cell, Table
from worker.settings import WorkerSettings

BESIDE = 1.1
"""A listener's time to first audio alongside a book divided by that of one alone, at most."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--voices", type=Path)
    parser.add_argument("--chapters", type=int, default=16, help="chapters of the real book; 16 have 32,000 words")
    parser.add_argument("--words", type=int, help="words of each chapter of the real book  [default: all]")
    parser.add_argument("--pairs", type=int, default=20, help="listeners alongside the real book")
    parser.add_argument("--excerpts", type=int, default=4, help="excerpts of each chapter that Whisper hears")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    arguments = parser.parse_args()
    if arguments.real and not (arguments.model and arguments.voices):
        parser.error("--real needs --model and --voices")
    if not (arguments.kills or arguments.hours or arguments.real or arguments.quick):
        parser.error("nothing to measure: name --kills, --hours, --real or --quick")
    return 0 if _measured(arguments) else 1


def _measured(arguments: argparse.Namespace) -> bool:
    right = True
    figures: dict[str, object] = {"machine": machine(), "command": sys.argv[1:]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.kills or arguments.quick:
            size = (4, 5) if arguments.quick else (20, 8)
            killed = kill_by_turns(folder, arguments.kills or 4, *size, _say)
            figures["kills"] = killed.figures()
            right &= _show_kills(killed)
        if arguments.hours or arguments.quick:
            hours = arguments.hours or 0.5
            memory = memory_over(folder, hours, round(hours) if hours >= 2 else 5, _say)
            figures["memory"] = asdict(memory)
            flat = _show_memory(memory)
            right &= flat or not arguments.hours
        if arguments.real:
            settings = WorkerSettings(model=arguments.model, voices=arguments.voices)
            options = RealOptions(settings, arguments.chapters, arguments.words, arguments.pairs, arguments.excerpts)
            real = make_real(folder, options, _say)
            figures["real"] = asdict(real)
            right &= _show_real(real)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    return right


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _show_kills(found: KilledBook) -> bool:
    rows: list[list[Cell]] = [
        ["kills", ", ".join(f"{victim} {count}" for victim, count in found.kills.items())],
        ["bytes equal to the undisturbed run's", found.same_bytes],
        ["chapters of exactly their passages' length", f"{found.exact_lengths} of {found.chapters}"],
        ["chapter marks", f"{found.marks} of {found.chapters}"],
        ["a mark's distance from its place, at most", f"{found.latest_mark} samples"],
        ["chapters' lengths add up to the file's", found.contiguous],
        ["passages kept that no text has", found.made_again],
    ]
    print(Table(f"{found.kills.total()} kills of a book of {found.passages} passages", ("", ""), rows).as_markdown())
    return found.right


def _show_memory(found: Memory) -> bool:
    rows: list[list[Cell]] = [[f"{(n + 1) * found.interval:g}", f"{peak:.1f}"] for n, peak in enumerate(found.peaks)]
    rows.append(["writing the file", f"{found.writing:.1f}"])
    print(Table("Peak memory of the command", ("hours of audio", "MB"), rows).as_markdown())
    print(f"last / first: {found.ratio:.3f} (limit {FLAT:g}); index: {found.index:.1f} MB an hour (limit {INDEX:g})\n")
    return found.flat


def _show_real(found: RealBook) -> bool:
    rows: list[list[Cell]] = [
        ["text", f"{found.words:,} words, {found.source}"],
        ["audio", f"{found.audio_seconds / 3600:.2f} h"],
        ["real-time factor", f"{found.real_time_factor:.3f}"],
    ]
    if (rate := found.word_error_rate) is not None:
        rows.append(["word error rate", f"{rate:.1%} of {sum(each.words for each in found.chapters):,} words"])
    if (ratio := found.beside_ratio) is not None:
        rows.append(["first audio beside / alone", f"{ratio:.2f} ({len(found.pairs)} pairs, limit {BESIDE:g})"])
    print(Table("A real book", ("", ""), rows).as_markdown())
    heard: list[list[Cell]] = [
        [each.title, each.words, f"{each.errors / each.words:.1%}"] for each in found.chapters if each.words
    ]
    if heard:
        print(Table("Heard by Whisper tiny.en", ("chapter", "words heard", "word error rate"), heard).as_markdown())
    return ratio is None or ratio <= BESIDE


if __name__ == "__main__":
    sys.exit(main())
