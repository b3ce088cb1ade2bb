"""Instance norms that an export writes out are found, fused and given to windows as if they were nodes."""

import logging

import numpy as np
import onnx
import pytest

from tests.split_model import make_split_model
from tests.worker.split.splitting import Parts, blocks_of, decibels, make_engine, run_model
from worker.graph.graph import CannotSplit, Graph
from worker.graph.loading import fuse_norms, load_graph
from worker.split.segments.segment import draw_all
from worker.split.segments.windows import Window

WRITTEN = ("written", "merged", "axes")
"""A division of its own for each norm, with duplicated means and differences; shared; shared, with axes as inputs."""


def count(nodes, operator: str) -> int:
    return sum(node.op_type == operator for node in nodes)


@pytest.mark.parametrize(("form", "expected"), [("written", 60), ("merged", 56), ("axes", 56)])
def test_each_norm_becomes_one_node(tmp_path, form, expected):
    """10 of the decoder, 48 of the generator (44 where three residual blocks share one, twice), 2 of the prosody."""
    graph = load_graph(make_split_model(tmp_path / "small.onnx", norms=form, predicted=False))
    assert count(graph, "InstanceNormalization") == expected
    assert not any(node.op_type == "ReduceMean" for node in graph), "nothing of the old form is left"
    onnx.checker.check_model(graph.model)


@pytest.mark.parametrize("form", [WRITTEN[0], *(pytest.param(form, marks=pytest.mark.slow) for form in WRITTEN[1:])])
def test_the_stages_of_a_model_with_written_out_norms_are_the_model(tmp_path, form):
    parts = Parts(tmp_path, norms=form)
    prosody = parts.prosody()
    made, told = parts.whole(prosody)
    reference = make_split_model(tmp_path / "reference.onnx", noise_inputs=True, norms=form, predicted=False)
    tokens, style, speed = parts.inputs()
    uniform, normal = draw_all(parts.prepared.manifest.noise, 1, prosody.frames)
    [audio] = run_model(reference, tokens=tokens, style=style, speed=speed, uniform=uniform, normal=normal)
    assert decibels(audio, made) > 50, "rounding, which the phase of the source adds up"
    windowed = parts.windowed(prosody, told).samples(Window(0, prosody.frames), 1)
    assert np.abs(made - windowed).max() < 2e-4 * np.abs(made).max(), "what is told is what is taken"


@pytest.mark.parametrize("change", ["axis", "keepdims", "other", "power"])
def test_a_division_that_is_no_norm_stays(tmp_path, change):
    """An average over channels, one that drops its dimension, a difference from something else, a third power."""
    model = onnx.load(make_split_model(tmp_path / "small.onnx", norms="merged", predicted=False))
    means = [node for node in model.graph.node if node.op_type == "ReduceMean"]
    if change == "axis":
        for node in means:
            next(found for found in node.attribute if found.name == "axes").ints[:] = [1]
    if change == "keepdims":
        for node in means:
            next(found for found in node.attribute if found.name == "keepdims").i = 0
    if change == "other":
        for node in means[::2]:
            node.input[0] = node.input[0] + "_other"
    if change == "power":
        squares = {node.input[0] for node in means[1::2]}
        for node in model.graph.node:
            if node.output[0] in squares:
                node.op_type = "Add"
    assert not fuse_norms(Graph(model))


def test_a_square_written_as_a_power_is_a_square(tmp_path):
    model = onnx.load(make_split_model(tmp_path / "small.onnx", norms="merged", predicted=False))
    two = onnx.numpy_helper.from_array(np.array(2, np.float32), "two")
    model.graph.initializer.append(two)
    squares = {node.input[0] for node in model.graph.node if node.op_type == "ReduceMean"}
    for node in model.graph.node:
        if node.op_type == "Mul" and node.output[0] in squares and node.input[0] == node.input[1]:
            node.op_type = "Pow"
            node.input[1] = "two"
    assert fuse_norms(Graph(model))
    assert count(model.graph.node, "InstanceNormalization") == 56


def test_channels_that_cant_be_told_are_said(tmp_path):
    model = onnx.load(make_split_model(tmp_path / "small.onnx", norms="merged", predicted=False))
    for node in model.graph.node:
        if node.op_type == "Mul" and any(name.startswith("Div") for name in node.input):
            node.op_type = "Sub"
    with pytest.raises(CannotSplit, match="channels"):
        fuse_norms(Graph(model))


def test_a_model_without_norms_runs_whole_and_is_remembered(tmp_path, caplog, monkeypatch):
    """The log names what was looked for, and neither calls a file corrupt nor advises to fetch one again."""
    with caplog.at_level(logging.WARNING):
        engine = make_engine(tmp_path, {"norms": "none"})
    assert "no instance norm is found in its generator" in caplog.text
    assert "corrupt" not in caplog.text and "fetch" not in caplog.text
    assert len(blocks_of(engine)) == 1
    monkeypatch.setattr("worker.split.prepared._split", lambda *_: pytest.fail("tried again"))
    assert make_engine(tmp_path, {"norms": "none"}).info.first_block == 0
