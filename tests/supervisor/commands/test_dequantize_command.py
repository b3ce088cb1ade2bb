"""`kokoro-live dequantize`, as a user and as a script sees it."""

import shutil

import onnx
import pytest
from click.testing import CliRunner
from onnxruntime.quantization import QuantType, quantize_dynamic

from supervisor.cli import kokoro_live
from tests.split_model import make_split_model
from worker.models import sources
from worker.models.assembly import PartFile
from worker.models.sources import part_of


@pytest.fixture(autouse=True)
def own_checksums(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")


@pytest.fixture(scope="module")
def quantized(tmp_path_factory):
    """A folder with a small model, and with a folder that has it in int8 under a published name."""
    made = tmp_path_factory.mktemp("quantized")
    (made / "my models").mkdir()
    plain = make_split_model(made / "small.onnx", predicted=False)
    int8 = made / "my models" / "kokoro-v1.0.int8.onnx"
    quantize_dynamic(plain, int8, ["Conv", "MatMul", "LSTM", "Gather"], weight_type=QuantType.QUInt8)
    return made


@pytest.fixture
def folder(tmp_path, quantized):
    shutil.copytree(quantized, tmp_path, dirs_exist_ok=True)
    return tmp_path / "my models"


def run(*arguments):
    return CliRunner().invoke(kokoro_live, ["dequantize", *map(str, arguments)])


def test_a_float_model_stands_alongside(folder):
    """Twice: a file that the command made is replaced."""
    for _ in range(2):
        result = run("--model-dir", folder)
        assert result.exit_code == 0, result.output
        out = folder / "kokoro-v1.0.float.onnx"
        assert f"To use it: kokoro-live serve --model '{out}'" in result.stdout
        assert not any("Integer" in node.op_type or "Quant" in node.op_type for node in onnx.load(out).graph.node)
        assert {file.name for file in folder.iterdir()} == {"kokoro-v1.0.int8.onnx", out.name}


def test_what_is_wrong_is_said_with_the_cure(folder, tmp_path):
    int8, strange = folder / "kokoro-v1.0.int8.onnx", tmp_path / "strange.onnx"
    strange.write_bytes(b"not an ONNX file at all")
    for named, says in (
        (["--model", "nowhere.onnx"], "there is no model file nowhere.onnx"),
        (["--model", strange], f"{strange} can't be made a float model: it is no ONNX model"),
        (["--model", tmp_path / "small.onnx"], "isn't in dynamic int8, as kokoro-v1.0.int8.onnx is"),
        (["--out", tmp_path / "kokoro-v1.0.onnx"], "has a published file's name"),
        (["--out", tmp_path], "is a folder"),
        (["--out", strange], "is there already, and `dequantize` didn't make it"),
        (["--out", "/proc/mine.onnx"], "/proc/mine.onnx can't be written"),
    ):
        result = run("--model-dir", folder, "--model", int8, *named)
        assert result.exit_code == 1, named
        assert says in " ".join(result.stderr.split()), result.stderr
        assert "Traceback" not in result.output
    assert strange.read_bytes() == b"not an ONNX file at all"


def test_a_pattern_that_is_unknown_is_named(folder):
    int8 = folder / "kokoro-v1.0.int8.onnx"
    model = onnx.load(int8)
    node = next(node for node in model.graph.node if node.op_type == "DynamicQuantizeLSTM")
    del node.input[-1]
    onnx.save(model, int8)
    result = run("--model-dir", folder)
    assert "can't be made a float model: its DynamicQuantizeLSTM" in " ".join(result.stderr.split())


def test_a_second_maker_is_rejected_and_what_a_killed_one_left_is_overwritten(folder):
    out = folder / "kokoro-v1.0.float.onnx"
    first = PartFile.lock(part_of(out))
    with first:
        first.write(b"half")
        assert "is being made by another" in run("--model-dir", folder).stderr
        assert first.path.read_bytes() == b"half"
    assert run("--model-dir", folder).exit_code == 0
    assert onnx.load(out).graph.node and not first.path.exists()


def test_nothing_is_left_of_what_fails(folder, monkeypatch):
    def fail(model, path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(onnx, "save", fail)
    assert "float.onnx can't be written: No space left on device. Nothing is left" in " ".join(
        run("--model-dir", folder).stderr.split()
    )
    assert [file.name for file in folder.iterdir()] == ["kokoro-v1.0.int8.onnx"]
