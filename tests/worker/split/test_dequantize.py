"""Dynamic int8 back into float: the same operations, the weights to rounding, and clear words for everything else."""

from collections import Counter
from functools import partial

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from kokoro_onnx.config import DEFAULT_VOCAB
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from benchmarks.measuring.mel_distance import log_mel_distance
from tests.made_once import made_once
from tests.split_model import make_split_model, stages_of
from tests.worker.split.splitting import USUAL, decibels, int8_model, rewritten
from worker.engine import Utterance
from worker.engines.kokoro import KokoroEngine
from worker.graph.dynamic_int8 import UnknownPattern, dequantize, is_dynamic_int8, write_float
from worker.graph.graph import Graph
from worker.graph.loading import load_graph
from worker.machine import products_saturate_here
from worker.pcm import to_pcm
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.rewrites.convolutions import pack_convolutions
from worker.split.rewrites.cuts import find_cuts
from worker.split.rewrites.norm_statistics import channels_of
from worker.split.rewrites.stage_files import DECODER, EXACT_GENERATOR, GENERATOR, PROSODY, STAGES, WEIGHTS, fingerprint
from worker.split.segments.stage import LoadedStage
from worker.split.segments.statistics import predictor_for
from worker.targets import StageTarget
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

OPERATIONS = ("Conv", "MatMul", "LSTM", "Gather")


def dynamic(*, per_channel=False):
    """The small model, and its file in dynamic int8 as the published one was made."""

    def make(folder):
        model = make_split_model(folder / "small.onnx", durations_output=True, predicted=False)
        quantize_dynamic(model, folder / "int8.onnx", OPERATIONS, per_channel, weight_type=QuantType.QUInt8)

    folder = made_once(f"dynamic-{per_channel}", make)
    return load_graph(folder / "small.onnx"), load_graph(folder / "int8.onnx")


def integers(graph):
    """Operators on integers that are left."""
    return {node.op_type for node in graph if "Quant" in node.op_type or "Integer" in node.op_type}


def operations(graph):
    """onnxruntime's tools make MatMul and Add of Gemm before they quantise it."""
    counts = Counter("MatMul" if node.op_type == "Gemm" else node.op_type for node in graph)
    return {name: counts[name] for name in OPERATIONS}


@pytest.mark.parametrize("per_channel", [False, True])
def test_each_pattern_becomes_the_operation_that_it_was(per_channel):
    plain, quantized = dynamic(per_channel=per_channel)
    assert is_dynamic_int8(quantized) and not is_dynamic_int8(plain)
    assert operations(quantized) != operations(plain)
    floats = dequantize(quantized)
    assert operations(floats) == operations(plain)
    assert not integers(floats)
    onnx.checker.check_model(floats.model)
    weights = [node.input[1] for node in plain.of_type("Conv", "MatMul")] + [first(plain, "Gather").input[0]]
    weights += [name for node in plain.of_type("LSTM") for name in node.input[1:3]]
    compared = 0
    for name in dict.fromkeys(weights):
        if (wanted := plain.constant(name)) is not None:
            found = next(value for other in (f"{name}_float", name) if (value := floats.constant(other)) is not None)
            assert found.shape == wanted.shape
            # Half a step of 255 over the weight's range, and rounding of the zero point's half step.
            assert np.abs(found - wanted).max() <= 1.01 * (max(wanted.max(), 0) - min(wanted.min(), 0)) / 255
            compared += 1
    assert compared > 75


def test_inputs_outputs_and_metadata_stay():
    _, quantized = dynamic()
    before = onnx.ModelProto()
    before.CopyFrom(quantized.model)
    after = dequantize(quantized).model
    assert list(after.graph.input) == list(before.graph.input)
    assert list(after.graph.output) == list(before.graph.output)
    assert list(after.metadata_props) == list(before.metadata_props)


def first(graph, operator):
    return next(graph.of_type(operator))


def detached_scale(graph):
    """A convolution that another input's scale multiplies."""
    product = first(graph, "ConvInteger")
    own = graph.maker(product.input[0])
    scales = next(node for node in graph.takers(own.output[1]) if node.op_type == "Mul")
    other = next(node for node in graph.of_type("DynamicQuantizeLinear") if node is not own)
    scales.input[list(scales.input).index(own.output[1])] = other.output[1]


def missing_cast(graph):
    node = first(graph, "MatMulInteger")
    graph.takers(node.output[0])[0].op_type = "Identity"


def moving_bias(graph):
    rounding = next(node for node in graph.of_type("Floor") if graph.maker(node.input[0]).op_type == "Div")
    graph.maker(rounding.input[0]).input[0] = "style"


def short_lstm(graph):
    del first(graph, "DynamicQuantizeLSTM").input[-1]


def lone_quantization(graph):
    graph.model.graph.node.append(helper.make_node("DynamicQuantizeLinear", ["style"], ["q", "s", "z"], name="lone"))
    graph.model.graph.output.append(helper.make_tensor_value_info("q", onnx.TensorProto.UINT8, None))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (detached_scale, "ConvInteger .* isn't scaled by what its input was quantised with"),
        (missing_cast, "MatMulInteger .* is followed by Identity and Mul, not Cast and Mul"),
        (short_lstm, "DynamicQuantizeLSTM .* has 3 scales and zero points, not 4"),
        (lone_quantization, "DynamicQuantizeLinear lone isn't part of a pattern"),
    ],
)
def test_another_pattern_is_named(change, says):
    _, quantized = dynamic()
    change(quantized)
    with pytest.raises(UnknownPattern, match=says):
        dequantize(Graph(quantized.model))


def test_a_bias_that_changes_is_refused(real_model):
    graph = load_graph(real_model)
    moving_bias(graph)
    with pytest.raises(UnknownPattern, match="adds a bias that is no constant"):
        dequantize(Graph(graph.model))


def test_scales_of_another_number_of_channels_are_refused():
    _, quantized = dynamic(per_channel=True)
    product = first(quantized, "ConvInteger")
    scales = next(
        node
        for node in quantized.takers(quantized.maker(product.input[0]).output[1])
        if node.op_type == "Mul" and node.input[1] in quantized.initializers
    )
    tensor = quantized.initializers[scales.input[1]]
    tensor.CopyFrom(numpy_helper.from_array(np.ones(3, np.float32), tensor.name))
    with pytest.raises(UnknownPattern, match="has 3 scales for"):
        dequantize(Graph(quantized.model))


TEXTS = (("af_heart", "wˌʌt tˈIm ɪz ɪt?"), ("am_michael", "jˈɛs."))


@pytest.mark.slow
def test_the_published_file_speaks_as_before(real_model, tmp_path):
    """Lengths within one duration in thirty, levels within 0.5 dB, sound of equal length within 2 dB log-mel; one
    convolution and 26 products of activations in attention are float in the published file already."""
    graph = load_graph(real_model)
    assert is_dynamic_int8(graph)
    floats = dequantize(graph)
    counts = Counter(node.op_type for node in floats)
    assert (counts["Conv"], counts["MatMul"], counts["LSTM"]) == (87 + 1, 148 + 26, 6)
    assert not integers(floats)
    cuts = find_cuts(floats)
    channels = channels_of(floats.part([cuts.features, cuts.harmonics, cuts.style], [cuts.audio]))
    assert channels == 8448, "it can be cut, and each norm is found"
    assert predictor_for(real_model, fingerprint(floats), channels), "windows of it have the int8 file's predictor"
    plain = tmp_path / "float.onnx"
    onnx.save(floats.model, plain)
    del graph, floats
    voices = VoiceBank.open(EMBEDDED)
    models = [ort.InferenceSession(str(model), providers=["CPUExecutionProvider"]) for model in (real_model, plain)]
    compared = 0
    for voice, script in TEXTS:
        tokens = [DEFAULT_VOCAB[phoneme] for phoneme in script]
        feeds = {
            "tokens": np.array([[0, *tokens, 0]]),
            "style": voices.style(((voice, 1.0),), len(tokens)).astype(np.float32),
            "speed": np.ones(1, np.float32),
        }
        one, other = (to_pcm(opened.run(None, feeds)[0].ravel()) for opened in models)
        assert len(other) == pytest.approx(len(one), rel=0.035)
        assert level(other) == pytest.approx(level(one), abs=0.5)
        if len(one) == len(other):
            compared += 1
            assert log_mel_distance(one, other) < 2.0
    assert compared


@pytest.mark.slow
def test_the_floats_speak_in_windows_as_in_one_run(real_model, tmp_path):
    plain = tmp_path / "float.onnx"
    write_float(real_model, plain)
    said = Utterance("ðə fˈɛɹi lˈivz æt hˈæf pˈæst sˈɪks.", "en-us", (("af_heart", 1.0),), 1.0)
    sounds = []
    for vocoder, first_block in (("windowed", 0.3), ("whole", 0.0)):
        engine = KokoroEngine(plain, EMBEDDED, WorkerSettings(cache_dir=tmp_path, vocoder=vocoder))
        assert engine.info.first_block == first_block
        sounds.append(np.concatenate([block.samples for block in engine.begin(said)]))
    windows, whole = sounds
    assert level(windows) == pytest.approx(level(whole), abs=1.0)
    assert log_mel_distance(whole, windows) < 2.0


def level(sound):
    """dB."""
    return 10 * np.log10((sound.astype(float) ** 2).mean())


INTO, CHANNELS, KERNEL, TIME = 6, 5, 3, 40


def convolution(*, kernel=KERNEL, zero_point=70, scale=0.013, bias=True, weights=None, **attributes):
    """A convolution in dynamic int8 as it is published, and its constants."""
    rng = np.random.default_rng(kernel)
    constants = {
        "w": rng.integers(0, 256, (CHANNELS, INTO, kernel)).astype(np.uint8) if weights is None else weights,
        "wz": np.asarray(zero_point, np.uint8),
        "ws": np.asarray(scale, np.float32),
    }
    if weights is not None:
        constants["wz"] = constants["wz"].astype(weights.dtype)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("Mul", ["s", "ws"], ["scales"]),
        helper.make_node("ConvInteger", ["q", "w", "z", "wz"], ["sums"], **attributes),
    ]
    if bias:
        constants |= {
            "b": rng.standard_normal(CHANNELS).astype(np.float32),
            "shape": np.array([1, CHANNELS, 1], np.int64),
        }
        nodes += [
            helper.make_node("Div", ["b", "scales"], ["steps"]),
            helper.make_node("Floor", ["steps"], ["floor"]),
            helper.make_node("Cast", ["floor"], ["whole"], to=TensorProto.INT32),
            helper.make_node("Reshape", ["whole", "shape"], ["column"]),
            helper.make_node("Add", ["sums", "column"], ["total"]),
        ]
    nodes.append(helper.make_node("Cast", ["total" if bias else "sums"], ["floats"], to=TensorProto.FLOAT))
    nodes.append(helper.make_node("Mul", ["floats", "scales"], ["y"]))
    return nodes, [numpy_helper.from_array(value, name) for name, value in constants.items()]


packed = partial(rewritten, pack_convolutions)


def run(nodes, constants, x):
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "part", info[:1], info[1:], constants)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


@pytest.mark.skipif(products_saturate_here(), reason="the packed sums are wrong here, and so not used")
@pytest.mark.parametrize(
    "attributes",
    [
        {"pads": [1, 1]},
        {"pads": [0, 2], "dilations": [2]},
        {"pads": [2, 1], "strides": [3], "kernel": 4},
        {"kernel": 1},
        {"kernel": 1, "strides": [2]},
        {"zero_point": [3, 70, 128, 200, 255], "scale": [0.01, 0.02, 0.03, 0.001, 0.5]},
        {"zero_point": 0},
    ],
    ids=str,
)
def test_the_sums_are_the_same(attributes):
    """The product agrees to rounding without a bias; with one it is compared with the float convolution of the same
    integers."""
    x = np.random.default_rng(1).standard_normal((1, INTO, TIME)).astype(np.float32)
    attributes = {"kernel": KERNEL} | attributes
    if np.ndim(attributes.get("scale", 0)) == 0:  # onnxruntime's ConvInteger takes one zero point for all channels
        nodes, constants = convolution(bias=False, **attributes)
        after, kept, count = packed(nodes, constants)
        assert count == 1 and {node.op_type for node in after} & {"ConvInteger", "Cast"} <= {"Cast"}
        np.testing.assert_allclose(run(after, kept, x), run(nodes, constants, x), rtol=1e-6, atol=1e-6)
    nodes, constants = convolution(**attributes)
    after, kept, _ = packed(nodes, constants)
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in constants}
    zero, scale = (np.broadcast_to(arrays[name], CHANNELS).reshape(-1, 1, 1) for name in ("wz", "ws"))
    floats = (arrays["w"].astype(np.float32) - zero) * scale
    step = (max(x.max(), 0) - min(x.min(), 0)) / 255
    quantized = np.round(x / step) * step
    plain = [helper.make_node("Conv", ["x", "w", "b"], ["y"], **{k: v for k, v in attributes.items() if k in _SHAPE})]
    wanted = run(plain, [numpy_helper.from_array(floats.astype(np.float32), "w"), constants[3]], quantized)
    np.testing.assert_allclose(run(after, kept, x), wanted, atol=0.02 * np.abs(wanted).max())


_SHAPE = ("pads", "strides", "dilations")


@pytest.mark.parametrize(
    "attributes",
    [
        {"weights": np.ones((CHANNELS, INTO, KERNEL), np.int8)},
        {"weights": np.ones((CHANNELS, INTO, 1, KERNEL), np.uint8)},
        {"weights": np.ones((CHANNELS, INTO // 2, KERNEL), np.uint8), "group": 2},
        {"auto_pad": "SAME_UPPER"},
        {"scale": [0.1, 0.2]},
    ],
    ids=["signed", "planar", "groups", "automatic", "scales"],
)
def test_others_are_left_alone(attributes):
    nodes, constants = convolution(**attributes)
    after, _, count = packed(nodes, constants)
    assert count == 0 and after == nodes


def test_a_pattern_of_another_kind_is_left_alone():
    nodes, constants = convolution()
    nodes[-2].op_type = "Identity"
    assert packed(nodes, constants)[2] == 0


def operators(file):
    return Counter(node.op_type for node in onnx.load(file, load_external_data=False).graph.node)


def test_stages_speak_as_before_and_share_the_packed_weights(tmp_path):
    before, after = (stages_of(int8_model(), tmp_path, rewrites).folder for rewrites in ((), USUAL))
    for stage in (PROSODY, GENERATOR, EXACT_GENERATOR, DECODER):
        had, has = operators(before / stage), operators(after / stage)
        # The windowed generator crops what goes into its second noise convolution after quantising it.
        assert has["ConvInteger"] == (1 if stage == GENERATOR else 0)
        assert has["MatMulIntegerToFloat"] == had["ConvInteger"] - has["ConvInteger"] > 0
    rng = np.random.default_rng(0)
    style = rng.standard_normal((1, 256), np.float32)
    inputs = [np.array([[0, *range(50, 80), 0]]), style, np.ones(1, np.float32)]
    made = []
    for folder in (before, after):
        prosody = LoadedStage(folder / PROSODY, WorkerSettings(), StageTarget()).session(1)
        text, f0, energy, _ = prosody.run(None, _feeds(prosody, inputs))
        decoder = LoadedStage(folder / DECODER, WorkerSettings(), StageTarget()).session(1)
        made.append(decoder.run(None, _feeds(decoder, [text, f0, energy, style]))[0])
    assert made[0].shape == made[1].shape and decibels(made[0].ravel(), made[1].ravel()) > 20
    exact, windowed = (onnx.load(after / stage, load_external_data=False) for stage in (EXACT_GENERATOR, GENERATOR))
    places = [
        {tensor.name: tensor.external_data[1].value for tensor in each.graph.initializer if tensor.external_data}
        for each in (exact, windowed)
    ]
    shared = {name for name in places[0] if name.endswith("_packed")}
    assert shared and all(places[0][name] == places[1][name] for name in shared)
    assert (after / WEIGHTS).stat().st_size < 1.1 * (before / WEIGHTS).stat().st_size + 4096 * 200


def _feeds(session, arrays):
    return {given.name: array for given, array in zip(session.get_inputs(), arrays, strict=True)}


@pytest.mark.slow
def test_all_convolutions_of_the_published_file_are_packed(real_model, real_stages):
    """All convolutions are packed but one of the windowed generator's, whose input is cropped after it was
    quantised."""
    folder = prepare(real_model, real_stages, DEFAULT | {Rewrite.PACKED}).folder
    left = {stage: operators(folder / stage)["ConvInteger"] for stage in STAGES}
    assert left == {**dict.fromkeys(STAGES, 0), GENERATOR: 1}
    assert operators(folder / EXACT_GENERATOR)["MatMulIntegerToFloat"] == 50
