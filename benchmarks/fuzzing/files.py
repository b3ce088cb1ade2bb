"""What lies in files: books as they are uploaded, and all that the server itself has written and reads again."""

from __future__ import annotations

import atexit
import base64
import functools
import io
import logging
import os
import shutil
import tempfile
import time
import wave
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import click
import msgspec
import numpy as np
import onnxruntime

from benchmarks.fuzzing import seeds
from benchmarks.fuzzing.target import unicode_text
from books.making.casting import parts, read_cast
from books.making.maker import SpeechJournal
from books.making.passages import PassageSpeech
from books.reading.open import read_book
from client.answers import audio_in, read_captioned, read_event, read_wav
from frontend.monitoring.drift import DriftMonitor
from frontend.streams.cache import CachedSegment, DiskCache, from_bytes, to_bytes
from shm.audio import SAMPLE_RATE, Pcm
from shm.book_jobs import JobJournal, JobOptions, JobOrder
from shm.job_folder import JOURNAL, ORDER, JobFolder
from supervisor.settings import profile as tuning
from supervisor.settings.composition import Settings, parse_settings
from supervisor.speechd.config import read_config
from text.english.dictionary_file import DictionaryFile
from worker.models import sources
from worker.models.assembly import origin_of
from worker.providers import verdict
from worker.session import nodes_by_provider
from worker.split.prepared import Manifest, _sound

JOB = "job-0123456789abcdef"
SAMPLES: Pcm = np.arange(-50, 50, dtype=np.int16)


_MEMORY = Path("/dev/shm")
_PLACE, _PREFIX = _MEMORY if _MEMORY.is_dir() else Path(tempfile.gettempdir()), "kokoro-live-fuzzing-"


def remove_abandoned() -> None:
    """Remove the folders of processes that are gone: one that was killed, or that libFuzzer ended, leaves its own."""
    for folder in _PLACE.glob(f"{_PREFIX}*-*"):
        try:
            os.kill(int(folder.name.removeprefix(_PREFIX).partition("-")[0]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except PermissionError:
            continue  # another user's lives


@functools.cache
def _scratch_of(process: int) -> Path:
    remove_abandoned()
    made = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{process}-", dir=_PLACE))
    atexit.register(_remove, made, process)
    return made


def _remove(made: Path, process: int) -> None:
    """At the end of the process that made it: a fork of it inherits the call."""
    if os.getpid() == process:
        shutil.rmtree(made, ignore_errors=True)


def scratch() -> Path:
    """A folder of this process; in memory where the system has such a file system."""
    return _scratch_of(os.getpid())


def remove_scratch() -> None:
    shutil.rmtree(scratch())


def _written(data: bytes, name: str) -> Path:
    path = scratch() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def book(name: str) -> Callable[[bytes], object]:
    def parse(data: bytes) -> None:
        found = read_book(data, name)
        assert found.title and found.chapters
        for chapter in found.chapters:
            chapter.title.encode()
            for block in chapter.blocks:
                block.text.encode()

    return parse


_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_MEMBERS = ("b.opf", "toc.ncx", "nav.xhtml", "1.xhtml", "META-INF/encryption.xml")


def epub(data: bytes) -> None:
    """An EPUB with the documents that `data` holds, between zero bytes; the archive around them is right."""
    book("b.epub")(packed(dict(zip(_MEMBERS, data.split(b"\0"), strict=False))))


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, content in ({"META-INF/container.xml": _CONTAINER.encode()} | members).items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return made.getvalue()


def cast(data: bytes) -> None:
    """A cast, and a line of a play after a zero byte."""
    toml, _, line = data.partition(b"\0")
    found = read_cast(toml)
    list(parts(unicode_text(line), found))


def config(data: bytes) -> None:
    context = parse_settings(["--config", str(_written(data, "config.toml"))])
    try:
        Settings.of(context.params)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def speechd_config(data: bytes) -> None:
    read_config(_written(data, "module.conf"))


def cached_segment(data: bytes) -> None:
    """What is found is what a stream can play."""
    found = from_bytes(data)
    assert found.samples.dtype == np.int16 and found.samples.ndim == 1
    assert all(place >= 0 and sample >= 0 for place, sample in found.marks), found.marks


def cache_folder(data: bytes) -> None:
    """A cache whose database holds any bytes at some place: it gives nothing, or takes a segment and gives it back."""
    place, _, change = data.partition(b":")
    database = bytearray(_empty_cache())
    start = int(place) % len(database) if place.isdigit() and len(place) < 9 else 0
    database[start : start + len(change)] = change
    shutil.rmtree(scratch() / "cache", ignore_errors=True)
    _written(bytes(database), "cache/cache.db")
    found = DiskCache(scratch() / "cache", 1 << 20)
    try:
        found.get(b"key")
        found.put(b"key", CachedSegment(SAMPLES))
        back = found.get(b"key")
        assert back is None or np.array_equal(back.samples, SAMPLES)
    finally:
        found.close()


@functools.cache
def _empty_cache() -> bytes:
    folder = scratch() / "empty"
    made = DiskCache(folder, 1 << 20)
    made.put(b"key", CachedSegment(SAMPLES, ((0, 0), (3, 50))))
    made.close()
    return (folder / "cache.db").read_bytes()


def verdict_file(data: bytes) -> None:
    _written(data, str(verdict._path(scratch(), KEY).relative_to(scratch())))
    found = verdict.load(scratch(), KEY)
    assert found is None or isinstance(found.reason, str)


KEY = verdict.Key(
    machine="m", onnxruntime="1", model="0" * 64, provider="CPU", stages=(("whole", "CPU", (), 0, False),), shape=("1",)
)
VERDICT = verdict.Verdict(when=1.0, right=True, faster=False, reason="no", nodes_run={"whole": {"CPU": 3}})


def tuning_profile(data: bytes) -> None:
    found = tuning.read(_written(data, "tuning.json"))
    tuning.ago(time.time() - found.created)
    assert f"{found.chosen}" and found.case.differences(CASE) is not None


CASE = tuning.Case(machine="m", onnxruntime="1", model_sha256="0" * 64, settings={"workers": "1"})
PROFILE = tuning.TuningProfile(
    case=CASE,
    created=1.0,
    chosen=tuning.Way(threads=2, concurrency=1),
    verdict="faster",
    attempts=(tuning.Attempt(way=tuning.Way(threads=1, concurrency=2), first=1.5),),
)


def drift(data: bytes) -> None:
    monitor = DriftMonitor(_written(data, "speed.json"))
    list(monitor.readings())
    monitor.report()


def checksum_file(data: bytes) -> None:
    model = scratch() / "model"
    if not model.exists():
        model.write_bytes(b"model")
    assert sources.cached_sha256_of(model, _written(data, "checksums.json")) == sources.sha256_of(model)


def manifest(data: bytes) -> None:
    sources.known_files(_written(data, "files.json"))


def origin(data: bytes) -> None:
    _written(data, "model.onnx.origin")
    origin_of(_written(b"", "model.onnx"))


def stages(data: bytes) -> None:
    _sound(_written(data, "stages/manifest.json").parent)


def node_profile(data: bytes) -> None:
    nodes_by_provider(_written(data, "nodes.json"))


def job(data: bytes) -> None:
    """A job's two files, between which a zero byte stands."""
    order, _, journal = data.partition(b"\0")
    _written(order, f"jobs/{JOB}/{ORDER}")
    _written(journal, f"jobs/{JOB}/{JOURNAL}")
    (found,) = JobFolder(scratch() / "jobs").jobs()
    assert found.unreadable or found.order.id == JOB, found


def passage(data: bytes) -> None:
    journal = SpeechJournal(scratch() / "speech")
    _written(data, "speech/ab/abcd.spoken")
    if (timing := journal.timing("abcd")) is not None:
        assert timing.samples >= 0
    found = journal.read("abcd")
    assert found is None or len(found.pcm) == timing.samples  # type: ignore[union-attr]


def dictionary(data: bytes) -> None:
    found = DictionaryFile(_written(data, "gold.json"))
    for word in list(found)[:16]:
        assert found[word] is not None


def answers(data: bytes) -> None:
    """What our own client reads of a server: an event, a WAV file or captions, by the first byte."""
    kind, rest = data[:1], data[1:]
    if kind == b"e":
        if (event := read_event(rest)) is not None:
            audio_in(event)
    elif kind == b"w":
        read_wav(rest)
    else:
        read_captioned(rest)


def archives() -> Iterable[bytes]:
    yield packed({"b.opf": seeds.OPF, "1.xhtml": seeds.HTML[0]})
    yield packed({"b.opf": seeds.OPF, "1.xhtml": seeds.HTML[0]}, zipfile.ZIP_DEFLATED)


def replies() -> Iterable[bytes]:
    audio = base64.b64encode(wav()).decode()
    yield b'edata: {"audio": "AAAA"}'
    yield b"w" + wav()
    yield b"c" + msgspec.json.encode({"audio": audio, "words": [{"word": "a", "start": 0.0, "end": 0.5}]})


def spoken() -> bytes:
    SpeechJournal(scratch() / "seed").add("abcd", PassageSpeech(SAMPLES, ()))
    return (scratch() / "seed/ab/abcd.spoken").read_bytes()


def cached() -> Iterable[bytes]:
    yield to_bytes(CachedSegment(SAMPLES, ((0, 0), (3, 50))))
    yield to_bytes(CachedSegment(SAMPLES[:1]))


def jobs() -> Iterable[bytes]:
    order = JobOrder(id=JOB, file_name="b.txt", file_bytes=3, created=1.0, options=JobOptions(captions=("srt",)))
    yield msgspec.json.encode(order) + b"\0" + msgspec.json.encode(JobJournal(chapters=3, result="b.m4b"))
    yield msgspec.json.encode(order) + b"\0"


def encoded_verdict() -> bytes:
    return msgspec.msgpack.encode(verdict._StoredVerdict(KEY, VERDICT))


def encoded_manifest() -> bytes:
    return msgspec.json.encode(Manifest(unsplittable="no", onnxruntime=onnxruntime.__version__))


logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def manifests() -> Iterable[bytes]:
    yield msgspec.json.encode(list(sources.KNOWN.values())[:1])


def wav() -> bytes:
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(SAMPLES.tobytes())
    return made.getvalue()
