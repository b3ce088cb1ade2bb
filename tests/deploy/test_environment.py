"""Machines that can't run the project, imitated: one line with the remedy, and nothing is downloaded before it."""

import ast
import http.server
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FREE = "free = os.statvfs; os.statvfs = lambda p: posix.statvfs_result([4096, 4096, *[{}] * 3, *free(p)[5:]])"
ANOTHER = ".* 3.11 to 3.14: .*make run PYTHON=python3.1"
UNFIT = {
    "Python is too old": (
        "sys.version_info = (3, 9, 2)",
        f"This is Python 3.9, {ANOTHER}",
    ),
    "Python is too new": (
        "sys.version_info = (3, 15, 0)",
        f"This is Python 3.15, {ANOTHER}",
    ),
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
