"""The source's Fourier transform as a convolution: the same spectrum, and the same phases where there is nothing."""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from worker.graph.graph import Graph
from worker.graph.loading import load_graph
from worker.settings import WorkerSettings
from worker.split.rewrites import stage_files
from worker.split.rewrites.choice import Rewrite
from worker.split.rewrites.convolutions import rewrite_spectra
from worker.split.rewrites.cuts import find_cuts
from worker.split.rewrites.stage_files import SOURCE, WEIGHTS
from worker.split.segments.stage import LoadedStage
from worker.targets import StageTarget

LENGTH, HOP, BINS = 20, 5, 11


def model(**attributes):
    constants = {
        "hop": np.array(HOP, np.int64),
        "window": np.hanning(LENGTH + 1)[:-1].astype(np.float32),
        "length": np.array(LENGTH, np.int64),
    }
    node = helper.make_node("STFT", ["x", "hop", "window", "length"], ["y"], **attributes)
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph([node], "part", info[:1], info[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(made, x):
    return ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def test_the_spectrum_is_the_same(monkeypatch):
    monkeypatch.setattr("worker.split.rewrites.convolutions._errors", lambda *_: np.zeros(2 * BINS))
    plain = model()
    nodes = Graph(plain)
    assert rewrite_spectra(nodes) == 1
    x = np.random.default_rng(0).standard_normal((1, 400, 1)).astype(np.float32)
    wanted = run(plain, x)
    del plain.graph.node[:]
    plain.graph.node.extend(nodes)
    plain.graph.initializer.extend(nodes.constants)
    assert wanted.shape == (1, (400 - LENGTH) // HOP + 1, BINS, 2)
    np.testing.assert_allclose(run(plain, x), wanted, atol=1e-4)


def test_a_whole_spectrum_is_left_alone():
    plain = model(onesided=0)
    assert rewrite_spectra(Graph(plain)) == 0


def write_source(model, folders):
    """The source stage alone, in each of the folders, with its rewrites."""
    cuts = find_cuts(graph := load_graph(model))
    for folder, rewrites in folders.items():
        folder.mkdir()
        with (folder / WEIGHTS).open("wb") as weights:
            stage_files._write_source(graph, stage_files._Writer(graph, folder, weights, rewrites), cuts)


def test_the_published_source_is_the_same_in_voice_and_in_silence(real_model, tmp_path):
    """Magnitudes to rounding; phases of sound to a thousandth of a turn, those of silence to a twentieth."""
    folders = tmp_path / "plain", tmp_path / "rewritten"
    write_source(real_model, dict(zip(folders, ((), {Rewrite.SPECTRUM}), strict=True)))
    before, after = (
        {node.op_type for node in onnx.load(folder / SOURCE, load_external_data=False).graph.node} for folder in folders
    )
    assert "STFT" in before and "STFT" not in after
    f0 = np.zeros((1, 60), np.float32)
    f0[:, 20:40] = np.linspace(110, 240, 20)
    stages = [LoadedStage(folder / SOURCE, WorkerSettings(), StageTarget()).session(1) for folder in folders]
    wanted, made = (stage.run(None, {stage.get_inputs()[0].name: f0})[0][0] for stage in stages)
    np.testing.assert_allclose(made[:BINS], wanted[:BINS], atol=1e-5)
    turns = np.abs(np.angle(np.exp(1j * (made[BINS:] - wanted[BINS:])))) / (2 * np.pi)
    sounding = wanted[:BINS] > 1e-2
    assert turns[sounding].max() < 1e-3
    silence = turns[:, 300:900]
    assert silence.max() < 0.05
