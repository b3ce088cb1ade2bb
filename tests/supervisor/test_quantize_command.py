"""`kokoro-live quantize`, as a user and as a script sees it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from supervisor.cli import kokoro_live
from tests.split_model import make_split_model, make_split_voices
from tests.supervisor.clean_environment import clean_environment
from tests.worker.quantization.making import SCRIPTS
from worker.quantization import make, quality
from worker.quantization.metadata import properties_of


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "calibration", lambda: SCRIPTS)
    monkeypatch.setattr(quality, "evaluation", lambda: SCRIPTS)
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
    what, sound, prosody, use = result.stdout.splitlines()
    assert what.startswith(f"{out}: 1 MB instead of 1, in ")
    assert "dB log-mel distance" in sound
    assert prosody.startswith("Prosody: 100.0% of phonemes last as long")
    assert use == f"To use it: kokoro-live serve --model '{out}' --voices '{folder / 'voices-v1.0.bin'}'"


def test_how_far_it_is_goes_to_stderr(folder):
    result = run("--model-dir", folder, "--variant", "fp16")
    assert [line.partition(":")[0] for line in result.stderr.splitlines() if "judging" not in line] == [
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
    monkeypatch.setattr(quality, "SAME_DURATIONS", 1.1)
    assert "listen before you use it" in run("--model-dir", folder, "--variant", "fp16").stdout


@pytest.mark.parametrize(
    ("named", "says"),
    [
        (["--model-dir", "nowhere"], "there is no Kokoro model in nowhere: run `kokoro-live models fetch`"),
        (["--model", "nowhere.onnx"], "there is no model file nowhere.onnx"),
        (["--variant", "int3"], "Invalid value for '--variant'"),
    ],
)
def test_what_is_wrong_is_said_with_the_cure(folder, named, says):
    result = run("--model-dir", folder, *named)
    assert result.exit_code != 0
    assert says in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_variant_can_not_be_quantised(folder):
    assert run("--model-dir", folder, "--variant", "fp16", "--no-check").exit_code == 0
    result = run("--model-dir", folder, "--model", folder / "kokoro-v1.0.fp16.onnx")
    assert result.exit_code == 1
    assert "quantised already (fp16): name the full-precision model" in result.stderr


def test_a_full_disk_leaves_no_half_file(folder):
    """The shell's limit on the size of files stands for the disk's end."""
    command = f'ulimit -f 300; exec "{sys.executable}" -m supervisor quantize --variant mixed-fp16 --no-check'
    done = subprocess.run(
        ["bash", "-c", f'{command} --model-dir "{folder}"'],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 1
    assert "kokoro-v1.0.mixed-fp16.onnx can't be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert {file.name for file in folder.iterdir()} == {"kokoro-v1.0.onnx", "voices-v1.0.bin"}
