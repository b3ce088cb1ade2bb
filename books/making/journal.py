"""Passages that were spoken, on disk: each is there whole or not at all."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import av
import numpy as np

from books.book import SAMPLE_RATE, BookWord
from books.making.passages import PassageSpeech, PassageTiming
from shm.atomic import sync_folder, write_whole

Made = TypeVar("Made")

log = logging.getLogger(__name__)


class SpeechJournal:
    """A folder with a file for each passage: a line of JSON with the word times, then the samples as FLAC."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, key: str) -> bool:
        return self._path(key).exists()

    def add(self, key: str, speech: PassageSpeech) -> None:
        """Keep a passage. After the call, no kill or power cut loses it.

        Raises:
            OSError: the disk is full or can't be written.
        """
        words = [[word.text, word.start, word.end] for word in speech.words]
        line = json.dumps({"samples": len(speech.pcm), "words": words}, ensure_ascii=False).encode()
        path = self._path(key)
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder)
        write_whole(path, line + b"\n" + _flac(speech))

    def timing(self, key: str) -> PassageTiming | None:
        """A passage's length and words, or None if there is none. A damaged file is deleted."""
        return self._opened(key, lambda timing, _: timing)

    def read(self, key: str) -> PassageSpeech | None:
        """A passage, or None if there is none. A damaged file is deleted, so that the passage is made again."""
        return self._opened(key, _speech)

    def _opened(self, key: str, use: Callable[[PassageTiming, bytes], Made]) -> Made | None:
        path = self._path(key)
        try:
            line, _, audio = path.read_bytes().partition(b"\n")
            facts = json.loads(line)
            words = tuple(BookWord(str(text), int(start), int(end)) for text, start, end in facts["words"])
            return use(PassageTiming(int(facts["samples"]), words), audio)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, av.FFmpegError) as error:
            log.warning("a spoken passage is damaged and will be made again: %s", error)
            path.unlink(missing_ok=True)
            return None

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.spoken"


def _speech(timing: PassageTiming, audio: bytes) -> PassageSpeech:
    pcm = _pcm(audio) if timing.samples else np.empty(0, np.int16)
    if len(pcm) != timing.samples:
        raise ValueError(f"{len(pcm)} samples of {timing.samples}")
    return PassageSpeech(pcm, timing.words)


def _flac(speech: PassageSpeech) -> bytes:
    if not len(speech.pcm):
        return b""
    made = io.BytesIO()
    with av.open(made, "w", format="flac", container_options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(speech.pcm)[None, :], "s16", "mono")
        frame.sample_rate = SAMPLE_RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return made.getvalue()


def _pcm(audio: bytes) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    with av.open(io.BytesIO(audio), "r", format="flac") as container:
        return np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
