"""Telling the published files from others."""

import hashlib
import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from worker.engine import EngineUnavailable
from worker.models import sources
from worker.models.sources import (
    DEFAULT,
    KNOWN,
    BadManifest,
    CorruptModel,
    FilePresence,
    KnownFile,
    cached_sha256_of,
    check,
    known_files,
    part_of,
    sha256_of,
    sha256_of_arrays,
    state_of,
)
from worker.settings import default_model_dir

MODEL = b"model " * 1000
VOICES = {"af_heart": np.arange(2 * 256, dtype=np.float32).reshape(2, 1, 256), "bm_lewis": np.ones((2, 1, 256), "f4")}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def known(data: bytes = MODEL, **changes: object) -> dict[str, KnownFile]:
    fields = {
        "name": "model.onnx",
        "size": len(data),
        "sha256": sha256(data),
        "precision": "fp32",
        "what": "a model",
        "url": "http://127.0.0.1/model.onnx",
    }
    file = KnownFile(**{**fields, **changes})  # type: ignore[arg-type]
    return {file.name: file}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "voices.npz"
    np.savez(path, **VOICES)
    return path


@pytest.fixture
def voices(archive: Path) -> dict[str, KnownFile]:
    return known(archive.read_bytes(), name=archive.name, arrays_sha256=sha256_of_arrays(archive))


def test_the_table_has_what_a_fetch_without_names_gets_and_says_where_each_file_is() -> None:
    assert set(DEFAULT) <= set(KNOWN)
    for name, file in KNOWN.items():
        assert file.name == name
        assert file.url.startswith("https://") and file.url.endswith(f"/{name}")
    hashes = [sha for file in KNOWN.values() for sha in (file.sha256, *file.also_sha256)]
    assert len(set(hashes)) == len(hashes)
    assert all(len(bytes.fromhex(sha)) == 32 for sha in hashes)


def test_another_edition_of_the_same_name_is_as_good(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"edition of next year")
    check(path, known(also_sha256=(sha256(b"edition of next year"),))["model.onnx"])


@pytest.mark.parametrize("data", [MODEL[:-1], MODEL[:-1] + b"x", b""], ids=["truncated", "one byte differs", "empty"])
def test_a_corrupt_file_is_named_with_both_hashes_and_both_sizes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(CorruptModel) as caught:
        check(path, known()["model.onnx"])
    for part in (str(path), sha256(data), sha256(MODEL), f"{len(data):,} bytes", f"{len(MODEL):,} bytes"):
        assert part in str(caught.value)
    assert isinstance(caught.value, EngineUnavailable)


def test_a_file_that_cannot_be_read_is_corrupt_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").mkdir()
    with pytest.raises(CorruptModel, match=r"can't be read: Is a directory"):
        check(tmp_path / "model.onnx", known()["model.onnx"])


def test_voices_are_compared_by_their_arrays_whatever_wrote_the_archive(
    archive: Path, voices: dict[str, KnownFile]
) -> None:
    np.savez_compressed(archive, **dict(reversed(VOICES.items())))
    assert sha256_of(archive) != voices[archive.name].sha256
    check(archive, voices[archive.name])


@pytest.mark.parametrize(
    "other",
    [
        {"af_heart": VOICES["af_heart"]},
        {**VOICES, "bm_lewis": VOICES["bm_lewis"] * np.float32(1.0001)},
        {**VOICES, "bm_lewis": VOICES["bm_lewis"].reshape(1, 2, 256)},
        {"af_heart": VOICES["af_heart"], "bm_daniel": VOICES["bm_lewis"]},
    ],
    ids=["voice missing", "value", "shape", "name"],
)
def test_other_voices_are_not_taken_for_the_published_ones(
    archive: Path, voices: dict[str, KnownFile], other: dict[str, np.ndarray]
) -> None:
    np.savez(archive, **other)
    with pytest.raises(CorruptModel, match=f"expected {voices[archive.name].arrays_sha256}"):
        check(archive, voices[archive.name])


def test_a_damaged_archive_of_voices_is_corrupt_wherever_the_damage_is(
    archive: Path, voices: dict[str, KnownFile]
) -> None:
    whole = archive.read_bytes()
    for place in (*range(0, len(whole), 97), *range(len(whole) - 200, len(whole))):
        archive.write_bytes(whole[:place])
        with pytest.raises(CorruptModel):
            check(archive, voices[archive.name])
    archive.write_bytes(whole.replace(VOICES["bm_lewis"].tobytes(), VOICES["bm_lewis"].tobytes()[:-1] + b"\0"))
    with pytest.raises(CorruptModel, match=r"isn't an archive of voices .*CRC"):
        check(archive, voices[archive.name])


def test_the_state_of_a_directory(tmp_path: Path) -> None:
    file = known()["model.onnx"]
    path = tmp_path / file.name
    assert state_of(tmp_path / "nowhere", file) is FilePresence.MISSING
    part_of(path).write_bytes(MODEL[:5])
    assert state_of(tmp_path, file) is FilePresence.PARTIAL
    path.write_bytes(MODEL[:5])
    assert state_of(tmp_path, file) is FilePresence.CORRUPT
    path.write_bytes(MODEL)
    assert state_of(tmp_path, file) is FilePresence.PRESENT


ROW = {
    "name": "mine.onnx",
    "size": 3,
    "sha256": sha256(b"abc"),
    "precision": "fp16",
    "what": "my model",
    "url": "http://127.0.0.1/mine.onnx",
}


def test_a_manifest_is_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps([ROW]))
    (tmp_path / "mine.onnx").write_bytes(b"abc")
    table = known_files(path)
    assert table == {"mine.onnx": KnownFile(**ROW)}  # type: ignore[arg-type]
    check(tmp_path / "mine.onnx", table["mine.onnx"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "truncated"),
        ("{}", "Expected `array`"),
        (json.dumps([{**ROW, "size": "big"}]), r"\$\[0\]\.size"),
        (json.dumps([{**ROW, "size": 0}]), r"\$\[0\]\.size"),
        (json.dumps([{**ROW, "name": "../mine.onnx"}]), r"\$\[0\]\.name"),
        (json.dumps([{**ROW, "name": ".."}]), r"\$\[0\]\.name"),
        (json.dumps([{**ROW, "name": "/tmp/mine.onnx"}]), r"\$\[0\]\.name"),
        (json.dumps([{**ROW, "sha256": "abc"}]), r"\$\[0\]\.sha256"),
        (json.dumps([{**ROW, "sha265": "abc"}]), "unknown field `sha265`"),
        (json.dumps([{key: ROW[key] for key in ROW if key != "url"}]), "missing required field `url`"),
        (json.dumps([ROW, ROW]), "two files of one name"),
    ],
)
def test_a_bad_manifest_is_refused_with_the_place(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(BadManifest, match=says):
        known_files(path)


def test_a_manifest_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadManifest, match=r"none\.json can't be read: No such file"):
        known_files(tmp_path / "none.json")


def test_the_model_directory_is_the_variables_or_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KOKORO_LIVE_MODEL_DIR", str(tmp_path))
    assert default_model_dir() == tmp_path
    monkeypatch.setenv("KOKORO_LIVE_MODEL_DIR", "~/voices")
    assert default_model_dir() == Path(os.path.expanduser("~/voices"))  # noqa: PTH111
    monkeypatch.delenv("KOKORO_LIVE_MODEL_DIR")
    assert default_model_dir().parts[-2:] == ("kokoro-live", "models")


@pytest.fixture
def hashed(monkeypatch):
    """The files that were really read."""
    read = []

    def counting(path, real=sources.sha256_of):
        read.append(path)
        return real(path)

    monkeypatch.setattr(sources, "sha256_of", counting)
    return read


def test_a_second_look_reads_nothing(tmp_path, hashed):
    file, cache = tmp_path / "model.onnx", tmp_path / "new" / "cache.json"
    file.write_bytes(b"weights")
    first = cached_sha256_of(file, cache)
    assert first == cached_sha256_of(file, cache) == hashlib.sha256(b"weights").hexdigest()
    assert hashed == [file]


def test_a_changed_file_is_read_again(tmp_path, hashed):
    file, cache = tmp_path / "model.onnx", tmp_path / "cache.json"
    file.write_bytes(b"weights")
    cached_sha256_of(file, cache)
    modified = file.stat().st_mtime_ns
    file.write_bytes(b"WEIGHTS")
    os.utime(file, ns=(modified + 1, modified + 1))
    assert cached_sha256_of(file, cache) == hashlib.sha256(b"WEIGHTS").hexdigest()


def test_a_file_put_in_its_place_is_read_again(tmp_path):
    """Same name, size and time, as after `cp -p`: the inode tells."""
    file, other, cache = tmp_path / "model.onnx", tmp_path / "other", tmp_path / "cache.json"
    file.write_bytes(b"weights")
    other.write_bytes(b"WEIGHTS")
    cached_sha256_of(file, cache)
    modified = file.stat().st_mtime_ns
    os.utime(other, ns=(modified, modified))
    other.replace(file)
    assert cached_sha256_of(file, cache) == hashlib.sha256(b"WEIGHTS").hexdigest()


def test_several_files_are_remembered(tmp_path, hashed):
    cache = tmp_path / "cache.json"
    files = [tmp_path / name for name in ("a", "b")]
    for file in files:
        file.write_bytes(file.name.encode())
    for _ in range(2):
        for file in files:
            cached_sha256_of(file, cache)
    assert hashed == files


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"/model.onnx": {"size": 1}}', b"\xff"])
def test_a_damaged_cache_costs_time_only(tmp_path, content, caplog):
    file, cache = tmp_path / "model.onnx", tmp_path / "cache.json"
    file.write_bytes(b"weights")
    cache.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert cached_sha256_of(file, cache) == hashlib.sha256(b"weights").hexdigest()
    assert str(cache) in caplog.text
    caplog.clear()
    cached_sha256_of(file, cache)
    assert not caplog.text


def test_a_cache_that_cant_be_written_costs_time_only(tmp_path, caplog):
    file, cache = tmp_path / "model.onnx", tmp_path / "file" / "cache.json"
    file.write_bytes(b"weights")
    (tmp_path / "file").write_bytes(b"not a folder")
    with caplog.at_level(logging.WARNING):
        assert cached_sha256_of(file, cache) == hashlib.sha256(b"weights").hexdigest()
    assert str(cache) in caplog.text
