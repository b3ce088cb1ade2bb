"""A part taken out of a model and put back in."""

import numpy as np
import onnx
import pytest

from tests.split_model import make_split_model
from tests.worker.quantization.making import session
from worker.quantization.surgery import name_nodes, own_weights, part_of, put_back, put_in_order
from worker.split.cuts import find_cuts
from worker.split.graph import load_graph


@pytest.fixture
def model(tmp_path):
    # With its noise as inputs, the same inputs give the same sound.
    return make_split_model(tmp_path / "small.onnx", durations_output=True)


def deterministic(graph):
    """Without the randomness of the source, whose noise would hide everything."""
    for node in graph.model.graph.node:
        if node.op_type.startswith("Random"):
            operand = node.input[0]
            node.op_type = "Identity"
            del node.attribute[:], node.input[:]
            node.input.append(operand)
    return graph


def outputs(model):
    feeds = {
        "tokens": np.array([[0, *range(50, 70), 0]]),
        "style": np.random.default_rng(0).standard_normal((1, 256), np.float32),
        "speed": np.ones(1, np.float32),
    }
    return session(model.SerializeToString()).run(None, feeds)


def test_put_back_unchanged_it_speaks_the_same(model):
    graph = deterministic(load_graph(model))
    expected = outputs(graph.model)
    cuts = find_cuts(graph)
    inputs = [cuts.features, cuts.harmonics, cuts.style]
    put_back(graph, part_of(graph, inputs, [cuts.audio]), inputs, [cuts.audio])
    onnx.checker.check_model(graph.model)
    for one, two in zip(expected, outputs(graph.model), strict=True):
        assert np.array_equal(one, two)
    assert np.abs(expected[0]).max() > 0


def test_a_part_in_the_middle_can_be_put_back_too(model):
    graph = deterministic(load_graph(model))
    expected = outputs(graph.model)
    cuts = find_cuts(graph)
    inputs = [cuts.text, cuts.f0, cuts.energy, cuts.style]
    put_back(graph, part_of(graph, inputs, [cuts.features]), inputs, [cuts.features])
    onnx.checker.check_model(graph.model)
    for one, two in zip(expected, outputs(graph.model), strict=True):
        assert np.array_equal(one, two)


def test_nodes_in_any_order_are_put_in_order(model):
    whole = onnx.load(model)
    nodes = list(reversed(whole.graph.node))
    names = [node.output[0] for node in whole.graph.node]
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(whole)
    put_in_order(whole)
    onnx.checker.check_model(whole)
    assert {node.output[0] for node in whole.graph.node} <= set(names)


def test_every_node_gets_a_name_of_its_own(model):
    graph = load_graph(model)
    graph.nodes[3].name = graph.nodes[9].name = "the same"
    name_nodes(graph)
    names = [node.name for node in graph.nodes]
    assert len(set(names)) == len(names) and all(names)
    assert graph.nodes[3].name == "the same"


def test_weights_behind_identity_are_taken_directly(model):
    graph = load_graph(model)
    norms = list(graph.of_type("InstanceNormalization"))
    assert any(node.input[1] not in graph.initializers for node in norms)
    values = [graph.constant(node.input[1]) for node in norms]
    own_weights(graph, norms)
    assert all(node.input[1] in graph.initializers for node in norms)
    for node, value in zip(norms, values, strict=True):
        assert np.array_equal(graph.constant(node.input[1]), value)
