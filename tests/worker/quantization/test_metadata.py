"""A file's metadata, read without its weights."""

import onnx
import pytest

from tests.split_model import make_split_model
from worker.quantization.metadata import append_properties, properties_of


@pytest.fixture
def model(tmp_path):
    return make_split_model(tmp_path / "small.onnx")


def test_it_is_what_onnx_reads(model):
    expected = {entry.key: entry.value for entry in onnx.load(model).metadata_props}
    assert expected and properties_of(model) == expected


def test_what_is_appended_is_there_for_everybody(model):
    before = onnx.load(model)
    append_properties(model, {"one": "1", "two": "zwei, ü"})
    after = onnx.load(model)
    assert after.graph == before.graph
    read = {entry.key: entry.value for entry in after.metadata_props}
    assert (
        read
        == properties_of(model)
        == {**{e.key: e.value for e in before.metadata_props}, "one": "1", "two": "zwei, ü"}
    )


def test_the_weights_are_not_read(model, monkeypatch):
    read = []
    opened = type(model).open

    class Counting:
        def __init__(self, file):
            self._file = file

        def read(self, size=-1):
            read.append(size)
            return self._file.read(size)

        def __getattr__(self, name):
            return getattr(self._file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

    monkeypatch.setattr(type(model), "open", lambda self, *a, **k: Counting(opened(self, *a, **k)))
    assert properties_of(model)
    assert 0 < sum(read) < 0.1 * model.stat().st_size


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 not protobuf", b"\xff" * 40, b"\x3a\xff\xff\xff\x7f", b"\x72\x03\x0a\x7fx"]
)
def test_what_is_no_model_is_an_error(tmp_path, content):
    file = tmp_path / "other.onnx"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"other\.onnx is no ONNX file"):
        properties_of(file)


def test_a_cut_off_model_is_an_error(model):
    model.write_bytes(model.read_bytes()[: model.stat().st_size // 2])
    with pytest.raises(ValueError, match="cut off"):
        properties_of(model)
