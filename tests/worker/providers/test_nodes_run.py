"""Where nodes ran, read back from onnxruntime's own profiles."""

import threading
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from worker.engine import RunControl
from worker.session import nodes_by_provider, open_session, profiling, run_session
from worker.settings import WorkerSettings
from worker.targets import CPU, StageTarget

SETTINGS = WorkerSettings()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Three nodes, one of them in both of two branches' places."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    nodes = [
        helper.make_node("Sin", ["x"], ["a"], "first"),
        helper.make_node("Sin", ["a"], ["b"], "second"),
        helper.make_node("Add", ["a", "b"], ["y"], "third"),
    ]
    graph = helper.make_graph(nodes, "three", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "three.onnx")
    return tmp_path / "three.onnx"


def run(session: object, times: int = 1) -> None:
    for _ in range(times):
        run_session(session, {"x": np.ones(2, np.float32)}, RunControl())


@pytest.mark.parametrize("times", [1, 4])
def test_each_node_counts_once_however_often_it_ran(model: Path, times: int) -> None:
    with profiling() as profiles:
        run(open_session(model, SETTINGS), times)
        assert profiles.end() == {"three": {CPU: 3}}


def test_a_provider_without_kernels_gets_nothing(model: Path) -> None:
    """The session says that it runs on Azure's provider; the profile says who did the work."""
    with profiling() as profiles:
        session = open_session(model, SETTINGS, StageTarget("AzureExecutionProvider"))
        run(session)
        assert session.get_providers()[0] == "AzureExecutionProvider"
        assert profiles.end() == {"three": {CPU: 3}}


def test_of_several_sessions_of_a_graph_the_one_that_ran_is_told(model: Path) -> None:
    with profiling() as profiles:
        open_session(model, SETTINGS)
        run(open_session(model, SETTINGS, threads=2))
        open_session(model, SETTINGS, threads=3)
        assert profiles.end()["three"] == {CPU: 3}


def test_afterwards_sessions_go_on_and_nothing_is_profiled(model: Path, tmp_path: Path) -> None:
    with profiling() as profiles:
        session = open_session(model, SETTINGS)
        run(session)
        profiles.end()
        run(session)
        assert profiles.end() == {}
    assert not open_session(model, SETTINGS).get_session_options().enable_profiling


def test_other_threads_sessions_are_their_own(model: Path) -> None:
    opened = []
    with profiling() as profiles:
        thread = threading.Thread(target=lambda: opened.append(open_session(model, SETTINGS)))
        thread.start()
        thread.join()
        assert not opened[0].get_session_options().enable_profiling
        assert profiles.end() == {}


def test_what_was_compiled_into_one_node_is_one(tmp_path: Path) -> None:
    events = [
        {"cat": "Session", "name": "model_run", "args": {}},
        {"cat": "Node", "name": "CoreML_1_0_kernel_time", "args": {"provider": "CoreMLExecutionProvider"}},
        {"cat": "Node", "name": "Exp_kernel_time", "args": {"provider": CPU}},
        {"cat": "Node", "name": "Exp_kernel_time", "args": {"provider": CPU}},
        {"cat": "Node", "name": "Exp_fence_before", "args": {}},
    ]
    profile = tmp_path / "profile.json"
    profile.write_bytes(msgspec.json.encode(events))
    assert nodes_by_provider(profile) == {"CoreMLExecutionProvider": 1, CPU: 1}


def test_something_else_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text("[{")
    with pytest.raises(msgspec.DecodeError):
        nodes_by_provider(tmp_path / "profile.json")
