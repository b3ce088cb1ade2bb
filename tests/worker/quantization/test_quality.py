"""How a variant is judged: prosody by durations and pitch, sound on the same prosody with the same noise."""

import json
from dataclasses import replace

import onnx
import pytest

from worker.engine import EngineError
from worker.quantization.kinds import Kind
from worker.quantization.quality import Quality, compare

GOOD = Quality(20.0, 1.0, 0.5, 0.97, 0.01, None, 0.4, 560.0, 0.3, 0.02)


def compared(made, other, **more):
    return compare(made.model, other, made.voices, made.settings, **more)


def changed(made, operator, change):
    """The model with `change` applied to the first node of a kind, and its weights by name."""
    model = onnx.load(made.model)
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    change(next(node for node in model.graph.node if node.op_type == operator), weights)
    onnx.save(model, made.folder / "changed.onnx")
    return made.folder / "changed.onnx"


def scale(weights, name, factor):
    weights[name].CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weights[name]) * factor, name))


def test_the_model_itself_is_no_distance_away(made):
    quality = compared(made, made.model)
    assert quality.log_mel_distance == quality.log_spectral_distance == quality.length_difference == 0
    assert quality.duration_agreement == 1
    assert quality.pitch_difference == 0
    assert quality.level_difference == 0
    assert quality.word_error_points is None and quality.opinion_loss is None, "nobody listened"
    assert quality.passes


def test_other_durations_are_counted_and_do_not_hide_the_sound(made):
    """Slower by a tenth: nothing agrees, but the sound of the same prosody does."""

    def slower(node, weights):
        scale(weights, node.input[1], 0.5)

    other = changed(made, "LSTM", slower)
    quality = compared(made, other)
    assert quality.duration_agreement < 1
    assert quality.length_difference > 0
    assert quality.log_mel_distance == 0, "both vocode the same prosody"


def test_another_vocoder_is_heard_and_has_the_same_durations(made):
    last = onnx.load(made.model)
    weights = {tensor.name: tensor for tensor in last.graph.initializer}
    post = [node for node in last.graph.node if node.op_type == "Conv"][-1]
    scale(weights, post.input[1], 1.5)
    onnx.save(last, made.folder / "changed.onnx")
    quality = compared(made, made.folder / "changed.onnx")
    assert quality.duration_agreement == 1
    assert quality.log_mel_distance > 0.01
    assert quality.snr < 40


def test_eight_bits_are_further_away_than_sixteen(made):
    eight, sixteen = (compared(made, made.have(kind)) for kind in (Kind.STATIC_INT8, Kind.MIXED_FP16))
    assert 0 < sixteen.log_mel_distance < eight.log_mel_distance


def test_sentences_and_voices_can_be_named(made):
    heard = []
    texts = [("Yes.", "jˈɛs."), ("No.", "nˈO.")]
    compared(made, made.model, texts=texts, names=["am_adam"], progress=heard.append)
    # Two sentences' prosody, the sound of both, and both heard.
    assert len(heard) == 6
    assert heard == sorted(heard) and heard[-1] == 1


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({}, True),
        ({"log_mel_distance": 2.1}, False),
        ({"level_difference": 1.1}, False),
        ({"word_error_points": 0.6}, False),
        ({"word_error_points": 0.6, "words": 100.0}, True),
        ({"opinion_loss": 0.06}, False),
        ({"duration_agreement": 0.5}, True),
        ({"snr": 0.0}, True),
    ],
)
def test_the_gate_is_of_what_is_heard(change, passes):
    assert replace(GOOD, **change).passes is passes


def test_what_is_not_installed_is_not_judged():
    assert replace(GOOD, word_error_points=None, opinion_loss=None).judgement.judged == ("level", "log-mel distance")
    assert GOOD.judgement.judged == ("level", "log-mel distance", "word errors", "opinion score")


def test_it_survives_a_files_metadata():
    assert Quality.from_properties(GOOD.as_properties()) == GOOD
    assert Quality.from_properties({}) is None
    assert Quality.from_properties(GOOD.as_properties() | {"kokoro_live.snr": "good"}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("log_mel_distance", "-5"), ("log_mel_distance", "nan"), ("opinion_loss", "inf"), ("duration_agreement", "1.5")],
)
def test_what_no_measurement_gives_is_none(name, value):
    assert Quality.from_properties(GOOD.as_properties() | {f"kokoro_live.{name}": value}) is None


def test_a_model_of_other_phonemes_is_not_compared(made):
    other = onnx.load(made.model)
    config = json.loads(other.metadata_props[0].value)
    del config["vocab"]["h"]
    other.metadata_props[0].value = json.dumps(config)
    onnx.save(other, made.folder / "other.onnx")
    with pytest.raises(EngineError, match="it was made of another model"):
        compared(made, made.folder / "other.onnx")
