"""Destinations of samples: a file, standard output, or a program that plays them."""

from __future__ import annotations

import contextlib
import secrets
import signal
import subprocess
import sys
import tempfile
import wave
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from client.answers import CannotSpeak
from player.output.program_output import PLAYERS, failure, installed_player
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from supervisor.speaking.interruption import die_of


def find_player() -> list[str]:
    """The command line of the first player on PATH.

    Raises:
        CannotSpeak: there is none.
    """
    if command := installed_player():
        return command
    raise CannotSpeak(
        f"No player was found on PATH (looked for {', '.join(PLAYERS)}). Install one, write a file with `-o FILE.wav`, "
        "or pipe raw samples elsewhere with `-o -`."
    )


def write_all(stream: IO[bytes], pcm: bytes) -> None:
    """Write all bytes to a stream that may be unbuffered and then sometimes takes fewer than it is given."""
    rest = memoryview(pcm)
    while rest:
        rest = rest[stream.write(rest) :]


@contextmanager
def playing(command: list[str]) -> Iterator[Callable[[bytes], None]]:
    """A function that plays samples. The block ends when all were heard, or when the listener quits the player.

    Raises:
        CannotSpeak: the player can't be started, or failed, or found no sound card.
    """
    with tempfile.TemporaryFile() as said:
        try:
            player = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, bufsize=0)
        except OSError as error:
            raise CannotSpeak(f"{command[0]} can't be started: {error.strerror}. Write a file with `-o`.") from error
        assert player.stdin is not None
        pipe = player.stdin
        try:
            with contextlib.suppress(BrokenPipeError):  # the player's exit status tells if it was quit or failed
                yield lambda pcm: write_all(pipe, pcm)
            pipe.close()
            status = player.wait()
        finally:
            player.kill()
            player.wait()
            pipe.close()
        said.seek(0)
        if reason := failure(status, said.read().decode(errors="replace")):
            raise CannotSpeak(f"{command[0]} {reason}. Write a file with `-o FILE.wav` instead.")


if TYPE_CHECKING:
    from frontend.audio.formats import AudioFormat

Write = Callable[[bytes], None]


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
    from frontend.audio.formats import BY_EXTENSION

    audio_format = BY_EXTENSION.get(Path(output).suffix.lower())
    if audio_format is None:
        raise CannotSpeak(f"{output}: name the file {', '.join(BY_EXTENSION)}; .pcm and .raw are bare samples.")
    # An encoder would hold an hour's WAV in memory until its length is known.
    writer = {"wav": _wav, "pcm": _raw}.get(audio_format.name) or partial(_encoded, audio_format)
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
def _encoded(audio_format: AudioFormat, path: Path) -> Iterator[Write]:
    """A sink that encodes as the server does, with exact lengths."""
    import numpy as np

    from frontend.audio.encoders import make_encoder
    from frontend.audio.formats import OutputFormat

    encoder = make_encoder(OutputFormat(audio_format), whole=True)
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
