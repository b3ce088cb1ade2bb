"""Other nodes in a model."""

import onnx
import pytest
from onnx import helper, numpy_helper

from tests.split_model import make_split_model
from worker.graph.dynamic_int8 import replace_nodes


def test_nodes_in_any_order_are_put_in_order(tmp_path):
    whole = onnx.load(make_split_model(tmp_path / "small.onnx", predicted=False))
    nodes = [type(node).FromString(node.SerializeToString()) for node in reversed(whole.graph.node)]
    weights = [type(tensor).FromString(tensor.SerializeToString()) for tensor in whole.graph.initializer]
    names = {node.output[0] for node in nodes}
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(whole)
    replace_nodes(whole, nodes, weights)
    onnx.checker.check_model(whole)
    assert {node.output[0] for node in whole.graph.node} <= names


def test_nodes_and_weights_without_a_taker_are_left_out(tmp_path):
    whole = onnx.load(make_split_model(tmp_path / "small.onnx", predicted=False))
    nodes, weights = list(whole.graph.node), list(whole.graph.initializer)
    extra = numpy_helper.from_array(onnx.numpy_helper.to_array(weights[0]), "extra")
    lone = helper.make_node("Identity", ["extra"], ["nobody"])
    copies = [type(part).FromString(part.SerializeToString()) for part in [*nodes, lone]]
    kept = [type(part).FromString(part.SerializeToString()) for part in [*weights, extra]]
    replace_nodes(whole, copies, kept)
    assert "nobody" not in {name for node in whole.graph.node for name in node.output}
    assert "extra" not in {tensor.name for tensor in whole.graph.initializer}
