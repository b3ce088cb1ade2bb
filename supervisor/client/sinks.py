"""Destinations of samples: a file, standard output, or a player."""

from __future__ import annotations

import secrets
import signal
import sys
import wave
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from supervisor.client.interruption import die_of
from supervisor.client.players import find_player, playing, write_all
from supervisor.client.spoken import CannotSpeak

Write = Callable[[bytes], None]

_ENCODED = {".mp3": "mp3", ".opus": "opus", ".ogg": "opus", ".aac": "aac", ".flac": "flac"}
"""Formats that need an encoder, by a file's suffix."""


def sink_for(output: str | None) -> AbstractContextManager[Write]:
    """A sink for a file's name, for `-` (standard output) or for None (a player). Nothing is opened or started before
    the sink is entered.

    A file appears whole or not at all: it gets its name after the block has ended well.

    Raises:
        CannotSpeak: nothing can be written there; from the block, if that shows only later.
    """
    if output is None:
        return playing(find_player())
    if output == "-":
        return _standard_output()
    suffix = Path(output).suffix.lower()
    writer = {".wav": _wav, ".pcm": _raw, ".raw": _raw}.get(suffix)
    if writer is None and suffix in _ENCODED:
        writer = partial(_encoded, _ENCODED[suffix])
    if writer is None:
        named = ", ".join((".wav", *_ENCODED))
        raise CannotSpeak(f"{output}: name a {named} file, or .pcm or .raw for samples without a header.")
    return _file(_destination(output), writer)


def text_file(output: str, suffixes: Collection[str]) -> Callable[[str], None]:
    """A function that writes a text into that file, whole or not at all. The file isn't opened before the call.

    Raises:
        CannotSpeak: nothing can be written there; when it is called, if that shows only then.
    """
    if Path(output).suffix.lower() not in suffixes:
        raise CannotSpeak(f"{output}: name a {' or '.join(suffixes)} file.")
    path = _destination(output)

    def write(text: str) -> None:
        with _file(path, _raw) as write_bytes:
            write_bytes(text.encode())

    return write


@contextmanager
def _standard_output() -> Iterator[Write]:
    """A sink for standard output. Each piece is flushed at once; a reader who leaves ends this process by SIGPIPE, as
    usual."""
    stdout = sys.stdout.buffer
    if stdout.isatty():
        raise CannotSpeak("Raw samples would upset a terminal: send standard output to a file or another program.")

    def write(pcm: bytes) -> None:
        write_all(stdout, pcm)
        stdout.flush()

    try:
        yield write
    except BrokenPipeError:
        die_of(signal.SIGPIPE)


def _destination(output: str) -> Path:
    try:
        path = Path(output).resolve()  # a link stays a link; its target is replaced
        if path.exists() and not path.is_file():
            raise CannotSpeak(f"{output} isn't a regular file; `-o -` writes raw samples to standard output.")
        if not path.parent.is_dir():
            raise CannotSpeak(f"{output} can't be written: there is no folder {path.parent}.")
    except (OSError, RuntimeError, ValueError) as error:  # no permission to look, a loop of links, a NUL
        raise CannotSpeak(f"{output!r} can't be written: {error}.") from error
    return path


@contextmanager
def _file(path: Path, writer: Callable[[Path], AbstractContextManager[Write]]) -> Iterator[Write]:
    temporary = path.with_name(f".kokoro-live-{secrets.token_hex(8)}.part")
    try:
        with writer(temporary) as write:
            yield write
        temporary.replace(path)
    except OSError as error:
        raise CannotSpeak(f"{path} can't be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _wav(path: Path) -> Iterator[Write]:
    # Opened here and not by `wave`, whose writer reports a failure to open a second time when it is collected.
    with path.open("xb") as file, wave.open(file, "wb") as audio:
        audio.setnchannels(1)
        audio.setsampwidth(SAMPLE_BYTES)
        audio.setframerate(SAMPLE_RATE)
        yield audio.writeframesraw


@contextmanager
def _encoded(name: str, path: Path) -> Iterator[Write]:
    """A sink that encodes as the server does, with exact lengths."""
    import numpy as np

    from frontend.audio.formats import AudioFormat, OutputFormat, make_encoder

    encoder = make_encoder(OutputFormat(AudioFormat(name)), whole=True)
    try:
        with path.open("xb") as file:
            rest = b""

            def write(pcm: bytes) -> None:
                nonlocal rest
                whole = len(rest + pcm) // SAMPLE_BYTES * SAMPLE_BYTES  # a server may cut within a sample
                samples, rest = (rest + pcm)[:whole], (rest + pcm)[whole:]
                file.write(encoder.encode(np.frombuffer(samples, "<i2")))

            yield write
            file.write(encoder.finish())
    finally:
        encoder.close()


@contextmanager
def _raw(path: Path) -> Iterator[Write]:
    with path.open("xb") as file:

        def write(pcm: bytes) -> None:
            file.write(pcm)

        yield write
