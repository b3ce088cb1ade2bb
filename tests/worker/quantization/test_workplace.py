"""Where a variant is made: one maker at a time, and nothing left."""

import tempfile
from pathlib import Path

import pytest

from worker.graph.float_model import QuantizationError, workplace


def test_it_is_beside_the_file_and_gone_afterwards(tmp_path):
    with workplace(tmp_path / "new" / "mine.onnx") as folder:
        assert folder.parent == tmp_path / "new" and folder.is_dir()
        (folder / "part").write_bytes(b"half")
        with tempfile.NamedTemporaryFile() as file:
            assert Path(file.name).parent == folder, "other programs' libraries put theirs there too"
    assert list((tmp_path / "new").iterdir()) == []
    with tempfile.NamedTemporaryFile() as file:
        assert Path(file.name).parent != folder


def test_nothing_stays_of_what_fails(tmp_path):
    with pytest.raises(RuntimeError), workplace(tmp_path / "mine.onnx") as folder:
        (folder / "part").write_bytes(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_one_has_left_is_removed(tmp_path):
    left = tmp_path / ".mine.onnx.unfinished"
    (left / "split").mkdir(parents=True)
    (left / "mine.onnx").write_bytes(b"half")
    with workplace(tmp_path / "mine.onnx") as folder:
        assert folder == left and list(folder.iterdir()) == []


def test_a_second_one_is_sent_away_and_leaves_the_first_alone(tmp_path):
    out = tmp_path / "mine.onnx"
    with workplace(out) as folder:
        (folder / "part").write_bytes(b"half")
        with pytest.raises(QuantizationError, match=r"mine\.onnx is being made by another"), workplace(out):
            pass
        assert (folder / "part").exists()
        with workplace(tmp_path / "other.onnx"):
            pass
    with workplace(out):
        pass
