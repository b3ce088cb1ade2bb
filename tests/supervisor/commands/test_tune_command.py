"""`kokoro-live tune` and `dequantize`, as a user and as a script sees them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
import onnx
import pytest
from click.testing import CliRunner, Result
from onnxruntime.quantization import QuantType, quantize_dynamic

from supervisor.cli import kokoro_live
from supervisor.commands import tune as tune_module
from supervisor.commands.checks.finding import Circumstances, Severity
from supervisor.commands.checks.installation import tuning
from supervisor.commands.tune import CannotMeasure
from supervisor.settings.composition import parse_settings
from supervisor.settings.profile import TuningProfile, Way, tuned_settings
from tests.split_model import make_split_model
from tests.supervisor.clean_environment import clean_environment
from tests.worker.packages import NAME, install, packaged_file
from worker.models.assembly import PartFile
from worker.models.sources import part_of
from worker.settings import WorkerSettings
from worker.tuning.messages import Round


class Machine:
    """A machine on which one thread per inference is twice as soon."""

    def __init__(self) -> None:
        self.opened: list[WorkerSettings] = []
        self.failure = ""
        self.interrupted = False

    @contextmanager
    def __call__(self, settings: WorkerSettings) -> Iterator[Machine]:
        self.opened.append(settings)
        yield _Opened(self, settings)  # type: ignore[misc]


class _Opened:
    def __init__(self, machine: Machine, settings: WorkerSettings) -> None:
        self.machine, self.settings = machine, settings

    def measure(self) -> Round:
        if self.machine.failure:
            raise CannotMeasure(self.machine.failure)
        if self.machine.interrupted and self.settings.threads:
            raise KeyboardInterrupt
        return Round(0.5 if self.settings.threads == 1 else 1.0, 1.0, 1.0)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(tune_module, "open_engine", lambda timeout: made)
    monkeypatch.setattr(tune_module, "cores", lambda: 4)
    return made


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    models = tmp_path / "models"
    models.mkdir()
    (models / "model.onnx").write_bytes(b"weights")
    (models / "voices.bin").write_bytes(b"voices")
    return ["--model-dir", str(models), "--cache-dir", str(tmp_path / "cache")]


def tune(folders: list[str], *more: str) -> Result:
    return CliRunner().invoke(kokoro_live, ["tune", *folders, *more])


def found(result: Result) -> TuningProfile:
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout, type=TuningProfile)


def test_a_result_is_shown_kept_and_applied(machine: Machine, folders: list[str]) -> None:
    result = tune(folders)
    assert result.exit_code == 0, result.output
    assert "1 of 3: threads 1, concurrency 4" in result.stderr
    assert "Threads 1, concurrency 4: first audio 2.00, speed 1.00 times the default's" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert tune(folders, "--show").stdout == result.stdout
    assert {each.engine for each in machine.opened} == {"kokoro"}
    assert tuned_settings(parse_settings(folders)).settings.worker.threads == 1
    assert found(tune(folders, "--show", "--json")).chosen == Way(threads=1, concurrency=4)


def test_each_tune_measures_again(machine: Machine, folders: list[str]) -> None:
    tune(folders)
    made = len(machine.opened)
    tune(folders)
    assert len(machine.opened) == 2 * made


def test_the_processors_of_the_worker_are_divided(machine: Machine, folders: list[str]) -> None:
    profile = found(tune(folders, "--json", "--worker-cpus", "0-1"))
    assert [each.way for each in profile.attempts] == [Way(threads=1, concurrency=2), Way(threads=2, concurrency=1)]


def test_clear_forgets_and_then_there_is_nothing_to_show(machine: Machine, folders: list[str]) -> None:
    tune(folders)
    assert tune(folders, "--clear").exit_code == 0
    shown = tune(folders, "--show")
    assert shown.exit_code == 1 and "kokoro-live tune" in shown.stderr
    assert tune(folders, "--clear").exit_code == 0, "there is nothing to remove"


def test_an_engine_that_cannot_be_measured_leaves_no_profile(machine: Machine, folders: list[str]) -> None:
    machine.failure = "the model is damaged"
    result = tune(folders)
    assert result.exit_code == 1 and "the model is damaged" in result.stderr
    assert tune(folders, "--show").exit_code == 1


def test_ctrl_c_leaves_the_old_profile(machine: Machine, folders: list[str]) -> None:
    before = found(tune(folders, "--json"))
    machine.interrupted = True
    assert tune(folders).exit_code != 0
    assert found(tune(folders, "--show", "--json")) == before


def test_a_folder_that_cannot_be_written_to_is_one_line(machine: Machine, folders: list[str]) -> None:
    Path(folders[3]).write_text("a file in the folder's place")
    result = tune(folders)
    assert result.exit_code == 1 and "can't be changed" in result.stderr and "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--engine", "espeak"], "espeak-ng has nothing to tune"),
        (["--model", "gone.onnx"], "there is no model"),
        (["--workers", "2"], "leave --workers out"),
        (["--threads", "2"], "leave them out"),
        (["--window", "99"], "window must be"),
    ],
)
def test_arguments_that_make_no_sense_are_rejected(
    machine: Machine, folders: list[str], arguments: list[str], complaint: str
) -> None:
    result = tune(folders, *arguments)
    assert result.exit_code == 2 and complaint in result.stderr and not machine.opened


def test_doctor_tells_of_the_profile_and_of_a_stale_one(machine: Machine, folders: list[str]) -> None:
    def seen(*more: str) -> tuple[str, str, str]:
        applied = tuned_settings(parse_settings([*folders, *more]), lambda: time.time() + 3 * 86_400)
        finding = tuning(Circumstances(applied.settings, Path("config.toml"), "", applied))
        return finding.verdict, finding.found, finding.cure

    assert seen()[0] == Severity.OK and "no profile" in seen()[1]
    tune(folders)
    verdict, said, _ = seen()
    assert verdict == Severity.OK and "3 days ago: threads 1" in said and "first audio 2.00" in said
    verdict, said, cure = seen("--window", "0.9")
    assert verdict == Severity.WARNING and "stale" in said and cure == "kokoro-live tune"
    assert "--no-tuned" in seen("--no-tuned")[1]


def test_the_packages_model_is_what_is_measured(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site)
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(msgspec.json.encode([packaged_file()]))

    def measured(*_: object) -> None:
        raise click.ClickException("it would be measured now")

    monkeypatch.setattr(tune_module, "_compare", measured)
    arguments = ["--packaged-model", "--manifest", str(manifest), "--model-dir", str(tmp_path / "models")]
    with clean_environment(tmp_path, monkeypatch):
        result = CliRunner().invoke(tune_module.tune, arguments)
    assert "it would be measured now" in result.stderr
    assert (tmp_path / "models" / NAME).exists()


@pytest.fixture(scope="module")
def quantized(tmp_path_factory):
    """A folder with a small model, and with a folder that has it in int8 under a published name."""
    made = tmp_path_factory.mktemp("quantized")
    (made / "my models").mkdir()
    plain = make_split_model(made / "small.onnx", predicted=False)
    int8 = made / "my models" / "kokoro-v1.0.int8.onnx"
    quantize_dynamic(plain, int8, ["Conv", "MatMul", "LSTM", "Gather"], weight_type=QuantType.QUInt8)
    return made


@pytest.fixture
def folder(tmp_path, quantized):
    shutil.copytree(quantized, tmp_path, dirs_exist_ok=True)
    return tmp_path / "my models"


def run(*arguments):
    return CliRunner().invoke(kokoro_live, ["dequantize", *map(str, arguments)])


def test_a_float_model_stands_alongside(folder):
    """Twice: a file that the command made is replaced."""
    for _ in range(2):
        result = run("--model-dir", folder)
        assert result.exit_code == 0, result.output
        out = folder / "kokoro-v1.0.float.onnx"
        assert f"To use it: kokoro-live serve --model '{out}'" in result.stdout
        assert not any("Integer" in node.op_type or "Quant" in node.op_type for node in onnx.load(out).graph.node)
        assert {file.name for file in folder.iterdir()} == {"kokoro-v1.0.int8.onnx", out.name}


def test_what_is_wrong_is_said_with_the_cure(folder, tmp_path):
    int8, strange = folder / "kokoro-v1.0.int8.onnx", tmp_path / "strange.onnx"
    strange.write_bytes(b"not an ONNX file at all")
    for named, says in (
        (["--model", "nowhere.onnx"], "there is no model file nowhere.onnx"),
        (["--model", strange], f"{strange} can't be made a float model: it is no ONNX model"),
        (["--model", tmp_path / "small.onnx"], "isn't in dynamic int8, as kokoro-v1.0.int8.onnx is"),
        (["--out", tmp_path / "kokoro-v1.0.onnx"], "has a published file's name"),
        (["--out", tmp_path], "is a folder"),
        (["--out", strange], "is there already, and `dequantize` didn't make it"),
        (["--out", "/proc/mine.onnx"], "/proc/mine.onnx can't be written"),
    ):
        result = run("--model-dir", folder, "--model", int8, *named)
        assert result.exit_code == 1, named
        assert says in " ".join(result.stderr.split()), result.stderr
        assert "Traceback" not in result.output
    assert strange.read_bytes() == b"not an ONNX file at all"


def test_a_pattern_that_is_unknown_is_named(folder):
    int8 = folder / "kokoro-v1.0.int8.onnx"
    model = onnx.load(int8)
    node = next(node for node in model.graph.node if node.op_type == "DynamicQuantizeLSTM")
    del node.input[-1]
    onnx.save(model, int8)
    result = run("--model-dir", folder)
    assert "can't be made a float model: its DynamicQuantizeLSTM" in " ".join(result.stderr.split())


def test_a_second_maker_is_rejected_and_what_a_killed_one_left_is_overwritten(folder):
    out = folder / "kokoro-v1.0.float.onnx"
    first = PartFile.lock(part_of(out))
    with first:
        first.write(b"half")
        assert "is being made by another" in run("--model-dir", folder).stderr
        assert first.path.read_bytes() == b"half"
    assert run("--model-dir", folder).exit_code == 0
    assert onnx.load(out).graph.node and not first.path.exists()


def test_nothing_is_left_of_what_fails(folder, monkeypatch):
    def fail(model, path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(onnx, "save", fail)
    assert "float.onnx can't be written: No space left on device. Nothing is left" in " ".join(
        run("--model-dir", folder).stderr.split()
    )
    assert [file.name for file in folder.iterdir()] == ["kokoro-v1.0.int8.onnx"]
