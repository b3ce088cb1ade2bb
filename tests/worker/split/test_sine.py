"""Snake between a norm and a quantisation: a sine, and the factor in the norm; anything else is left alone."""

from collections import Counter
from functools import partial

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from tests.split_model import stages_of
from tests.worker.split.splitting import USUAL, int8_model, rewritten
from worker.split.rewrites.choice import MOST_CORES_FOR_SINE, Rewrite, default
from worker.split.rewrites.snake import fold_sines
from worker.split.rewrites.stage_files import EXACT_GENERATOR, GENERATOR

CHANNELS, TIME = 5, 400
IMPORTS = [helper.make_opsetid("", 17)]
INPUTS = {"x": [1, CHANNELS, TIME]} | {name: [CHANNELS] for name in ("scale", "shift", "means", "variances")}
FACTORS = np.linspace(0.3, 4, CHANNELS, dtype=np.float32).reshape(1, CHANNELS, 1)


def snake(outside=1 / FACTORS):
    """Nodes from a norm to the quantised `y`, and their constants."""
    constants = {"a": FACTORS, "c": outside.astype(np.float32)}
    nodes = [
        helper.make_node("BatchNormalization", ["x", "scale", "shift", "means", "variances"], ["n"], epsilon=1e-3),
        helper.make_node("Mul", ["n", "a"], ["inner"]),
        helper.make_node("Sin", ["inner"], ["sine"]),
        helper.make_node("Mul", ["sine", "sine"], ["square"]),
        helper.make_node("Mul", ["square", "c"], ["outer"]),
        helper.make_node("Add", ["n", "outer"], ["total"]),
        helper.make_node("DynamicQuantizeLinear", ["total"], ["y", "s", "z"]),
    ]
    return nodes, [numpy_helper.from_array(value, name) for name, value in constants.items()]


folded = partial(rewritten, fold_sines, outputs=("y", "s", "z"))


def run(nodes, constants):
    """The sound before its quantisation."""
    rng = np.random.default_rng(2)
    feeds = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in INPUTS.items()}
    feeds["variances"] = np.abs(feeds["variances"]) + 0.5
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in INPUTS.items()]
    output = helper.make_tensor_value_info("total", TensorProto.FLOAT, None)
    taken = {name for node in nodes for name in node.input}
    kept = [constant for constant in constants if constant.name in taken]
    graph = helper.make_graph(nodes, "part", inputs, [output], kept)
    model = helper.make_model(graph, opset_imports=IMPORTS, ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]


def test_the_sound_is_the_same_in_fewer_operations():
    nodes, constants = snake()
    after, kept, count = folded(nodes, constants)
    assert count == 1
    by_sample = [node.op_type for node in after if CHANNELS not in _sizes(node, kept)]
    assert Counter(by_sample) == Counter(["BatchNormalization", "Sin", "Mul", "Add", "Mul", "DynamicQuantizeLinear"])
    np.testing.assert_allclose(run(after, kept), run(nodes, constants), rtol=1e-5, atol=1e-5)


def _sizes(node, constants):
    """Lengths of the node's constants with one dimension: those of operations on a norm's parameters."""
    return {constant.dims[0] for constant in constants if constant.name in node.input and len(constant.dims) == 1}


def test_a_snake_stays_where_its_factors_or_takers_are_others():
    """Where the outer factor isn't the inner one's reciprocal, where the sound isn't quantised, and where anything else
    takes the norm."""
    assert folded(*snake(outside=2 / FACTORS))[2] == 0
    nodes, constants = snake()
    assert folded(nodes[:-1], constants, outputs=("total",))[2] == 0
    more = [*nodes, helper.make_node("Neg", ["n"], ["other"])]
    assert folded(more, constants, outputs=("y", "other"))[2] == 0


def operators(folder, stage):
    return Counter(node.op_type for node in onnx.load(folder / stage, load_external_data=False).graph.node)


def test_all_of_an_int8_generator_whose_statistics_are_given(tmp_path):
    """The generator that computes its own statistics has no norm that takes a factor."""
    rewrites = (USUAL, USUAL | {Rewrite.SINE})
    before, after = (stages_of(int8_model(), tmp_path, chosen).folder for chosen in rewrites)
    had, has = (operators(folder, GENERATOR) for folder in (before, after))
    norms = had["BatchNormalization"]
    assert has["BatchNormalization"] == norms > 40
    assert has["Sin"] - had["Sin"] == had["Round"] - has["Round"] == norms
    assert operators(before, EXACT_GENERATOR) == operators(after, EXACT_GENERATOR)


def test_a_sine_in_one_thread_is_for_few_cores():
    assert default(MOST_CORES_FOR_SINE, saturates=False) == set(Rewrite)
    assert default(MOST_CORES_FOR_SINE + 1, saturates=False) == set(Rewrite) - {Rewrite.SINE}
    assert default(1, saturates=True) == set(Rewrite) - {Rewrite.PACKED}
