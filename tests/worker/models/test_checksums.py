"""A file's hash is computed once, and again when the file is another."""

import hashlib
import logging
import os

import pytest

from worker.models import sources
from worker.models.sources import cached_sha256_of


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
