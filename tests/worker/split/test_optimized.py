"""Optimised stages: the same samples to the bit, weights that are written once, and stages as they were cut if there
are none."""

import logging

import numpy as np
import onnx

from tests.split_model import stages_of
from tests.worker.split.splitting import SCRIPT, blocks_of, joined, make_engine
from worker.split import prepared
from worker.split.prepared import prepare
from worker.split.rewrites.stage_files import GENERATOR, SERVED, STAGES, WEIGHTS, WHOLE_GENERATOR
from worker.split.segments.stage import optimized_name


def places(folder, stage):
    graph = onnx.load(folder / optimized_name(stage), load_external_data=False).graph
    return [{entry.key: entry.value for entry in tensor.external_data} for tensor in graph.initializer]


def test_optimized_stages_make_the_same_samples(model, tmp_path, monkeypatch):
    """1. An engine speaks with optimised stages. 2. Another speaks with the stages as they were cut. Equal samples."""
    made = joined(blocks_of(make_engine(tmp_path), SCRIPT))
    monkeypatch.setattr("worker.split.segments.stage.optimized_name", lambda _: "none.onnx")
    assert np.array_equal(joined(blocks_of(make_engine(tmp_path), SCRIPT)), made)


def test_generators_share_their_weights_in_one_file(model, tmp_path):
    folder = stages_of(model, tmp_path / "cache").folder
    assert not [*folder.glob("*.part")]
    outside = [place for stage in SERVED for place in places(folder, stage) if place]
    assert {place["location"] for place in outside} == {WEIGHTS}
    shared = [{place["offset"] for place in places(folder, stage) if place} for stage in (GENERATOR, WHOLE_GENERATOR)]
    assert shared[0] & shared[1]


def test_stages_that_cant_be_optimised_are_used_as_they_were_cut(model, tmp_path, monkeypatch, caplog):
    """1. The disk is full while packed weights are appended. 2. The log says so, nothing is left behind, speech goes
    on."""

    def full(self, values):
        self._file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(prepared._Store, "place", full)
    monkeypatch.setattr(prepared._Store, "holds", lambda *_: False)
    with caplog.at_level(logging.WARNING):
        folder = prepare(model, tmp_path / "cache").folder
    assert "No space left on device" in caplog.text
    assert sorted(file.name for file in folder.iterdir()) == sorted(["manifest.json", WEIGHTS, *STAGES])
    assert len(joined(blocks_of(make_engine(tmp_path), SCRIPT)))


def test_another_processor_makes_the_stages_again(model, cut, tmp_path, monkeypatch):
    stages_of(model, tmp_path / "cache")
    monkeypatch.setattr(prepared, "processor", lambda: "another one")
    assert prepare(model, tmp_path / "cache").manifest.processor.startswith("another one ")
    monkeypatch.setattr(prepared, "cpu_flags", lambda: frozenset({"of another width"}))
    before = sorted((tmp_path / "cache" / "split").iterdir())
    assert prepare(model, tmp_path / "cache").manifest.processor == prepared._processor()
    assert sorted((tmp_path / "cache" / "split").iterdir()) == before


def test_stages_of_earlier_layouts_are_removed(model, cut, tmp_path):
    made = stages_of(model, tmp_path / "cache").folder
    digest, layout, *_ = made.name.split("-")
    earlier = made.with_name("-".join([digest, str(int(layout) - 1), "another", "rewrite"]))
    made.rename(earlier)
    assert prepare(model, tmp_path / "cache").folder == made
    assert made.is_dir() and not earlier.exists()
