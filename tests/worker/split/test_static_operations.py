"""Operations in the form that accelerators take: the same numbers, in single and in half precision."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from worker.graph.graph import Graph
from worker.split.static.static_graph import fold_synthesis, replace_operations

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
    nodes = Graph(model)
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


@pytest.mark.parametrize("kind", KINDS)
def test_synthesis_of_the_published_models(kind):
    """One transposed convolution; its first samples are divided by the sum of squared windows; then all are scaled,
    both ends are cut off, and dimensions are taken away."""
    random = np.random.default_rng(0)
    places = np.arange(1, 20)
    form = {"strides": [5], "kernel_shape": [20]}
    nodes = [
        helper.make_node("ConvTranspose", ["x", "basis"], ["overlapped"], **form),
        helper.make_node("Squeeze", ["overlapped", "channel"], ["samples"]),
        helper.make_node("Gather", ["samples", "read"], ["few"], axis=1),
        helper.make_node("Div", ["few", "sums"], ["divided"]),
        helper.make_node("Reshape", ["divided", "rows"], ["updates"]),
        helper.make_node("ScatterND", ["samples", "written", "updates"], ["normalised"]),
        helper.make_node("Unsqueeze", ["normalised", "channel"], ["again"]),
        helper.make_node("Mul", ["again", "four"], ["scaled"]),
        helper.make_node("Slice", ["scaled", "ten", "forever", "axis", "step"], ["begun"]),
        helper.make_node("Slice", ["begun", "nought", "minus_ten", "axis", "step"], ["cut"]),
        helper.make_node("Gather", ["cut", "first"], ["batch"], axis=1),
        helper.make_node("Gather", ["batch", "first"], ["y"], axis=0),
    ]
    constants = {
        "basis": random.standard_normal((6, 1, 20)).astype(kind),
        "sums": (0.1 + random.random((19, 1))).astype(kind),
        "four": np.array(4, kind),
        "read": places[:, None],
        "written": np.stack([np.zeros(19, np.int64), places], axis=-1)[:, None],
        "rows": np.array([19, 1]),
        "first": np.array(0),
        **{
            name: np.array([value])
            for name, value in {
                "channel": 1,
                "ten": 10,
                "forever": 2**62,
                "axis": 2,
                "step": 1,
                "nought": 0,
                "minus_ten": -10,
            }.items()
        },
    }
    inputs = {"x": random.standard_normal((1, 6, 12)).astype(kind)}
    model = model_of(nodes, constants, inputs, kind)
    made = rewritten(model, folded)
    assert {node.op_type for node in made.graph.node} == {"Conv", "Slice", "Transpose", "Mul"}
    found, expected = run(made, inputs).ravel(), run(model, inputs).ravel()
    assert np.allclose(found, expected, atol=KINDS[kind] * abs(expected.astype(float)).max())


@pytest.mark.parametrize(("moved", "stays"), [({}, False), ({"written": 1}, True), ({"read": 1}, True)])
def test_a_synthesis_that_moves_samples_stays(moved, stays):
    """Samples that are divided and put elsewhere aren't a factor for each sample."""
    random = np.random.default_rng(0)
    places = np.arange(1, 9)
    written = np.stack([np.zeros(8, np.int64), places + moved.get("written", 0)], axis=-1)
    nodes = [
        helper.make_node("ConvTranspose", ["x", "basis"], ["overlapped"], strides=[5], kernel_shape=[20]),
        helper.make_node("Squeeze", ["overlapped", "channel"], ["samples"]),
        helper.make_node("Gather", ["samples", "read"], ["few"], axis=1),
        helper.make_node("Div", ["few", "sums"], ["updates"]),
        helper.make_node("ScatterND", ["samples", "written", "updates"], ["y"]),
    ]
    constants = {
        "basis": random.standard_normal((6, 1, 20)).astype(np.float32),
        "sums": np.full(8, 2, np.float32),
        "read": places + moved.get("read", 0),
        "written": written[None],
        "channel": np.array([1]),
    }
    model = model_of(nodes, constants, {"x": np.zeros((1, 6, 12), np.float32)}, "float32")
    assert ("ScatterND" in {node.op_type for node in rewritten(model, folded).graph.node}) == stays


def folded(nodes, shapes):
    # Constants' shapes are asked for too.
    known = shapes | {tensor.name: tuple(tensor.dims) for tensor in nodes.graph.initializers.values()}
    fold_synthesis(nodes, "y", known)
    nodes.drop_unused()
