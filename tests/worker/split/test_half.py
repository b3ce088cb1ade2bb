"""Static windows of an int8 model in floats and in half precision: what CoreML can take, and the same sound."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.split_model import stages_of
from tests.worker.split.coreml_operators import MLPROGRAM
from tests.worker.split.splitting import NOBODY, Parts, decibels, int8_model
from worker.graph.dynamic_int8 import dequantize
from worker.graph.graph import CannotSplit, to_half
from worker.graph.loading import load_graph
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, Unprepared
from worker.split.segments.stage import LoadedStage
from worker.split.static import static_windows
from worker.split.static.static_windows import static_generator, window_inputs
from worker.targets import StageTarget

FRAMES = 40


@pytest.fixture(scope="module")
def small_int8() -> Path:
    return int8_model()


@pytest.fixture(scope="module")
def its_stages(small_int8: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return stages_of(small_int8, tmp_path_factory.mktemp("int8"))


def run(file: Path, arrays: list[Any]) -> Any:
    return LoadedStage(file, WorkerSettings(), StageTarget()).run(arrays, 1, NOBODY)[0]


@pytest.mark.slow
@pytest.mark.parametrize("half", [False, True])
def test_an_int8_model_has_static_windows_in_floats(small_int8: Path, its_stages: Prepared, half: bool) -> None:
    """The float graph of the same weights, run as it was cut, is what they are compared with."""
    file = static_generator(small_int8, its_stages, FRAMES, half)
    graph = onnx.load(file, load_external_data=False).graph
    assert {node.op_type for node in graph.node} <= MLPROGRAM
    assert {value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)} == {TensorProto.FLOAT}
    arrays = [*window_inputs(its_stages, FRAMES, seed=5).values()]
    [floats] = (its_stages.folder / "floats").glob("generator.onnx")
    assert decibels(run(floats, [*arrays, np.zeros(2)]), run(file, arrays)) > (35 if half else 100)


def test_what_changes_along_time_is_in_half_precision_until_the_spectrum(parts: Parts) -> None:
    graph = onnx.load(static_generator(parts.model, parts.prepared, FRAMES, half=True)).graph
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    types |= {value.name: value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)}
    inferred = onnx.shape_inference.infer_shapes(helper.make_model(graph), strict_mode=True, data_prop=True).graph
    types |= {value.name: value.type.tensor_type.elem_type for value in inferred.value_info}
    for node in graph.node:
        if node.op_type != "Cast":
            assert len({types[name] for name in (*node.input, *node.output)} - {TensorProto.INT64}) == 1, node
    convolutions = [types[node.output[0]] for node in graph.node if node.op_type in ("Conv", "ConvTranspose")]
    assert convolutions.count(TensorProto.FLOAT16) > 0.9 * len(convolutions)
    assert {types[node.output[0]] for node in graph.node if node.op_type == "Exp"} == {TensorProto.FLOAT}
    assert {types[node.output[0]] for node in graph.node if node.op_type == "Sqrt"} == {TensorProto.FLOAT}


def test_what_is_no_speech_is_refused() -> None:
    """A graph whose output would be in half precision, and one that casts."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    nothing, cast = helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Cast", ["x"], ["y"], to=1)
    for operation, said in ((nothing, "spectrum"), (cast, "casts")):
        with pytest.raises(CannotSplit, match=said):
            to_half(helper.make_model(helper.make_graph([operation], "g", ends[:1], ends[1:])), ["x"])


def test_a_model_in_integers_that_cannot_be_converted_is_said(
    small_int8: Path, its_stages: Prepared, tmp_path: Path
) -> None:
    graph = load_graph(small_int8)
    graph.model.graph.node.append(helper.make_node("DequantizeLinear", ["audio", "scale"], ["more"]))
    graph.model.graph.output.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, None))
    odd = tmp_path / "odd.onnx"
    onnx.save(graph.model, odd)
    own = Prepared(tmp_path / "stages", its_stages.manifest)
    shutil.copytree(its_stages.folder, own.folder, ignore=shutil.ignore_patterns("floats", "generator-4*"))
    with pytest.raises(Unprepared, match="DequantizeLinear"):
        static_generator(odd, own, FRAMES)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["generator-40.onnx", "floats/weights.bin", "floats/weights.sha256", "floats"])
def test_what_is_lost_is_made_again_and_floats_are_made_once(
    small_int8: Path, its_stages: Prepared, tmp_path: Path, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Prepared(tmp_path / "stages", its_stages.manifest)
    static_generator(small_int8, its_stages, FRAMES)
    shutil.copytree(its_stages.folder, own.folder)
    if lost == "floats":
        shutil.rmtree(own.folder / lost)
    else:
        (own.folder / lost).unlink()
    made: list[str] = []

    def counted(graph: Any) -> Any:
        made.append("floats")
        return dequantize(graph)

    monkeypatch.setattr("worker.graph.dynamic_int8.dequantize", counted)
    arrays = [*window_inputs(own, FRAMES, seed=5).values()]
    again = run(static_generator(small_int8, own, FRAMES), arrays)
    assert np.array_equal(again, run(static_generator(small_int8, its_stages, FRAMES), arrays))
    static_generator(small_int8, own, FRAMES + 2, half=True)
    assert len(made) == (lost != "generator-40.onnx")
    monkeypatch.setattr(static_windows, "_make", lambda *_: pytest.fail("made again"))
    static_generator(small_int8, own, FRAMES)
    static_generator(small_int8, own, FRAMES + 2, half=True)
