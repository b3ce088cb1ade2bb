"""Which of a folder's files is taken for the model."""

import pytest

from worker.engine import EngineUnavailable
from worker.model_search import find_model


def test_what_macos_leaves_beside_a_copied_file_is_no_model(tmp_path):
    (tmp_path / "._mine.onnx").write_bytes(b"\0")
    with pytest.raises(EngineUnavailable):
        find_model(tmp_path)
    (tmp_path / "mine.onnx").write_bytes(b"\0")
    assert find_model(tmp_path).name == "mine.onnx"


def test_a_variant_is_taken_only_where_its_model_is_gone(tmp_path):
    for name in ("kokoro-v1.0.static-int8.onnx", "kokoro-v1.0.own-fp16.onnx", "kokoro-v1.0.onnx"):
        (tmp_path / name).write_bytes(b"\0")
    assert find_model(tmp_path).name == "kokoro-v1.0.onnx"
    (tmp_path / "kokoro-v1.0.onnx").unlink()
    assert find_model(tmp_path).name.startswith("kokoro-v1.0.")
