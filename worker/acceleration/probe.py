"""Probe of a provider's options: asks onnxruntime at the start, with a graph of one node, before anything is
compiled."""

from __future__ import annotations

from collections.abc import Collection

import onnxruntime as ort

from worker.engine import ProviderUnavailable
from worker.providers.options import BadOption
from worker.providers.targets import StageTarget
from worker.session import session_on


def see_accepted(target: StageTarget, given: Collection[str]) -> None:
    """Check that the target's provider accepts the target's options with the keys in `given`. A provider that doesn't
    work without them either isn't reported here: the failure shows when the provider is used.

    Raises:
        BadOption: the provider works only without the given options.
    """
    try:
        session_on(target, _one_node(), ort.SessionOptions(), given)
    except ProviderUnavailable as error:
        ours = tuple(option for option in target.options if option[0] not in given)
        try:
            session_on(StageTarget(target.provider, ours), _one_node(), ort.SessionOptions())
        except ProviderUnavailable:
            return
        theirs = ", ".join(f"{key}={value}" for key, value in target.options if key in given)
        raise BadOption(f"{target.provider} works without {theirs}, but not with that: {error}") from error


def _one_node() -> bytes:
    # Memory that a worker on the CPU never needs (`python -m benchmarks.late_loading`).
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "one", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    written: bytes = model.SerializeToString()
    return written
