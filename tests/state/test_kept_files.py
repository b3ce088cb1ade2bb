"""Files that each earlier version has left on a disk, read by this one; and those that a later version may leave.

1. A folder that an earlier version wrote -> every kind is read, or made again; the user's own files are as they were.
2. A folder of a later version, with fields that nobody knows -> remade or refused in one line; a job and the user's
   own files keep every byte.
3. A version was raised -> this version's folder has to be stored alongside the others.
"""

import logging
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from books.making.maker import SpeechJournal
from books.making.outputs import decode_chapter
from books.making.passages import PassageSpeech
from frontend.monitoring.drift import DriftMonitor
from frontend.monitoring.selfcheck import History
from frontend.streams.cache import DiskCache
from shm import kept
from shm.book_jobs import JobState
from shm.decoding import json_decoder
from shm.job_folder import JobFolder
from supervisor.settings import profile
from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.options import removed_settings
from tests.state import written
from text.lexicon import LexiconFile
from worker.models import assembly, sources
from worker.providers import verdict
from worker.split import prepared

STORED = sorted(path for path in Path(__file__).parent.iterdir() if (path / "versions.json").is_file())


@pytest.fixture(params=STORED, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what one version has written, the model's time included."""
    copied = Path(shutil.copytree(request.param, tmp_path / "state"))
    origin = msgspec.json.decode((copied / "model.onnx.origin").read_bytes())
    os.utime(copied / "model.onnx", ns=(origin["modified_ns"], origin["modified_ns"]))
    return copied


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a version to come: each kind's version is raised, and each file says more."""

    def encode(self: kept.KeptKind, content: msgspec.Struct | Mapping[str, Any]) -> bytes:
        fields = msgspec.structs.asdict(content) if isinstance(content, msgspec.Struct) else content
        return msgspec.json.encode({kept.FIELD: self.version + 1, "later": {"a": [1]}, **fields})

    with monkeypatch.context() as patch:
        patch.setattr(kept.KeptKind, "encode", encode)
        patch.setattr(kept, "SEGMENT", kept.KeptKind("segment", kept.SEGMENT.version + 1))
        patch.setattr(kept, "STAGES", kept.KeptKind("stages", kept.STAGES.version + 1))
        patch.setattr(written, "KEY", _raised(written.KEY))
        patch.setattr(written, "TUNED", msgspec.structs.replace(written.TUNED, case=_raised(written.TUNED.case)))
        written.write(tmp_path / "state")
    return tmp_path / "state"


def _raised(case: Any) -> Any:
    return msgspec.structs.replace(case, format=case.format + 1)


def test_the_newest_stored_folder_has_the_present_versions() -> None:
    newest = STORED[-1]
    assert msgspec.json.decode((newest / "versions.json").read_bytes()) == {k.name: k.version for k in kept.KINDS}, (
        "a version was raised: python -m tests.state.written tests/state/VERSION stores this version's folder"
    )


def test_the_users_own_files_are_read(folder: Path) -> None:
    context = parse_settings(["--config", str(folder / "config.toml")])
    assert Settings.of(context.params).front.default_speed == 1.25
    assert "chunk_ms" in "".join(removed_settings(context))
    assert len(LexiconFile(folder / "lexicon.txt").current()) == 1


def test_a_job_and_a_half_made_book_go_on(folder: Path) -> None:
    (job,) = JobFolder(folder / "jobs").jobs()
    assert (job.unreadable, job.journal.state, job.journal.title) == (False, JobState.QUEUED, "A book")
    speech = SpeechJournal(folder / "passages").read(written.PASSAGE)
    assert speech and np.array_equal(speech.pcm, written.SAMPLES) and speech.words[0].text == "One"
    assert decode_chapter((folder / "chapter.json").read_bytes()) == written.SPOKEN


def test_caches_and_figures_are_kept(folder: Path) -> None:
    with closing(DiskCache(folder / "audio", 1 << 20)) as audio:
        found = audio.get(b"key")
    assert found and np.array_equal(found.samples, written.SAMPLES)
    assert verdict.load(folder, written.KEY) == written.SAID
    assert profile.read(folder / "tuning.json") == written.TUNED
    assert DriftMonitor(folder / "real_time_factors.json")._baselines
    assert kept.FIELD not in DriftMonitor(folder / "real_time_factors.json")._baselines
    assert History(folder / "selfchecks.jsonl").checks == [written.CHECK]
    assert assembly.origin_of(folder / "model.onnx") == "a package"
    assert sources._load(folder / "checksums.json")
    (stages,) = (folder / "split").glob("*-*")
    manifest = prepared._sound(stages)
    assert manifest and manifest.unsplittable


def test_a_later_job_is_refused_and_keeps_every_byte(later: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {path: path.read_bytes() for path in (later / "jobs").rglob("*") if path.is_file()}
    jobs = JobFolder(later / "jobs")
    (job,) = jobs.jobs()
    jobs.sweep()
    assert job.unreadable and "a newer kokoro-live has written it" in job.journal.error
    assert files == {path: path.read_bytes() for path in (later / "jobs").rglob("*") if path.is_file()}
    assert len(caplog.records) == 1


def test_a_later_journal_is_not_begun_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = folder / "jobs" / written.JOB / "journal.json"
    journal.write_bytes(msgspec.json.encode({"version": 99, "state": {"how": "new"}}))
    (job,) = JobFolder(folder / "jobs").jobs()
    assert job.unreadable and len(caplog.records) == 1


def test_a_later_half_made_book_is_made_again(later: Path) -> None:
    passages = SpeechJournal(later / "passages")
    assert passages.read(written.PASSAGE) is None and written.PASSAGE not in passages
    passages.add(written.PASSAGE, PassageSpeech(written.SAMPLES))
    assert passages.read(written.PASSAGE)
    with pytest.raises(kept.LaterVersion):
        decode_chapter((later / "chapter.json").read_bytes())


REMADE: Mapping[str, Callable[[Path], object]] = {
    "speeds": lambda at: DriftMonitor(at / "real_time_factors.json")._baselines,
    "self-checks": lambda at: History(at / "selfchecks.jsonl").checks,
    "checksums": lambda at: sources._load(at / "checksums.json"),
    "origin": lambda at: assembly.origin_of(at / "model.onnx"),
    "segment": lambda at: DiskCache(at / "audio", 1 << 20).get(b"key"),
    "verdict": lambda at: verdict.load(at, written.KEY),
}


@pytest.mark.parametrize("kind", REMADE)
def test_what_a_later_version_found_out_is_found_out_again(
    later: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert not REMADE[kind](later)
    assert len(caplog.records) <= 1


def test_a_later_profile_is_stale(later: Path) -> None:
    assert profile.read(later / "tuning.json").case.differences(written.TUNED.case) == ["kokoro-live"]


def test_stages_of_a_later_version_stay_alongside(later: Path) -> None:
    with pytest.raises(prepared.Unprepared):  # these bytes are no model: that is found again
        prepared.prepare(later / "model.onnx", later)
    assert len(list((later / "split").glob("*-*"))) == 2


def test_a_version_is_checked_before_the_fields() -> None:
    with pytest.raises(kept.LaterVersion, match="version 2 of 1"):
        kept.JOB.decoder(dict[str, str])(b'{"version": 2, "a": [1]}')
    assert json_decoder(dict[str, int])(kept.JOB.encode({"a": 1})) == {"version": 1, "a": 1}
