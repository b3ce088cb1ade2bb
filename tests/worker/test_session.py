"""Sessions of real model files: those that are Kokoro, and those that are something else or damaged."""

import os
import subprocess
import sys
from dataclasses import replace

import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import worker.session
from tests.miniature import make_miniature
from worker.engine import BadOption, EngineUnavailable, ProviderUnavailable
from worker.providers.choice import see_accepted
from worker.providers.table import PROVIDERS
from worker.session import check_signature, open_session, session_on
from worker.settings import WorkerSettings
from worker.targets import CPU, StageTarget

SETTINGS = WorkerSettings()


def make_stranger(path, inputs, output=TensorProto.FLOAT):
    """A sound model whose only node gives its first input, cast."""
    node = helper.make_node("Cast", [inputs[0][0]], ["out"], to=output)
    graph = helper.make_graph(
        [node],
        "stranger",
        [helper.make_tensor_value_info(*given) for given in inputs],
        [helper.make_tensor_value_info("out", output, None)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("name", ["tokens", "input_ids"])
@pytest.mark.parametrize("speed", ["float", "int32", "int64"])
@pytest.mark.parametrize("duration", [False, True])
def test_every_export_is_recognised(tmp_path, name, speed, duration):
    model = make_miniature(tmp_path / "m.onnx", tokens_name=name, speed_dtype=speed, duration=duration)
    check_signature(open_session(model, SETTINGS), model)


TOKENS = ("tokens", TensorProto.INT64, [1, "n"])
STYLE = ("style", TensorProto.FLOAT, [1, 256])
SPEED = ("speed", TensorProto.FLOAT, [1])


@pytest.mark.parametrize(
    "inputs",
    [
        [("image", TensorProto.FLOAT, [1, 3, 224, 224])],
        [TOKENS, STYLE],
        [TOKENS, STYLE, SPEED, ("sid", TensorProto.INT64, [1])],
        [("tokens", TensorProto.FLOAT, [1, "n"]), STYLE, SPEED],
        [TOKENS, ("style", TensorProto.INT64, [1, 256]), SPEED],
        [TOKENS, STYLE, ("speed", TensorProto.BOOL, [1])],
        [TOKENS, ("style", TensorProto.FLOAT, [1, 128]), SPEED],
    ],
    ids=["image", "no speed", "one too many", "float tokens", "integer style", "boolean speed", "short style"],
)
def test_another_model_is_shown_with_its_inputs(tmp_path, inputs):
    model = make_stranger(tmp_path / "stranger.onnx", inputs)
    with pytest.raises(EngineUnavailable, match=r"stranger\.onnx isn't a Kokoro model.*--model") as refusal:
        check_signature(open_session(model, SETTINGS), model)
    assert all(name in str(refusal.value) for name, *_ in inputs)


def test_a_model_without_audio(tmp_path):
    model = make_stranger(tmp_path / "stranger.onnx", [TOKENS, STYLE, SPEED], TensorProto.INT64)
    with pytest.raises(EngineUnavailable, match="isn't a Kokoro model"):
        check_signature(open_session(model, SETTINGS), model)


def test_a_style_of_unknown_size_is_accepted(tmp_path):
    model = make_stranger(tmp_path / "m.onnx", [TOKENS, ("style", TensorProto.FLOAT, [1, "s"]), SPEED])
    check_signature(open_session(model, SETTINGS), model)


def test_a_missing_file(tmp_path):
    with pytest.raises(EngineUnavailable, match=r"no model file .*absent\.onnx.*models fetch"):
        open_session(tmp_path / "absent.onnx", SETTINGS)


@pytest.mark.parametrize("keep", [0, 10, 500, -1])
def test_a_truncated_file(tmp_path, keep):
    model = make_miniature(tmp_path / "m.onnx")
    model.write_bytes(model.read_bytes()[:keep])
    with pytest.raises(EngineUnavailable, match=r"m\.onnx.*truncated.*models fetch"):
        open_session(model, SETTINGS)


@pytest.mark.parametrize(
    "content",
    [b"<!DOCTYPE html><title>Not found</title>", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n"],
    ids=["web page", "LFS pointer"],
)
def test_something_else_under_that_name(tmp_path, content):
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(EngineUnavailable, match=r"m\.onnx.*not an ONNX model"):
        open_session(tmp_path / "m.onnx", SETTINGS)


def test_settings_reach_the_session(tmp_path):
    model = make_miniature(tmp_path / "m.onnx")
    settings = WorkerSettings(threads=2, spin_duration=0)
    options = open_session(model, settings).get_session_options()
    assert options.intra_op_num_threads == 2
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_defaults_are_one_thread_that_spins_briefly_within_a_run(tmp_path):
    options = open_session(make_miniature(tmp_path / "m.onnx"), SETTINGS).get_session_options()
    assert options.intra_op_num_threads == 1
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "1"
    assert options.get_session_config_entry("session.intra_op.spin_duration_us") == "100"
    assert options.get_session_config_entry("session.force_spinning_stop") == "1"
    assert options.graph_optimization_level.name == "ORT_ENABLE_ALL"
    assert (options.enable_mem_pattern, options.enable_cpu_mem_arena) == (False, True)


@pytest.mark.parametrize("wrong", [{"threads": -1}, {"concurrency": -1}, {"window": 0.1}])
def test_settings_that_nothing_could_work_with(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        WorkerSettings(**wrong)


AZURE = "AzureExecutionProvider"


@pytest.fixture
def given(monkeypatch):
    """Settings of a user who gives options to Azure's provider, under another's name."""
    monkeypatch.setitem(PROVIDERS, "cuda", replace(PROVIDERS["cuda"], name=AZURE))
    return lambda *pairs: WorkerSettings(provider="cuda", provider_options=pairs)


def test_onnxruntimes_own_way_to_the_cpu_is_off(tmp_path, capfd):
    """It would print to standard output and go on without the provider, at load or in the middle of a stream."""
    model = make_miniature(tmp_path / "m.onnx")
    for target in (StageTarget(), StageTarget(AZURE)):
        assert not open_session(model, SETTINGS, target)._enable_fallback
    model.write_bytes(b"nonsense")
    with pytest.raises(ProviderUnavailable, match=AZURE):
        open_session(model, SETTINGS, StageTarget(AZURE))
    assert capfd.readouterr().out == ""


def pretend_reported(monkeypatch, options):
    """A session of a provider that says which options it has."""
    monkeypatch.setattr(onnxruntime.InferenceSession, "get_provider_options", lambda self: {AZURE: options, CPU: {}})


@pytest.mark.parametrize("written", ["1", "true", "True"])
def test_options_are_read_back_however_true_is_written(tmp_path, monkeypatch, written):
    pretend_reported(monkeypatch, {"use_tf32": "1", "device_id": "0"})
    open_session(make_miniature(tmp_path / "m.onnx"), SETTINGS, StageTarget(AZURE, (("use_tf32", written),)))


@pytest.mark.parametrize("reported", [{"use_tf32": "0"}, {"device_id": "0"}])
def test_an_option_that_did_not_arrive_is_an_error_if_it_was_given(tmp_path, monkeypatch, given, reported):
    pretend_reported(monkeypatch, reported)
    model, target = make_miniature(tmp_path / "m.onnx"), StageTarget(AZURE, (("use_tf32", "1"),))
    said = r"was given use_tf32=1, and onnxruntime says that it has (0|None)"
    with pytest.raises(BadOption, match=said):
        open_session(model, given("use_tf32=1"), target)
    for settings in (SETTINGS, given(), given("device_id=0")):
        with pytest.raises(ProviderUnavailable, match=said):
            open_session(model, settings, target)


def test_a_provider_that_reports_no_options_cannot_be_asked(tmp_path):
    target = StageTarget(AZURE, (("use_tf32", "1"),))
    assert open_session(make_miniature(tmp_path / "m.onnx"), SETTINGS, target).get_provider_options()[AZURE] == {}


def opening(monkeypatch, accepts, error):
    """A provider that takes only what `accepts` says."""
    real = onnxruntime.InferenceSession

    def open_one(model, options, providers, **more):
        if not accepts(providers[0][1]):
            if error:
                raise RuntimeError(error)
            providers = [CPU]
        return real(model, options, providers=providers, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", open_one)


@pytest.mark.parametrize("error", ["Invalid OpenVINO EP option: device", "Unknown option: device", "it broke", ""])
def test_options_are_told_from_a_provider_that_does_not_work(monkeypatch, error):
    """Some say which option it is; some fail, or leave everything to the CPU, and work without it."""
    target = StageTarget(AZURE, (("device", "GPU"), ("another", "1")))
    see_accepted(target, {"device"})
    opening(monkeypatch, lambda options: "device" not in options, error)
    with pytest.raises(BadOption, match="device"):
        see_accepted(target, {"device"})
    see_accepted(target, {"another"})  # whoever loads finds that it is one of ours
    see_accepted(StageTarget(AZURE, (("another", "1"),)), {"another"})


@pytest.mark.parametrize("error", ["Unknown option: device", "no option but to give up"])
def test_an_option_that_is_named_in_the_error_is_at_fault_at_load_too_if_it_was_given(
    tmp_path, monkeypatch, given, error
):
    model, target = make_miniature(tmp_path / "m.onnx"), StageTarget(AZURE, (("device", "GPU"), ("ice", "1")))
    opening(monkeypatch, lambda options: "device" not in options, error)
    if error.endswith("device"):
        with pytest.raises(BadOption, match=f"doesn't take an option that it was given: {error}"):
            open_session(model, given(" device = GPU"), target)
    for settings in (SETTINGS, given(), given("ice=1"), WorkerSettings(provider="auto")):
        with pytest.raises(ProviderUnavailable, match=error):
            open_session(model, settings, target)


def test_a_provider_that_does_not_work_at_all_is_not_its_options_fault(monkeypatch):
    opening(monkeypatch, lambda _: False, "driver too old")
    see_accepted(StageTarget(AZURE, (("device", "GPU"),)), {"device"})


def test_onnxruntime_reports_to_nobody(tmp_path):
    """Its telemetry leaves a file in the temporary folder, which shows whether it is on."""
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "ORT_DISABLE_TELEMETRY")}
    environment |= {"TMPDIR": str(tmp_path)}
    code = "import worker.session, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "1"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("provider", ["CUDAExecutionProvider", "TensorrtExecutionProvider"])
def test_the_libraries_of_nvidias_packages_are_loaded_before_the_provider(monkeypatch, capfd, provider):
    order = []

    class Session:
        def __init__(self, *_, providers, **__):
            order.append(providers[0][0])

        def get_providers(self):
            return [provider, CPU]

        def get_provider_options(self):
            return {}

    def preload():
        order.append("preload_dlls")
        print("Failed to load libcudnn.so.9")

    worker.session._preload.cache_clear()
    monkeypatch.setattr(onnxruntime, "preload_dlls", preload, raising=False)
    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    session_on(StageTarget(provider), b"", onnxruntime.SessionOptions())
    session_on(StageTarget(provider), b"", onnxruntime.SessionOptions())
    assert order == ["preload_dlls", provider, provider]
    assert capfd.readouterr().out == ""
    worker.session._preload.cache_clear()
