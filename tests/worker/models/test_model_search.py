"""The file of a folder that is taken for the model."""

from pathlib import Path

import pytest

from worker.engine import EngineUnavailable
from worker.models.choice import find_model, models_in
from worker.settings import WorkerSettings


def test_what_macos_leaves_beside_a_copied_file_is_no_model(tmp_path):
    (tmp_path / "._mine.onnx").write_bytes(b"\0")
    settings = WorkerSettings(model_dir=tmp_path, cache_dir=tmp_path / "cache")
    with pytest.raises(EngineUnavailable, match=r"there is no Kokoro model in .*models fetch"):
        find_model(settings)
    (tmp_path / "mine.onnx").write_bytes(b"\0")
    assert find_model(settings).name == "mine.onnx"


def test_a_model_that_was_named_is_the_one(tmp_path):
    (tmp_path / "mine.onnx").write_bytes(b"\0")
    assert find_model(WorkerSettings(model=Path("other.onnx"), model_dir=tmp_path)) == Path("other.onnx")


def test_a_model_in_the_cache_comes_after_those_of_the_model_directory(tmp_path):
    settings = WorkerSettings(model_dir=tmp_path, cache_dir=tmp_path / "cache")
    (tmp_path / "cache" / "models").mkdir(parents=True)
    assembled = tmp_path / "cache" / "models" / "kokoro-v1.0.int8.onnx"
    assembled.write_bytes(b"\0")
    assert find_model(settings) == assembled
    (tmp_path / "mine.onnx").write_bytes(b"\0")
    assert find_model(settings).name == "mine.onnx"


def test_a_variant_is_taken_only_where_its_model_is_gone(tmp_path):
    for name in ("kokoro-v1.0.static-int8.onnx", "kokoro-v1.0.own-fp16.onnx", "kokoro-v1.0.onnx"):
        (tmp_path / name).write_bytes(b"\0")
    assert models_in(tmp_path)[0].name == "kokoro-v1.0.onnx"
    (tmp_path / "kokoro-v1.0.onnx").unlink()
    assert models_in(tmp_path)[0].name.startswith("kokoro-v1.0.")
