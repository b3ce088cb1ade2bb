"""A target of fuzzing, and the judgement of one input: an exception that isn't the parser's own, or too much time."""

from __future__ import annotations

import ast
import contextlib
import time
import traceback
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
"""A file for each target, with an input a line as a Python bytes literal without its quotes."""

SECONDS = 1.0
"""Processor seconds that any input may take."""

_STRETCHED_ONE_IN = 64
"""Of so many inputs one is stretched as well: a part of it is repeated. A parser whose time grows with the square of
the length is noticed there, however short the fuzzer's own inputs are."""


_NOTICED, _QUADRATIC = 0.05, 9.0
"""Processor seconds, and a ratio of those for four times the length, from which on time grows too fast: it is 4 for
linear time, 16 for quadratic."""


@dataclass(frozen=True, slots=True)
class Target:
    """One parser of foreign bytes."""

    name: str
    parse: Callable[[bytes], object]
    seeds: Callable[[], Iterable[bytes]]
    """Inputs as the product's own writers, or its clients, make them."""
    allowed: tuple[type[Exception], ...] = ()
    """The errors that the parser's docstring names."""
    stretched: int = 0
    """Bytes to which inputs are stretched, where any length may come: the time must grow no faster than the length."""
    seconds_per_byte: float = 30e-6
    """Processor seconds that each byte may take: several times of what it takes with the fuzzer's instrumentation."""
    longest: int = 4096
    """Bytes of the fuzzer's own inputs."""
    words: tuple[str, ...] = field(default=(), repr=False)
    """What the fuzzer is told to try: names and signs of the format."""

    @property
    def corpus(self) -> list[bytes]:
        """The kept inputs: those that reached new code, and those of former findings."""
        file = CORPUS / f"{self.name}.txt"
        return [from_line(line) for line in file.read_text("ascii").splitlines()] if file.exists() else []

    def inputs(self) -> list[bytes]:
        """Seeds and corpus, each input once."""
        return list(dict.fromkeys([*self.seeds(), *self.corpus]))


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a parser, and the input that shows it."""

    key: str
    """Equal for findings of one cause: the exception and the place of ours that it left."""
    data: bytes = field(repr=False)
    story: str = field(repr=False)


def judged(target: Target, data: bytes) -> Finding | None:
    """The finding of this input, if there is one; every `_STRETCHED_ONE_IN`th input is judged in a long form too."""
    found = _judged(target, data)
    if found is None and target.stretched and zlib.crc32(data) % _STRETCHED_ONE_IN == 0:
        found = _growth(target, data)
    return found


def _growth(target: Target, data: bytes) -> Finding | None:
    """The finding of a long form of the input: also a time that grows faster than the length."""
    long = stretched(data, target.stretched)
    if (found := _judged(target, long)) is not None:
        return found
    for _ in range(3):  # another program may have taken the processor's cache
        taken, before = (_seconds(target, each) for each in (long, stretched(data, target.stretched // 4)))
        if taken < _NOTICED or taken < _QUADRATIC * before:
            return None
    return Finding("grows", long, f"{before:.3f} s for a quarter of the length, {taken:.3f} s for {len(long)} bytes")


def _seconds(target: Target, data: bytes) -> float:
    started = time.process_time()
    with contextlib.suppress(*target.allowed):
        target.parse(data)
    return time.process_time() - started


def _judged(target: Target, data: bytes, again: bool = False) -> Finding | None:
    started = time.process_time()
    try:
        target.parse(data)
    except target.allowed:
        pass
    except Exception as error:
        return Finding(f"{type(error).__name__} at {_place(error)}", data, traceback.format_exc())
    taken = time.process_time() - started
    if taken > SECONDS + target.seconds_per_byte * len(data):
        if not again:  # the first input of all pays for what is loaded when it is needed
            return _judged(target, data, again=True)
        return Finding("slow", data, f"{taken:.1f} s of processor time for {len(data)} bytes")
    return None


def stretched(data: bytes, length: int) -> bytes:
    """The input with a part of it repeated up to that length. Its own bytes choose the part."""
    if not data:
        return data
    choice = zlib.adler32(data)
    start = choice % len(data)
    part = data[start : start + 1 + (choice >> 16) % 24]
    return data[:start] + part * (length // len(part)) + data[start + len(part) :]


def _place(error: BaseException) -> str:
    """The innermost place of the product in the traceback, else the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if "site-packages" not in each.filename and "/lib/python" not in each.filename]
    last = (ours or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def to_line(data: bytes) -> str:
    """The input in printable ASCII, on one line."""
    return repr(data + b"'\"")[2:-1].removesuffix("\\'\"")


def from_line(line: str) -> bytes:
    """The inverse of `to_line`."""
    value: bytes = ast.literal_eval(f"b'{line}'")
    return value


def unicode_text(data: bytes) -> str:
    """Any bytes as a text that may hold any code point, halves of surrogate pairs too."""
    return data.decode("utf-8", "surrogateescape")
