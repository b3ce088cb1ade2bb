"""A voice's statistics: frozen once, kept, and measured again when the file is damaged."""

import logging

import numpy as np
import pytest

from worker.split.statistics import Statistics, VoiceStatistics, voice_key


def told(value):
    return Statistics(*(np.full(size, value, np.float32) for size in (3, 3, 5, 5)))


def store(tmp_path):
    return VoiceStatistics(tmp_path / "statistics", (3, 5))


def frozen(tmp_path, value=1.0):
    made = store(tmp_path)
    made.freeze("voice", told(value))
    return made


def test_what_is_frozen_never_changes(tmp_path):
    made = frozen(tmp_path)
    made.freeze("voice", told(7))
    assert all((vector == 1).all() for vector in made.frozen("voice"))
    assert made.frozen("other") is None


def test_who_was_first_is_right(tmp_path):
    """Two processes measure the same voice at the same time."""
    one, other = store(tmp_path), store(tmp_path)
    one.freeze("voice", told(1))
    other.freeze("voice", told(2))
    for process in (one, other, store(tmp_path)):
        assert all((vector == 1).all() for vector in process.frozen("voice"))
    assert [file.name for file in (tmp_path / "statistics").iterdir()] == ["voice.npz"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-30]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes().replace(b"\x00\x00\x80?", b"\x00\x00\x80A", 1)),
        lambda path: np.savez(path, **told(1)._asdict() | {"front_means": np.zeros(4, np.float32)}),
        lambda path: np.savez(path, **told(np.nan)._asdict()),
    ],
    ids=["shorter", "empty", "another value", "another model", "not numbers"],
)
def test_a_damaged_file_is_measured_again(tmp_path, damage, caplog):
    frozen(tmp_path)
    damage(tmp_path / "statistics" / "voice.npz")
    with caplog.at_level(logging.WARNING):
        again = store(tmp_path)
        assert again.frozen("voice") is None
    assert "measured again" in caplog.text
    again.freeze("voice", told(2))
    assert all((vector == 2).all() for vector in store(tmp_path).frozen("voice"))


def test_a_folder_that_cant_be_written(tmp_path, caplog):
    (tmp_path / "statistics").write_text("a file")
    made = frozen(tmp_path)
    assert "can't be kept" in caplog.text
    assert all((vector == 1).all() for vector in made.frozen("voice"))


def test_a_blends_key():
    blend = [("a", 0.25), ("b", 0.75)]
    assert voice_key(blend) == voice_key(blend[::-1])
    assert len({voice_key(blend), voice_key([("a", 0.75), ("b", 0.25)]), voice_key([("a", 1.0)])}) == 3
