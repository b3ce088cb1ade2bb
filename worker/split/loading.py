"""A model file read into a `Graph`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import helper

from worker.graph.graph import CannotSplit, Graph
from worker.split.rewrites.norms import fuse_norms


def load_graph(path: Path) -> Graph:
    """A model file's graph, with its tensors' types, and with `InstanceNormalization` for norms that are written out.

    Raises:
        CannotSplit: it is no model.
        OSError: it can't be read.
    """
    try:
        model = onnx.load(path)
        fuse_norms(Graph(model))
        return Graph(model, _types(model))
    except (DecodeError, onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise CannotSplit(f"it is no ONNX model that can be read ({error})") from error


def _types(model: Any) -> list[Any]:
    """The type of each tensor, found without the weights' values, because inference would copy these several times."""
    skeleton = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    graph = model.graph
    skeleton.graph.CopyFrom(onnx.GraphProto(name=graph.name, node=graph.node, input=graph.input, output=graph.output))
    for tensor in graph.initializer:
        value = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        skeleton.graph.input.append(value)
    return list(onnx.shape_inference.infer_shapes(skeleton).graph.value_info)
