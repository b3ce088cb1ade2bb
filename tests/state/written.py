"""Everything that a server keeps on a disk, written by the product's own code: a small folder of each kind.

    python -m tests.state.written FOLDER

stores it. A version of the product that writes another version of a kind (`shm.kept`) stores a folder of its own
alongside the earlier ones, which stay.
"""

import sys
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import numpy as np

from books.book import BlockKind, BookWord, SpokenBlock, SpokenChapter, TextBlock
from books.making.maker import SpeechJournal
from books.making.outputs import encoded_chapter
from books.making.passages import PassageSpeech
from frontend.monitoring.drift import WINDOW, DriftMonitor
from frontend.monitoring.selfcheck import Check, History
from frontend.streams.cache import CachedSegment, DiskCache
from shm.audio import Pcm
from shm.book_jobs import JobJournal, JobOptions, JobOrder, JobState
from shm.job_folder import JobFolder
from shm.kept import KINDS
from supervisor.settings import profile
from tests.engine_infos import kokoro
from worker.models import assembly, sources
from worker.providers import verdict
from worker.split import prepared

SAMPLES: Pcm = np.arange(-100, 100, dtype=np.int16)
PASSAGE = "0123456789abcdef0123456789abcdef"
MODEL = "the bytes of a model"
BOOK = "# A book\n\nOne sentence. Another one.\n"
JOB = "job-0123456789abcdef"
KEY = verdict.Key(
    machine="a machine", onnxruntime="1", model="0", provider="CUDAExecutionProvider", stages=(), shape=("a", "b")
)
SAID = verdict.Verdict(when=1.0, right=True, faster=True, reason="faster")
TUNED = profile.TuningProfile(
    case=profile.Case(machine="a machine", onnxruntime="1", model_sha256="0", settings={"window": "0"}),
    created=1.0,
    chosen=profile.Way(threads=2, concurrency=1),
    verdict="two threads",
    attempts=(),
)
CHECK = Check(1.0, "an engine", 0.25, 0.5)
SPOKEN = SpokenChapter("One", (SpokenBlock(TextBlock(BlockKind.PARAGRAPH, "One sentence.")),), 200)
SETTINGS = """\
default_speed = 1.25
chunk_ms = 5
"""
LEXICON = "Zyxqvil\tzix-kwil\n"


def write(folder: Path) -> None:
    """Write one file, or one small folder, of each kind."""
    folder.mkdir()
    (folder / "config.toml").write_text(SETTINGS)
    (folder / "lexicon.txt").write_text(LEXICON)
    _caches(folder)
    _figures(folder)
    job(folder / "jobs", JOB, JobState.QUEUED)
    passages = SpeechJournal(folder / "passages")
    passages.add(PASSAGE, PassageSpeech(SAMPLES, (BookWord("One", 0, 100),)))
    (folder / "chapter.json").write_bytes(encoded_chapter(SPOKEN))
    (folder / "versions.json").write_bytes(msgspec.json.encode({kind.name: kind.version for kind in KINDS}))


def _caches(folder: Path) -> None:
    model = folder / "model.onnx"
    model.write_text(MODEL)
    assembly._record_origin(model, "a package")
    sources.cached_sha256_of(model, folder / "checksums.json")
    verdict.store(folder, KEY, SAID)
    profile.write(folder / "tuning.json", TUNED)
    with suppress(prepared.Unprepared):
        prepared.prepare(model, folder)  # that it can't be cut is kept
    with closing(DiskCache(folder / "audio", 1 << 20)) as audio:
        audio.put(b"key", CachedSegment(SAMPLES, ((1, 2),)))


def _figures(folder: Path) -> None:
    speeds = DriftMonitor(folder / "real_time_factors.json")
    for _ in range(WINDOW):
        speeds.observe(kokoro(), 1, 0.5, 48_000, 1.0)
    History(folder / "selfchecks.jsonl").add(CHECK)


def job(folder: Path, name: str, state: JobState) -> None:
    """A job as the front and the maker of books leave it."""
    jobs = JobFolder(folder)
    source = jobs.of(name) / "source"
    source.parent.mkdir(parents=True)
    with source.open("wb") as file:
        file.write(BOOK.encode())
        order = JobOrder(id=name, file_name="a.md", file_bytes=len(BOOK), created=1.0, options=JobOptions(format="mp3"))
        jobs.publish(order, file)
    jobs.note(name, JobJournal(state=state, title="A book", progress=0.5))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
