"""Operations in the form that accelerators take: the same numbers, in single and in half precision."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from worker.split.graph import Graph
from worker.split.nodes import Nodes
from worker.split.static_operations import replace_operations
from worker.split.synthesis import fold_synthesis

KINDS = {"float32": 1e-5, "float16": 2e-2}


def model_of(nodes, constants, inputs, kind):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    given = [helper.make_tensor_value_info(name, element, array.shape) for name, array in inputs.items()]
    made = [helper.make_tensor_value_info("y", element, None)]
    graph = helper.make_graph(nodes, "part", given, made, [numpy_helper.from_array(v, n) for n, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model, inputs):
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)[0]


def rewritten(model, change):
    """After `change`, which is given the nodes and all shapes."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    values = (*inferred.input, *inferred.value_info, *inferred.output)
    shapes = {value.name: tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim) for value in values}
    nodes = Nodes(model.graph.node, ["y"], Graph(model), "test")
    change(nodes, shapes)
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.node[:]
    changed.graph.node.extend(nodes)
    changed.graph.initializer.extend(nodes.constants)
    return changed


@pytest.mark.parametrize("kind", KINDS)
def test_upsampling_without_a_transposed_convolution(kind):
    random = np.random.default_rng(0)
    weights, bias = random.standard_normal((4, 1, 3)).astype(kind), random.standard_normal(4).astype(kind)
    form = {"strides": [2], "pads": [1, 1], "output_padding": [1], "group": 4, "kernel_shape": [3]}
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], **form)
    inputs = {"x": random.standard_normal((1, 4, 8)).astype(kind)}
    model = model_of([node], {"w": weights, "b": bias}, inputs, kind)
    made = rewritten(model, replace_operations)
    assert "ConvTranspose" not in {node.op_type for node in made.graph.node}
    assert np.allclose(run(made, inputs), run(model, inputs), atol=KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_synthesis_without_a_transposed_convolution(kind):
    random = np.random.default_rng(0)
    form = {"strides": [5], "kernel_shape": [20]}
    nodes = [
        helper.make_node("ConvTranspose", ["real", "cosines"], ["one"], **form),
        helper.make_node("ConvTranspose", ["imaginary", "sines"], ["other"], **form),
        helper.make_node("Sub", ["one", "other"], ["all"]),
        helper.make_node("Slice", ["all", "begin", "end", "axis"], ["y"]),
    ]
    constants = {name: random.standard_normal((3, 1, 20)).astype(kind) for name in ("cosines", "sines")}
    constants |= {name: np.array([value]) for name, value in (("begin", 10), ("end", -10), ("axis", 2))}
    inputs = {name: random.standard_normal((1, 3, 12)).astype(kind) for name in ("real", "imaginary")}
    model = model_of(nodes, constants, inputs, kind)
    made = rewritten(model, lambda nodes, shapes: fold_synthesis(nodes, "y", shapes))
    assert "ConvTranspose" not in {node.op_type for node in made.graph.node}
    assert np.allclose(run(made, inputs).ravel(), run(model, inputs).ravel(), atol=KINDS[kind])
