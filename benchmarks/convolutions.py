"""Times of one convolution by operator and types; they are why int8 ones run as products of U8 by S8 matrices.

    python -m benchmarks.convolutions [--threads 1] [--repeats 20]

One of the generator's largest, 128 channels, kernel 7, 0.4 s of sound at 4,800 samples a second, as onnxruntime runs it
here: 32-bit floats; QLinearConv, whose outputs are 8 bits too; ConvInteger, as in the published int8 file;
`rewrites.packed`'s product, with the transpositions and copies around it. Types by activations and weights.
Prints GFLOP/s of the fastest of all turns, two operations per multiplication.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table

CHANNELS, KERNEL, LENGTH = 128, 7, 1920
PACKED = "MatMulIntegerToFloat"
_TYPES = {"U8": (np.uint8, TensorProto.UINT8), "S8": (np.int8, TensorProto.INT8)}
_KERNELS = (
    ("Conv", "F32", "F32"),
    ("QLinearConv", "U8", "S8"),
    ("QLinearConv", "U8", "U8"),
    ("QLinearConv", "S8", "S8"),
    ("ConvInteger", "U8", "U8"),
    ("ConvInteger", "U8", "S8"),
    (PACKED, "U8", "S8"),
)


def convolution(operator: str, activations: str, weights: str) -> Any:
    """A model of that one node, which takes `x`, [1, CHANNELS, LENGTH]."""
    if operator == PACKED:
        return packed()
    rng = np.random.default_rng(0)
    shape = (CHANNELS, CHANNELS, KERNEL)
    constants: dict[str, Any] = {}
    if operator == "Conv":
        taken = given = TensorProto.FLOAT
        inputs = ["x", "w"]
        constants["w"] = rng.standard_normal(shape).astype(np.float32)
    else:
        (of_x, taken), (of_w, _) = _TYPES[activations], _TYPES[weights]
        constants["w"] = rng.integers(np.iinfo(of_w).min, np.iinfo(of_w).max, shape).astype(of_w)
        constants |= {"x_zero": np.array(0, of_x), "w_zero": np.array(0, of_w)}
        inputs, given = ["x", "w", "x_zero", "w_zero"], TensorProto.INT32
        if operator == "QLinearConv":
            constants |= {name: np.array(0.01, np.float32) for name in ("x_scale", "w_scale")}
            constants["y_scale"] = np.array(0.1, np.float32)
            inputs = ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "x_zero"]
            given = taken
    node = helper.make_node(operator, inputs, ["y"], kernel_shape=[KERNEL], pads=[KERNEL // 2] * 2)
    graph = helper.make_graph(
        [node],
        "convolution",
        [helper.make_tensor_value_info("x", taken, [1, CHANNELS, LENGTH])],
        [helper.make_tensor_value_info("y", given, [1, CHANNELS, LENGTH])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def packed() -> Any:
    """The convolution as `rewrites.packed` writes it, with U8 activations that have a scale and a zero point."""
    rng = np.random.default_rng(0)
    constants = {
        "x_scale": np.array(0.01, np.float32),
        "x_zero": np.array(128, np.uint8),
        "pads": np.array([KERNEL // 2, 0, KERNEL // 2, 0]),
        "neighbours": (np.arange(LENGTH)[:, None] + np.arange(KERNEL)).astype(np.int32),
        "flat": np.array([-1, KERNEL * CHANNELS]),
        "w": rng.integers(-128, 128, (KERNEL * CHANNELS, CHANNELS)).astype(np.int8),
        "w_scale": np.array(0.01, np.float32),
        "w_zero": np.array(-60, np.int8),
        "first": np.array([0]),
    }
    nodes = [
        helper.make_node("Transpose", ["x"], ["transposed"], perm=[0, 2, 1]),
        helper.make_node("Squeeze", ["transposed", "first"], ["rows"]),
        helper.make_node("Pad", ["rows", "pads", "x_zero"], ["padded"]),
        helper.make_node("Gather", ["padded", "neighbours"], ["gathered"]),
        helper.make_node("Reshape", ["gathered", "flat"], ["windows"]),
        helper.make_node(
            PACKED, ["windows", "w", "x_scale", "w_scale", "x_zero", "w_zero"], ["product"], domain="com.microsoft"
        ),
        helper.make_node("Unsqueeze", ["product", "first"], ["back"]),
        helper.make_node("Transpose", ["back"], ["y"], perm=[0, 2, 1]),
    ]
    size = [1, CHANNELS, LENGTH]
    graph = helper.make_graph(
        nodes,
        "convolution",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, size)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, size)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def session(model: Any, threads: int) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def speeds(threads: int, repeats: int) -> list[float]:
    """GFLOP/s of each kernel in its fastest turn: other programs only slow it down."""
    sessions = [session(convolution(*kernel), threads) for kernel in _KERNELS]
    rng = np.random.default_rng(1)
    feeds = []
    for _, activations, _ in _KERNELS:
        kind = np.float32 if activations == "F32" else _TYPES[activations][0]
        feeds.append({"x": (rng.random((1, CHANNELS, LENGTH)) * 100).astype(kind)})
    seconds: list[list[float]] = [[] for _ in _KERNELS]
    for repeat in range(repeats + 1):
        for taken, opened, feed in zip(seconds, sessions, feeds, strict=True):
            started = time.perf_counter()
            opened.run(None, feed)
            if repeat:
                taken.append(time.perf_counter() - started)
    operations = 2 * CHANNELS * CHANNELS * KERNEL * LENGTH
    return [operations / min(taken) / 1e9 for taken in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parser.parse_args()
    found = speeds(arguments.threads, arguments.repeats)
    rows: list[list[Cell]] = [
        [operator, activations, weights, speed, speed / found[0]]
        for (operator, activations, weights), speed in zip(_KERNELS, found, strict=True)
    ]
    columns = ("operator", "activations", "weights", "GFLOP/s", "of full precision's")
    print(Table(f"One convolution, threads: {arguments.threads}", columns, rows).as_markdown())
    print(f"\n{described()}")


if __name__ == "__main__":
    main()
