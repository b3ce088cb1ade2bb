"""Helpers that the tests of split models share."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from tests.made_once import made_once
from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.engine import Block, RunControl, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.graph.graph import Graph
from worker.pcm import snr
from worker.settings import WorkerSettings
from worker.split import optimized
from worker.split.prepared import Prepared
from worker.split.rewrites import stage_files
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.segments.segment import HarmonicSource, Prosody, WindowedSegment, features_of
from worker.split.segments.stage import FittedStage, LoadedStage
from worker.split.segments.statistics import Statistics
from worker.targets import CPU, Assignment, StageTarget

SCRIPT = "həlˈO wˈɜɹld, "
HEART = (("af_heart", 1.0),)
NOBODY = RunControl()
USUAL = {Rewrite.PACKED, Rewrite.SNAKE}
"""Rewrites of an int8 model."""


def make_engine(folder: Path, model=None, assigned: Assignment | None = None, **settings) -> KokoroEngine:
    made = make_split_model(folder / "small.onnx", **(model or {}))
    voices = make_split_voices(folder / "voices.bin")
    if settings.get("vocoder") != "whole" and not model and not (folder / "cache").exists():
        stages_of(made, folder / "cache")
    return KokoroEngine(made, voices, WorkerSettings(cache_dir=folder / "cache", **settings), assigned=assigned)


@contextmanager
def cut_before(model: Path) -> Iterator[None]:
    """Meanwhile, cuts of this model take the stages that an earlier test cut; all else of a cut is done."""
    with tempfile.TemporaryDirectory() as cache, pytest.MonkeyPatch.context() as patch:
        made = stages_of(model, Path(cache))

        def written(graph, folder: Path, rewrites):
            for name in made.manifest.files:
                shutil.copy(made.folder / name, folder)
            return made.manifest.noise, made.manifest.channels

        patch.setattr(stage_files, "write_stages", written)
        patch.setattr(optimized, "optimize_stages", lambda *_: None)
        yield


def int8_model() -> Path:
    """A miniature model whose convolutions are dynamic int8, as the published one's are."""

    def make(folder: Path) -> None:
        plain = make_split_model(folder / "plain.onnx", predicted=False)
        quantize_dynamic(plain, folder / "int8.onnx", ["Conv"], weight_type=QuantType.QUInt8)

    return made_once("small-int8", make) / "int8.onnx"


def utterance(script=SCRIPT, voice=HEART, speed=1.0, **more) -> Utterance:
    return Utterance(script, "en-us", voice, speed, **more)


def blocks_of(engine: KokoroEngine, *args, **more) -> list[Block]:
    """Checks that they are without a gap, and that the last one says so."""
    asked = utterance(*args, **more)
    blocks = list(engine.begin(asked))
    position = asked.from_sample
    for block in blocks:
        assert block.offset == position
        position += len(block.samples)
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True] * bool(blocks)
    return blocks


def joined(blocks: list[Block]):
    return np.concatenate([block.samples for block in blocks])


class Parts:
    """A model's stages by name, run with one thread, and inputs for them."""

    def __init__(self, folder: Path, rewrites=DEFAULT, **model) -> None:
        self.model = make_split_model(folder / "small.onnx", predicted=False, **model)
        self.prepared: Prepared = stages_of(self.model, folder / "cache", rewrites)
        self.style = np.random.default_rng(3).standard_normal((1, 256), np.float32)
        self._opened: dict[str, LoadedStage] = {}

    def stage(self, name: str) -> LoadedStage:
        """One for all that ask: its sessions are loaded once."""
        if name not in self._opened:
            self._opened[name] = LoadedStage(self.prepared.folder / name, WorkerSettings(), StageTarget())
        return self._opened[name]

    def run(self, name: str, *arrays):
        return self.stage(name).run(arrays, 1, NOBODY)

    def inputs(self, tokens: int = 12):
        ids = np.random.default_rng(tokens).integers(1, 178, tokens)
        return [np.array([[0, *ids, 0]]), self.style, np.ones(1, np.float32)]

    def prosody(self, tokens: int = 12) -> Prosody:
        text, f0, energy, durations = self.run("prosody.onnx", *self.inputs(tokens))
        return Prosody(text, f0, energy, durations, self.style)

    def source(self, prosody: Prosody, first: int = 32, seed: int = 1) -> HarmonicSource:
        return HarmonicSource(self.stage("source.onnx"), self.prepared.manifest.noise, seed, prosody.f0, first, NOBODY)

    def whole(self, prosody: Prosody):
        harmonics = self.source(prosody).harmonics(0, prosody.frames, 1)
        audio, *told = self.run("generator-exact.onnx", self.features(prosody), harmonics, prosody.style)
        return audio.ravel(), Statistics(*told)

    def features(self, prosody: Prosody):
        return features_of(prosody, self.stage("decoder.onnx"), 1, NOBODY)

    def windowed(self, prosody: Prosody, statistics: Statistics) -> WindowedSegment:
        generator = FittedStage(self.stage("generator.onnx"))
        return WindowedSegment(prosody, self.features(prosody), self.source(prosody), statistics, generator, NOBODY)


def decibels(expected, made) -> float:
    """Signal to noise ratio of sound between -1 and 1, in whatever shape."""
    return snr(32_768 * expected.ravel(), 32_768 * made.ravel())


def run_model(model: Path, **inputs):
    return ort.InferenceSession(str(model), providers=[CPU]).run(None, inputs)


def rewritten(rewrite, nodes, constants, outputs=("y",)):
    """The nodes after a rewrite, the constants that they take, and how many places were rewritten."""
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "part", [], made, constants)
    change = Graph(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    count = rewrite(change)
    change.drop_unused()
    kept = [*constants, *change.constants, *change.derived.values()]
    kept = [tensor for tensor in kept if tensor.name in change.taken()]
    for tensor in kept:
        if tensor.name in change.reshaped:
            del tensor.dims[:]
            tensor.dims.extend(change.reshaped[tensor.name])
    return list(change), kept, count
