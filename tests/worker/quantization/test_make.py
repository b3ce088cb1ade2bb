"""Variants: Kokoro models all of them, that say what they are, and can be cut into stages."""

import logging
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.split_model import make_split_model
from tests.worker.quantization.making import session
from tests.worker.split.splitting import SCRIPT, blocks_of, joined
from worker.checksum import sha256_of
from worker.kokoro import KokoroEngine
from worker.quantization.error import QuantizationError
from worker.quantization.kinds import Kind
from worker.quantization.make import make_variant, variant_path
from worker.quantization.metadata import properties_of
from worker.split.prepared import prepare

DTYPES = onnx.TensorProto


def signature(opened):
    return [[(v.name, v.type, v.shape) for v in values] for values in (opened.get_inputs(), opened.get_outputs())]


def spoken(opened):
    feeds = {"tokens": np.array([[0, *range(50, 90), 0]]), "speed": np.ones(1, np.float32)}
    style = np.random.default_rng(0).standard_normal((1, 256), np.float32)
    return opened.run(None, feeds | {"style": style})


@pytest.mark.parametrize("kind", Kind)
def test_it_is_a_whole_kokoro_that_can_be_split(made, kind):
    variant = made.have(kind)
    assert variant.name == f"small.{kind}.onnx"
    opened = session(variant)
    assert signature(opened) == signature(session(made.model))
    audio, durations = spoken(opened)
    assert np.isfinite(audio).all() and np.abs(audio).max() > 0.01
    assert len(audio) == durations.sum() * 600
    properties = dict(opened.get_modelmeta().custom_metadata_map)
    assert "vocab" in properties["kokoro_config"]
    assert properties["kokoro_live.variant"] == kind
    assert properties["kokoro_live.source_sha256"] == sha256_of(made.model)
    engine = KokoroEngine(variant, made.voices, replace(made.settings, vocoder="windowed"))
    numbers = []
    for _ in range(2):  # whole, and in windows
        blocks = blocks_of(engine, SCRIPT * 10)
        assert np.abs(joined(blocks)).max() > 300
        numbers.append(len(blocks))
        engine.warm_up()
    assert numbers[0] == 1 < numbers[1]
    assert made.left() == {variant.name}


def test_smaller_weights_make_a_smaller_file(made):
    size = made.model.stat().st_size
    for kind in (Kind.DYNAMIC, Kind.FP16, Kind.MIXED_FP16):
        assert made.have(kind).stat().st_size < size, kind


def test_static_int8_becomes_one_integer_operation_per_convolution(made):
    variant = made.have(Kind.STATIC_INT8)
    for stage in ("generator.onnx", "generator-exact.onnx"):
        file = prepare(variant, made.folder / "cache").folder / stage
        optimized = file.with_name(f"optimized-{stage}")  # beside the weights
        session(file, optimized=optimized)
        graph = onnx.load(optimized).graph
        weights = {tensor.name: tensor.data_type for tensor in graph.initializer}
        fused = [node for node in graph.node if node.op_type == "QLinearConv"]
        assert len(fused) == 48
        for node in fused:
            assert weights[node.input[3]] == DTYPES.INT8
            assert weights[node.input[2]] == weights[node.input[7]] == DTYPES.UINT8, "never S8 by S8"


def test_weights_are_per_channel_and_of_seven_bits_where_asked(made):
    for reduced in (False, True):
        model = onnx.load(made.have(Kind.STATIC_INT8, reduced=reduced))
        weights = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
        int8 = [value for value in weights.values() if value.dtype == np.int8 and value.ndim == 3]
        assert len(int8) == 48
        assert max(np.abs(value.astype(int)).max() for value in int8) == (64 if reduced else 127)
        scaled = [
            n for n in model.graph.node if n.op_type == "DequantizeLinear" and weights.get(n.input[0]) is not None
        ]
        scales = [weights[n.input[1]] for n in scaled if weights[n.input[0]].ndim == 3]
        assert [scale.ndim for scale in scales] == [1] * 48


def test_prosody_and_source_keep_their_precision(made):
    def durations(model):
        return spoken(session(model))[1].tolist()

    for kind in (Kind.STATIC_INT8, Kind.MIXED_FP16):
        model = onnx.load(made.have(kind))
        lstm = next(node for node in model.graph.node if node.op_type == "LSTM")
        weights = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
        assert weights[lstm.input[1]] == DTYPES.FLOAT
        assert durations(made.folder / f"small.{kind}.onnx") == durations(made.model)


def test_the_same_model_gives_the_same_file(made):
    first = made.have(Kind.STATIC_INT8).read_bytes()
    assert made.make(Kind.STATIC_INT8).read_bytes() == first


def test_it_says_its_quality_when_it_was_measured(made):
    shares = []
    quality = make_variant(
        Kind.STATIC_INT8,
        made.model,
        made.voices,
        out := made.folder / "mine.onnx",
        made.settings,
        reduced=False,
        progress=lambda what, share: shares.append((what, share)),
    )
    properties = session(out).get_modelmeta().custom_metadata_map
    assert float(properties["kokoro_live.log_mel_distance"]) == pytest.approx(quality.log_mel_distance, rel=1e-3)
    assert float(properties["kokoro_live.duration_agreement"]) == 1.0
    assert {"kokoro_live.snr", "kokoro_live.log_spectral_distance", "kokoro_live.spread"} <= properties.keys()
    steps = list(dict.fromkeys(what for what, _ in shares))
    assert steps == ["reading", "converting", "calibrating", "writing", "judging", "done"]
    assert shares[-1] == ("done", 1.0)


@pytest.mark.parametrize("content", [b"not an ONNX file at all", b""])
def test_what_is_no_model_is_refused(made, content):
    other = made.folder / "small.onnx"
    other.write_bytes(content)
    with pytest.raises(QuantizationError, match=re.escape(str(other))):
        made.make(Kind.DYNAMIC, model=other)
    assert made.left() == set()


def test_another_model_is_refused(made):
    other = make_split_model(made.folder / "small.onnx", random_in_generator=True)
    with pytest.raises(QuantizationError, match="front draws random numbers"):
        made.make(Kind.STATIC_INT8, model=other)
    assert made.left() == set()


def with_weight(made, value):
    """The model with another value in a weight of its generator."""
    model = onnx.load(made.model)
    tensor = next(t for t in model.graph.initializer if len(t.dims) == 3 and t.dims[0] == t.dims[1] > 1)
    weights = onnx.numpy_helper.to_array(tensor).copy()
    weights.flat[0] = value
    tensor.CopyFrom(onnx.numpy_helper.from_array(weights, tensor.name))
    onnx.save(model, made.folder / "small.onnx")
    return tensor.name


def test_a_weight_that_is_no_number_is_named(made):
    name = with_weight(made, np.nan)
    with pytest.raises(QuantizationError, match=f"damaged: its weight {name} has values that are no numbers"):
        made.make(Kind.STATIC_INT8)
    assert made.left() == set()


@pytest.mark.parametrize("kind", [Kind.STATIC_INT8, Kind.DYNAMIC, Kind.MIXED_FP16])
def test_what_the_tools_can_not_convert_is_said_in_a_line(made, kind):
    with_weight(made, np.inf)
    with pytest.raises(QuantizationError, match="Choose another --variant") as error:
        made.make(kind, check=True)
    assert "\n" not in str(error.value) and str(kind) in str(error.value)
    assert made.left() == set()


def test_voices_are_looked_at_before_the_work(made):
    started = []
    with pytest.raises(QuantizationError, match=r"gone\.bin can't be read"):
        make_variant(
            Kind.DYNAMIC,
            made.model,
            made.folder / "gone.bin",
            made.folder / "mine.onnx",
            made.settings,
            reduced=False,
            check=False,
            progress=lambda what, _: started.append(what),
        )
    assert not started


def test_a_name_of_a_published_file_is_left_to_it(made):
    assert variant_path(Path("kokoro-v1.0.onnx"), Kind.FP16).name == "kokoro-v1.0.own-fp16.onnx"
    assert variant_path(Path("kokoro-v1.0.onnx"), Kind.STATIC_INT8).name == "kokoro-v1.0.static-int8.onnx"
    with pytest.raises(QuantizationError, match="has a published file's name"):
        make_variant(Kind.FP16, made.model, made.voices, made.folder / "model_fp16.onnx", made.settings, reduced=False)


def test_nothing_but_a_variant_is_written_over(made):
    before = made.voices.read_bytes()
    for out, says in ((made.voices, "is there already"), (made.folder, "is a folder")):
        with pytest.raises(QuantizationError, match=says):
            make_variant(Kind.FP16, made.model, made.voices, out, made.settings, reduced=False)
    assert made.voices.read_bytes() == before


def test_a_model_that_changes_meanwhile_makes_none(made):
    def change(what, _share):
        if what == "writing":
            make_split_model(made.model, tokens_name="input_ids")

    with pytest.raises(QuantizationError, match="has changed meanwhile"):
        make_variant(
            Kind.FP16,
            made.model,
            made.voices,
            made.folder / "mine.onnx",
            made.settings,
            reduced=False,
            check=False,
            progress=change,
        )
    assert made.left() == set()


def test_it_says_with_whose_voices_it_was_made(made):
    said = properties_of(made.have(Kind.STATIC_INT8, check=True))
    assert said["kokoro_live.calibrated_voices"] == said["kokoro_live.judged_voices"] == "af_heart am_adam bf_emma"
    assert "kokoro_live.calibrated_voices" not in properties_of(made.have(Kind.FP16))


@pytest.mark.parametrize("kind", Kind)
def test_bits_are_said_only_where_they_matter(made, kind):
    model = onnx.load(made.have(kind))
    signed = any(tensor.data_type == DTYPES.INT8 and len(tensor.dims) > 1 for tensor in model.graph.initializer)
    assert signed == kind.has_signed_weights == ("kokoro_live.reduce_range" in properties_of(made.have(kind)))


@pytest.mark.parametrize("reduced", [False, True])
def test_dynamic_int8_leaves_a_bit_of_its_signed_weights_alone(made, reduced):
    """Those of LSTMs; the others are U8, which doesn't saturate and needs all bits."""
    model = onnx.load(made.have(Kind.DYNAMIC, reduced=reduced))
    weights = [onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    signed = [np.abs(value.astype(int)).max() for value in weights if value.dtype == np.int8 and value.ndim > 1]
    unsigned = [int(value.max()) - int(value.min()) for value in weights if value.dtype == np.uint8 and value.ndim > 1]
    assert signed and max(signed) == (64 if reduced else 127)
    assert max(unsigned) > 200
    assert any(node.op_type == "ConvInteger" for node in model.graph.node)


def test_a_missing_model_is_named(made):
    with pytest.raises(QuantizationError, match=r"there is no model file .*nowhere"):
        made.make(Kind.DYNAMIC, model=made.folder / "nowhere.onnx")


@pytest.mark.parametrize("kind", [Kind.STATIC_INT8, Kind.FP16])
def test_a_variant_is_not_quantised_again(made, kind):
    variant = made.have(kind)
    with pytest.raises(QuantizationError, match=f"quantised already \\({kind}\\)"):
        made.make(Kind.DYNAMIC, model=variant)
    model = onnx.load(variant)
    del model.metadata_props[:]
    onnx.save(model, made.folder / "foreign.onnx")
    with pytest.raises(QuantizationError, match="quantised already \\(by somebody else\\)"):
        made.make(Kind.DYNAMIC, model=made.folder / "foreign.onnx")


def test_a_missing_library_is_named_with_the_cure(made, monkeypatch):
    monkeypatch.delitem(sys.modules, "onnxruntime.quantization.matmul_nbits_quantizer", raising=False)
    monkeypatch.setitem(sys.modules, "onnx_ir", None)
    with pytest.raises(QuantizationError, match=r"\(onnx_ir\).*pip install .* -e '\.\[quantize\]'"):
        made.make(Kind.WEIGHT_ONLY)


def test_the_libraries_leave_the_log_as_it_is(made, monkeypatch):
    monkeypatch.delitem(sys.modules, "onnxruntime.quantization.matmul_nbits_quantizer", raising=False)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    made.make(Kind.WEIGHT_ONLY)
    assert (root.handlers, root.level) == ([], level)


def test_the_model_is_not_written_over(made):
    whole = made.model.read_bytes()
    with pytest.raises(QuantizationError, match="is the model itself"):
        make_variant(Kind.FP16, made.model, made.voices, made.model, made.settings, reduced=False)
    assert made.model.read_bytes() == whole


def test_a_file_that_is_there_stays_whole_until_there_is_another(made, monkeypatch):
    variant = made.have(Kind.FP16)
    before = variant.read_bytes()

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("worker.quantization.make.append_properties", full)
    with pytest.raises(QuantizationError, match="can't be written: No space left on device"):
        made.make(Kind.FP16, check=True)
    assert variant.read_bytes() == before
    assert made.left() == {variant.name}
