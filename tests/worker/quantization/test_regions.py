"""Which nodes lose precision, and which keep it."""

import numpy as np
import onnx
import pytest

from tests.split_model import CHANNELS
from tests.worker.quantization.making import Made
from worker.quantization.kinds import Kind
from worker.quantization.regions import is_quantized, prosody_nodes, residual_convolutions, spectrum_convolution
from worker.split.cuts import find_cuts
from worker.split.graph import Graph, load_graph


@pytest.fixture
def graph(made) -> Graph:
    return load_graph(made.model)


def test_the_residual_blocks_have_48_convolutions(graph):
    found = residual_convolutions(graph, find_cuts(graph))
    # Two noise blocks and six residual blocks, each of three dilations and two steps.
    assert len(found) == (2 + 6) * 3 * 2
    shapes = {graph.constant(node.input[1]).shape for node in found}
    assert shapes == {(c, c, kernel) for c in CHANNELS[1:] for kernel in (3, 7, 11)}


def test_the_spectrum_is_made_by_the_last_convolution(graph):
    cuts = find_cuts(graph)
    node = spectrum_convolution(graph, cuts)
    assert graph.constant(node.input[1]).shape == (22, CHANNELS[2], 7)
    assert node.output[0] not in {other.output[0] for other in residual_convolutions(graph, cuts)}


def test_prosody_makes_no_sound(graph):
    cuts = find_cuts(graph)
    outputs = {name for place in prosody_nodes(graph, cuts) for name in graph.nodes[place].output}
    assert {cuts.text, cuts.f0, cuts.energy, cuts.durations} <= outputs
    assert not {cuts.features, cuts.harmonics, cuts.audio} & outputs


def test_what_was_quantised_is_known(graph, made: Made):
    assert not is_quantized(graph)
    for kind in (Kind.DYNAMIC, Kind.STATIC_INT8, Kind.FP16, Kind.WEIGHT_ONLY):
        assert is_quantized(load_graph(made.have(kind))), kind


@pytest.mark.parametrize(
    "operator", ["QGemm", "QLinearAdd", "DynamicQuantizeLSTM", "MatMulIntegerToFloat", "GatherBlockQuantized"]
)
def test_what_onnxruntime_makes_of_a_quantised_model_is_known_too(graph, operator):
    graph.nodes[5].op_type = operator
    assert is_quantized(graph)


def test_a_constant_of_half_precision_counts(graph):
    half = onnx.numpy_helper.from_array(np.ones(3, np.float16))
    graph.nodes.append(onnx.helper.make_node("Constant", [], ["half"], value=half))
    assert is_quantized(graph)
