"""Nodes with graphs inside them: what such a node takes from outside counts as taken, and nothing else."""

import pytest
from onnx import TensorProto, helper

from worker.graph.graph import Graph


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


@pytest.fixture
def branching():
    """`outer` and `deep` are taken by branches only, `passed` is what a branch gives as it is; `nobody` by none."""

    def branch(name, *nodes, output):
        return helper.make_graph(nodes, name, [], [value(output)])

    inner = helper.make_node(
        "If",
        ["condition"],
        ["chosen"],
        then_branch=branch("deep_then", helper.make_node("Neg", ["deep"], ["deepest"]), output="deepest"),
        else_branch=branch("deep_else", output="passed"),
    )
    outer = helper.make_node(
        "If",
        ["condition"],
        ["y"],
        then_branch=branch("then", helper.make_node("Relu", ["outer"], ["inside"]), output="inside"),
        else_branch=branch("else", inner, output="chosen"),
    )
    makers = [helper.make_node("Clip", ["x", "", "most"], [name]) for name in ("outer", "deep", "passed", "nobody")]
    return [*makers, outer]


def whole(nodes):
    return Graph(helper.make_model(helper.make_graph(nodes, "whole", [value("x")], [value("y")])))


def test_what_a_branch_takes_from_outside_is_kept(branching):
    nodes = whole(branching)
    *_, outer = nodes
    nodes.drop_unused()
    assert [name for node in nodes for name in node.output] == ["outer", "deep", "passed", "y"]
    assert nodes.taken() == {"x", "most", "condition", "outer", "deep", "passed"}
    assert [nodes.only_taker(name) is outer for name in ("outer", "deep", "passed")] == [True] * 3
    assert len(nodes.takers("x")) == 3


def test_a_replacement_is_found_at_once(branching):
    """Whatever was asked before it: the next rewrite sees the nodes as they are."""
    nodes = whole(branching)
    *_, outer = nodes
    before = nodes.maker("outer")
    assert nodes.takers("other") == []
    nodes.replace({id(before): [made := helper.make_node("Neg", ["other"], ["outer"])]})
    assert nodes.maker("outer") is made and nodes.takers("other") == [made]
    assert len(nodes.takers("x")) == 3
    nodes.replace({id(outer): [helper.make_node("Relu", ["outer"], ["y"])]})
    nodes.drop_unused()
    assert nodes.maker("deep") is None and nodes.takers("x") == []
