"""A miniature Kokoro: an ONNX file with its inputs and outputs whose every sample says where it belongs.

The sample at position p of a segment, in the span of token t, is t * 360 + p % 360 - 32,040 (+ the style's offset, if
the model was made with `style`). A span is 600 samples at speed 1. After the engine's conversion to int16 these are
the exact values, so a test can tell whether every sample arrived once, in order, and of which token it is.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from kokoro_onnx.config import DEFAULT_VOCAB
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SPAN = 600
"""Samples per token at speed 1: Kokoro's frame."""

PHASES = 360
TOKENS = 178
_LOWEST = -TOKENS * PHASES // 2
_FULL_SCALE = 32_767

STYLE_STEP = 100
"""`make_voices`: voice number v has offset v * STYLE_STEP + (phonemes - 1) % 50; at most 7 voices fit into int16."""

ROWS = 510

vocabulary: dict[str, int] = DEFAULT_VOCAB

_TYPES = {"float": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64}


def make_miniature(
    path: Path,
    *,
    tokens_name: str = "tokens",
    speed_dtype: str = "float",
    duration: bool = False,
    style: bool = False,
    cost: int = 0,
    embedded_vocabulary: Mapping[str, int] | None = None,
    fails_at: int | None = None,
    nan_at: int | None = None,
) -> Path:
    """Write the model.

    Args:
        path: the file to write.
        tokens_name: the token input's name; exports have `tokens` or `input_ids`.
        speed_dtype: `float`, `int32` or `int64`.
        duration: also give `duration`, int64 [N + 2], one frame per token.
        style: add the style's offset to each sample.
        cost: 256 x 256 matrix products per token, about 0.3 ms each on one thread, that change nothing in the samples.
        embedded_vocabulary: what the metadata says, as in exports made by kokoro-onnx's own script.
        fails_at: a token id that makes the run fail inside onnxruntime.
        nan_at: a token id whose samples are no numbers.
    """
    graph = _Graph()
    ids = graph.node("Squeeze", [tokens_name, graph.ints([0])])
    span = graph.node("Cast", [_span(graph)], to=TensorProto.INT64)
    if fails_at is not None:
        # Gather checks its indices when it runs: entry 0 is there, entry 1 isn't.
        found = graph.node("ReduceMax", [_cast(graph, _equal(graph, ids, fails_at), TensorProto.INT64)], keepdims=1)
        span = graph.node("Add", [span, graph.node("Gather", [graph.ints([0]), found])])
    columns = graph.node("Mul", [graph.node("Reshape", [ids, graph.ints([-1, 1])]), graph.ints([PHASES])])
    shape = graph.node("Concat", [graph.node("Shape", [ids]), span], axis=0)
    by_token = graph.node("Reshape", [graph.node("Expand", [columns, shape]), graph.ints([-1])])
    count = graph.node("Squeeze", [graph.node("Shape", [by_token])])
    positions = graph.node("Range", [graph.scalar(0), count, graph.scalar(1)])
    phase = graph.node("Mod", [positions, graph.ints([PHASES])])
    value = graph.node("Add", [graph.node("Add", [by_token, phase]), graph.ints([_LOWEST])])
    audio = _cast(graph, value, TensorProto.FLOAT)
    if style:
        first = graph.node("Gather", [graph.node("Reshape", ["style", graph.ints([-1])]), graph.ints([0])])
        audio = graph.node("Add", [audio, graph.node("Round", [first])])
    if nan_at is not None:
        hit = _equal(graph, by_token, nan_at * PHASES)
        audio = graph.node("Where", [hit, graph.floats([float("nan")]), audio])
    if cost:
        audio = graph.node("Add", [audio, _burn(graph, ids, cost)])
    graph.node("Div", [audio, graph.floats([_FULL_SCALE])], output="audio")
    outputs = [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ["samples"])]
    if duration:
        graph.node("Add", [graph.node("Mul", [ids, graph.ints([0])]), graph.ints([1])], output="duration")
        outputs.append(helper.make_tensor_value_info("duration", TensorProto.INT64, ["tokens"]))
    inputs = [
        helper.make_tensor_value_info(tokens_name, TensorProto.INT64, [1, "tokens"]),
        helper.make_tensor_value_info("style", TensorProto.FLOAT, [1, 256]),
        helper.make_tensor_value_info("speed", _TYPES[speed_dtype], [1]),
    ]
    made = helper.make_graph(graph.nodes, "miniature", inputs, outputs, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if embedded_vocabulary is not None:
        helper.set_model_props(model, {"kokoro_config": json.dumps({"vocab": dict(embedded_vocabulary)})})
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return path


def make_voices(path: Path, names: Sequence[str] = ("af_heart", "am_adam", "bf_emma")) -> Path:
    """Write an npz archive of voices, each [510, 1, 256]. Their offsets are those that `STYLE_STEP` describes."""
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **dict(_tables(names)))
    return path


def make_voice_folder(path: Path, names: Sequence[str] = ("af_heart", "am_adam", "bf_emma")) -> Path:
    """The voices as single files of raw float32, as onnx-community publishes them."""
    path.mkdir()
    for name, table in _tables(names):
        (path / f"{name}.bin").write_bytes(table.tobytes())
    return path


def tokens_of(phonemes: str) -> list[int]:
    return [vocabulary[phoneme] for phoneme in phonemes]


def expected(tokens: Sequence[int], speed: float = 1.0, offset: int = 0) -> NDArray[np.int16]:
    """The whole segment's samples for these phonemes' tokens, without the two pads, which are added here.

    `offset` is the style's, for a model made with `style`.
    """
    # The expected samples are computed in the graph's own precision, so that both round alike.
    span = max(1, int(np.rint(np.float32(SPAN) / np.float32(speed))))
    by_token = np.repeat(np.array([0, *tokens, 0]) * PHASES, span)
    return (by_token + np.arange(len(by_token)) % PHASES + _LOWEST + offset).astype(np.int16)


def token_at(samples: NDArray[np.int16]) -> NDArray[np.int64]:
    """The index of the token that each sample belongs to (model without `style`)."""
    tokens: NDArray[np.int64] = (samples.astype(np.int64) - _LOWEST) // PHASES
    return tokens


def phase_of(samples: NDArray[np.int16]) -> NDArray[np.int64]:
    """Each sample's position in its segment, modulo `PHASES` (model without `style`)."""
    phases: NDArray[np.int64] = (samples.astype(np.int64) - _LOWEST) % PHASES
    return phases


def style_offset(number: int, phonemes: int) -> int:
    """The value that `make_voices`' voice of that number adds to each sample of a segment of so many phonemes."""
    return number * STYLE_STEP + (min(phonemes, ROWS) - 1) % 50


def _tables(names: Sequence[str]) -> Iterable[tuple[str, NDArray[np.float32]]]:
    for number, name in enumerate(names):
        table = np.zeros((ROWS, 1, 256), dtype=np.float32)
        table[:, 0, 0] = [style_offset(number, row + 1) for row in range(ROWS)]
        yield name, table


class _Graph:
    """Nodes and constants in the making."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value: NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def ints(self, values: list[int]) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def scalar(self, value: int) -> str:
        return self.constant(np.array(value, dtype=np.int64))

    def floats(self, values: list[float]) -> str:
        return self.constant(np.array(values, dtype=np.float32))


def _span(graph: _Graph) -> str:
    quotient = graph.node("Div", [graph.floats([SPAN]), _cast(graph, "speed", TensorProto.FLOAT)])
    return graph.node("Max", [graph.node("Round", [quotient]), graph.floats([1])])


def _cast(graph: _Graph, value: str, to: int) -> str:
    return graph.node("Cast", [value], to=to)


def _equal(graph: _Graph, values: str, wanted: int) -> str:
    return graph.node("Equal", [values, graph.ints([wanted])])


def _burn(graph: _Graph, ids: str, cost: int) -> str:
    """Zero, after `cost` matrix products for each of `ids`."""
    weights = graph.constant(np.eye(256, dtype=np.float32))
    state = graph.constant(np.zeros((256, 256), dtype=np.float32))
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["state_in", weights], ["state_out"]),
            helper.make_node("Identity", ["going_on"], ["go_on"]),
        ],
        "burn",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("going_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state_in", TensorProto.FLOAT, [256, 256]),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state_out", TensorProto.FLOAT, [256, 256]),
        ],
    )
    count = graph.node("Squeeze", [graph.node("Shape", [ids])])
    rounds = graph.node("Mul", [count, graph.scalar(cost)])
    burnt = graph.node("Loop", [rounds, graph.constant(np.array(True)), state], body=body)
    return graph.node("ReduceMax", [burnt], keepdims=0)
