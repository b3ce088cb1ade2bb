"""`kokoro-live quantize`, as a user and as a script sees it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result

from supervisor.cli import kokoro_live
from tests.split_model import make_split_model, make_split_voices
from tests.supervisor.clean_environment import clean_environment
from tests.worker.quantization.making import SCRIPTS
from worker.hearing import gate
from worker.hearing.opinion import OpinionScorer
from worker.hearing.recognizer import Recognizer
from worker.quantization import make, processor, quality
from worker.quantization.metadata import properties_of
from worker.quantization.workplace import workplace


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "calibration", lambda: SCRIPTS)
    monkeypatch.setattr(quality, "evaluation_texts", lambda: [("words", script) for script in SCRIPTS])
    monkeypatch.setattr(Recognizer, "is_installed", lambda: False)
    monkeypatch.setattr(OpinionScorer, "is_installed", lambda: False)
    with clean_environment(tmp_path, monkeypatch):
        yield


@pytest.fixture
def folder(tmp_path) -> Path:
    models = tmp_path / "my models"
    models.mkdir()
    make_split_model(models / "kokoro-v1.0.onnx")
    make_split_voices(models / "voices-v1.0.bin")
    return models


def run(*arguments: object) -> Result:
    return CliRunner().invoke(kokoro_live, ["quantize", *map(str, arguments)])


def test_a_variant_of_the_model_folders_model(folder):
    result = run("--model-dir", folder)
    assert result.exit_code == 0, result.output
    out = folder / "kokoro-v1.0.static-int8.onnx"
    assert properties_of(out)["kokoro_live.variant"] == "static-int8"
    what, heard, sound, prosody, verdict, missing, use = result.stdout.splitlines()
    assert what.startswith(f"{out}: 1 MB instead of 1, in ")
    assert heard.startswith("Heard beside the model: level at most 0.")
    assert "dB log-mel distance" in sound
    assert verdict == "Judged by level, log-mel distance, it passes."
    assert missing == "Not judged: word errors, opinion score (install the extra `quality` for that)."
    assert prosody.startswith("Prosody: 100.0% of phonemes last as long")
    assert use == f"To use it: kokoro-live serve --model '{out}' --voices '{folder / 'voices-v1.0.bin'}'"


def test_how_far_it_is_goes_to_stderr(folder):
    result = run("--model-dir", folder, "--variant", "fp16")
    assert [line.partition(":")[0] for line in result.stderr.splitlines() if "judg" not in line] == [
        "reading",
        "converting",
        "writing",
        "done",
    ]
    assert "judging: 100 %" in result.stderr
    assert "reading" not in result.stdout


def test_named_files_and_no_check(folder, tmp_path):
    out = tmp_path / "new folder" / "mine.onnx"
    named = ["--model", folder / "kokoro-v1.0.onnx", "--voices", folder / "voices-v1.0.bin"]
    result = run(*named, "--variant", "dynamic-matmul", "--out", out, "--no-check", "--reduce-range", "on")
    assert result.exit_code == 0, result.output
    said = properties_of(out)
    assert said["kokoro_live.reduce_range"] == "1"
    assert "kokoro_live.log_mel_distance" not in said
    assert "Sound" not in result.stdout


def test_a_difference_that_may_be_heard_is_told(folder, monkeypatch):
    monkeypatch.setattr(gate, "LOG_MEL", 0.0)
    said = run("--model-dir", folder, "--variant", "fp16").stdout
    assert "it does not pass: its log-mel distance is" in said


@pytest.mark.parametrize(
    ("named", "says"),
    [
        (["--model-dir", "nowhere"], "there is no Kokoro model in nowhere: run `kokoro-live models fetch`"),
        (["--model", "nowhere.onnx"], "there is no model file nowhere.onnx"),
        (["--variant", "int3"], "Invalid value for '--variant'"),
        (["--voices", "nowhere.bin"], "the voices in nowhere.bin can't be read"),
        (["--threads", "-1"], "threads must be 0 (as many as fit) or more"),
        (["--reduce-range", "on", "--variant", "fp16"], "--reduce-range is about S8 weights, and fp16 has none"),
        (["--out", "/proc/mine.onnx"], "/proc/mine.onnx can't be written"),
    ],
)
def test_what_is_wrong_is_said_with_the_cure(folder, named, says):
    result = run("--model-dir", folder, *named)
    assert result.exit_code != 0
    assert says in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_variant_can_not_be_quantised(folder):
    assert run("--model-dir", folder, "--variant", "fp16", "--no-check").exit_code == 0
    result = run("--model-dir", folder, "--model", folder / "kokoro-v1.0.own-fp16.onnx")
    assert result.exit_code == 1
    assert "quantised already (fp16): name the full-precision model" in result.stderr


def test_settings_are_read_from_the_config_file(folder, tmp_path):
    """As other commands do: it may have all of a server's; a flag or a variable wins."""
    config = tmp_path / "mine.toml"
    cache = tmp_path / "the cache"
    config.write_text(f'port = 5\nworkers = 2\nmodel_dir = "{folder}"\ncache_dir = "{cache}"\nthreads = 1\n')
    assert run("--config", config, "--no-check").exit_code == 0
    assert (folder / "kokoro-v1.0.static-int8.onnx").exists()
    assert (cache / "split").is_dir(), "the model's stages are kept where serve keeps them"
    result = run("--config", config, "--model-dir", tmp_path / "nowhere")
    assert result.exit_code == 1 and "there is no Kokoro model in" in result.stderr
    config.write_text("treads = 1\n")
    result = run("--config", config)
    assert result.exit_code == 2 and "no such setting: treads" in result.stderr


def test_without_a_flag_the_default_config_file_is_read(folder):
    (folder.parent / "kokoro-live").mkdir()
    (folder.parent / "kokoro-live" / "config.toml").write_text(f'model_dir = "{folder}"\n')
    assert run("--variant", "dynamic", "--no-check").exit_code == 0
    assert (folder / "kokoro-v1.0.dynamic.onnx").exists()


def test_a_settings_variable_counts(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KOKORO_LIVE_CACHE_DIR", str(tmp_path / "the cache"))
    assert run("--model-dir", folder, "--no-check").exit_code == 0
    assert (tmp_path / "the cache" / "split").is_dir()


def test_what_others_have_written_is_not_written_over(folder):
    voices = folder / "voices-v1.0.bin"
    before = voices.read_bytes()
    for out, says in ((voices, "is there already"), (folder / "kokoro-v1.0.int8.onnx", "a published file's name")):
        result = run("--model-dir", folder, "--variant", "dynamic", "--no-check", "--out", out)
        assert result.exit_code == 1 and says in result.stderr
    assert voices.read_bytes() == before
    assert len(list(folder.iterdir())) == 2


def test_a_variant_that_is_there_is_replaced_and_that_is_said(folder):
    assert "in place of" not in run("--model-dir", folder, "--variant", "dynamic", "--no-check").stdout
    assert "in place of the one before" in run("--model-dir", folder, "--variant", "dynamic", "--no-check").stdout


@pytest.mark.parametrize(("names", "told"), [(("one", "two", "three"), True), (("a", "b", "c", "d"), False)])
def test_fewer_voices_than_it_is_judged_with_are_told(folder, names, told):
    make_split_voices(folder / "voices-v1.0.bin", names)
    result = run("--model-dir", folder, "--no-check")
    assert result.exit_code == 0
    says = f"Of the 4 voices that a variant is made and judged with, {folder / 'voices-v1.0.bin'} has 3."
    assert (says in result.stderr) is told


@pytest.mark.parametrize(("flags", "bits"), [("avx2 fma", 64), ("avx2 avx512_vnni", 127)])
def test_a_processor_without_vnni_gets_seven_bits(folder, tmp_path, monkeypatch, flags, bits):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    told = processor.cpu_flags(cpuinfo)
    monkeypatch.setattr(processor, "cpu_flags", lambda: told)
    monkeypatch.setattr(processor.platform, "machine", lambda: "x86_64")
    assert run("--model-dir", folder, "--no-check").exit_code == 0
    model = onnx.load(folder / "kokoro-v1.0.static-int8.onnx")
    weights = [onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    assert max(np.abs(w.astype(int)).max() for w in weights if w.dtype == np.int8 and w.ndim == 3) == bits
    assert properties_of(folder / "kokoro-v1.0.static-int8.onnx")["kokoro_live.reduce_range"] == str(int(bits == 64))


def test_a_second_one_at_the_same_file_is_sent_away(folder):
    with workplace(folder / "kokoro-v1.0.static-int8.onnx"):
        result = run("--model-dir", folder)
        assert result.exit_code == 1
        assert "is being made by another `kokoro-live quantize`" in result.stderr
        assert run("--model-dir", folder, "--variant", "dynamic", "--no-check").exit_code == 0


def started(folder: Path) -> subprocess.Popen[str]:
    """A process in the middle of its work."""
    command = [sys.executable, "-m", "supervisor", "quantize", "--model-dir", str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
    assert process.stderr
    for line in process.stderr:
        if line.startswith("calibrating: "):
            return process
    raise AssertionError("it ended by itself")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_a_trace(folder, number):
    process = started(folder)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -number
    assert f"Stopped: nothing of {folder / 'kokoro-v1.0.static-int8.onnx'} was kept." in errors
    assert "Traceback" not in errors
    assert {file.name for file in folder.iterdir()} == {"kokoro-v1.0.onnx", "voices-v1.0.bin"}


def test_what_a_killed_one_leaves_is_no_model_and_goes_with_the_next(folder):
    process = started(folder)
    process.kill()
    process.communicate(timeout=60)
    assert (folder / ".kokoro-v1.0.static-int8.onnx.unfinished").is_dir()
    assert [file.name for file in folder.glob("**/*.onnx") if file.parent == folder] == ["kokoro-v1.0.onnx"]
    assert run("--model-dir", folder, "--no-check").exit_code == 0
    names = {"kokoro-v1.0.onnx", "kokoro-v1.0.static-int8.onnx", "voices-v1.0.bin"}
    assert {file.name for file in folder.iterdir()} == names


def test_a_full_disk_leaves_no_half_file(folder):
    """The shell's limit on the size of files stands for the disk's end."""
    command = f'ulimit -f 300; exec "{sys.executable}" -m supervisor quantize --variant mixed-fp16 --no-check'
    done = subprocess.run(
        ["bash", "-c", f'{command} --model-dir "{folder}"'],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 1
    assert "kokoro-v1.0.mixed-fp16.onnx can't be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert {file.name for file in folder.iterdir()} == {"kokoro-v1.0.onnx", "voices-v1.0.bin"}
