"""The gate of sound: windows and variants beside the model vocoded whole."""

import json
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest

from benchmarks import quality as gate
from benchmarks.quality import Distance
from benchmarks.windowed_rendering import WindowedRenderer
from tests.split_model import make_split_model
from tests.supervisor.clean_environment import clean_environment
from tests.worker.quantization.making import SCRIPTS, Made
from worker.engine import Utterance
from worker.kokoro import SAMPLE_SENTENCES, KokoroEngine
from worker.quantization import make
from worker.quantization.kinds import Kind
from worker.quantization.metadata import append_properties
from worker.quantization.renderer import Renderer
from worker.quantization.sentences import calibration
from worker.quantization.variants import SOURCE
from worker.voices import VoiceBank

NOISE = Distance("af_heart", "other noise", 20.0, 2.0, 1.0, 20.0, 2.0, 1.0, None)


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "calibration", lambda: SCRIPTS)
    monkeypatch.setattr(gate, "SENTENCES", gate.SENTENCES[:1])
    with clean_environment(tmp_path, monkeypatch):
        yield Made(tmp_path)


@pytest.fixture
def run(made, monkeypatch):
    def run(*arguments: object) -> int:
        named = ["quality", "--model", made.model, "--voices", made.voices, "--cache-dir", made.folder / "cache"]
        monkeypatch.setattr(sys, "argv", [str(argument) for argument in [*named, "--threads", 1, *arguments]])
        return gate.main()

    return run


def test_windows_are_those_that_the_engine_speaks(made):
    settings = replace(made.settings, vocoder="windowed")
    engine = KokoroEngine(made.model, made.voices, settings)
    engine.warm_up()
    script = SCRIPTS[0] * 3
    blocks = list(engine.begin(Utterance(script, "en-us", (("af_heart", 1.0),), 1.0, seed=5)))
    assert len(blocks) > 1
    whole = Renderer(made.model, VoiceBank.open(made.voices), settings, settings.cache_dir)
    windows = WindowedRenderer(made.model, settings, settings.cache_dir)
    frozen = windows.statistics([whole.prosody(sentence, "af_heart") for sentence in SAMPLE_SENTENCES])
    sound = windows.sound(whole.prosody(script, "af_heart"), 5, frozen)
    assert np.array_equal(sound, np.concatenate([block.samples for block in blocks]))


def test_a_row_for_each_way_and_sound_to_listen_to(made, run, capsys):
    made.have(Kind.STATIC_INT8)
    assert run("--voice", "am_adam", "--pairs", made.folder / "pairs", "--json", made.folder / "raw.json") == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    ways = ["other noise", "original, in windows", "static-int8, in windows", "static-int8, whole"]
    assert [row.split("|")[1].strip() for row in rows[1:]] == ways
    assert {file.name for file in (made.folder / "pairs").iterdir()} == {
        f"am_adam-0-{way}.wav"
        for way in (
            "whole",
            "other-noise",
            "original-in-windows",
            "static-int8-in-windows",
            "static-int8-whole",
            "static-int8-own-prosody",
        )
    }
    noise, original, windowed, whole = json.loads((made.folder / "raw.json").read_text())["distances"]
    assert noise["step"] is None and whole["step"] is None
    assert 0 < original["step"] <= 1 and 0 < windowed["step"] <= 1
    assert 0 < whole["mel"] < windowed["mel"] < noise["mel"]
    assert original["joins_mel"] > 0


def test_a_variant_that_sounds_otherwise_fails(made, run, capsys):
    model = onnx.load(made.model)
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    name = [node for node in model.graph.node if node.op_type == "Conv"][-1].input[1]
    louder = onnx.numpy_helper.to_array(weights[name]) * 20
    weights[name].CopyFrom(onnx.numpy_helper.from_array(louder, name))
    onnx.save(model, made.folder / "louder.onnx")
    assert run("--variant", made.folder / "louder.onnx") == 1
    failed = [line for line in capsys.readouterr().out.splitlines() if line.endswith("| no |")]
    assert [line.split("|")[1].strip() for line in failed] == ["louder, in windows", "louder, whole"]


@pytest.mark.parametrize(
    ("change", "passes"),
    [({}, True), ({"mel": 1.1}, False), ({"joins_mel": 1.1}, False), ({"step": 1.01}, False), ({"snr": 0.0}, True)],
)
def test_the_gate_is_mel_distance_everywhere_and_steps_at_joins(change, passes):
    near = Distance("af_heart", "x, in windows", 20.0, 1.0, 0.5, 20.0, 1.0, 0.5, 0.9)
    assert replace(near, **change).passes(NOISE) is passes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--voice", "nobody"], "has no voice nobody, but af_heart am_adam bf_emma"),
        (["--variant", "nowhere.onnx"], "nowhere.onnx"),
        (["--variant", "other.onnx"], "was made of another model than"),
        (["--voices", "nowhere.bin"], "nowhere.bin can't be read"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(made, run, capsys, monkeypatch, arguments, says):
    monkeypatch.chdir(made.folder)
    make_split_model(made.folder / "other.onnx")
    append_properties(made.folder / "other.onnx", {SOURCE: "0" * 64})
    with pytest.raises(SystemExit, match="2"):
        run(*arguments)
    assert says in capsys.readouterr().err.splitlines()[-1]


def test_no_sentence_of_the_gate_was_learned_from():
    assert not set(gate.SENTENCES) & {*SAMPLE_SENTENCES, *calibration()}
