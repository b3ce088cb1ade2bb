"""The arrows between folders and between their rooms, and the imports that a process must not make."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "shm": set(),
    "text": {"shm"},
    "worker": {"shm"},
    "frontend": {"shm", "text"},
    "client": {"shm"},
    "player": {"shm", "client"},
    "books": {"shm", "text", "frontend", "client"},
    "supervisor": {"shm", "text", "worker", "frontend", "client", "books", "player"},
}
FOLDERS = set(MAY_IMPORT)
ENGINES_ONLY = {"onnxruntime", "kokoro_onnx"}
"""Packages that belong to the accelerator's owner."""
DOORS = {("supervisor/commands/bench.py", "benchmarks")}
"""`kokoro-live bench` runs the measured comparisons, which may import everything; nothing else may import them."""


class Facts(NamedTuple):
    """Facts of one file, which is parsed once for all tests of a process."""

    imports: tuple[tuple[str, int], ...]
    public_classes: tuple[str, ...]


@cache
def facts(file: Path) -> Facts:
    tree = ast.parse(file.read_text())
    classes = (node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return Facts(tuple(_imports(file, tree)), tuple(name for name in classes if not name.startswith("_")))


def imports(file: Path) -> tuple[tuple[str, int], ...]:
    """The dotted names that a file imports anywhere, with the line; `importlib.import_module` counts too.

    A name that `import_module` is given as an f-string counts up to its first placeholder. A string that is the name of
    a module in another folder counts as well: tables name modules that are loaded later, or in a helper process.
    """
    return facts(file).imports


def _imports(file: Path, tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in DYNAMIC:
            for argument in node.args[:1]:
                if isinstance(argument, ast.JoinedStr):
                    argument = argument.values[0]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            if MODULE.fullmatch(name):
                named = ROOT / f"{name.replace('.', '/')}.py"
                if named.is_file() and named.parent != file.parent:
                    yield name, node.lineno


DYNAMIC = {"import_module", "__import__"}
MODULE = re.compile(r"[a-z_]+(\.[a-z_]+)+")


def imported(file: Path) -> Iterator[tuple[str, int]]:
    """The top-level names that a file imports anywhere, with the line."""
    yield from ((name.split(".")[0], line) for name, line in imports(file))


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_a_folder_imports_only_what_the_design_allows(folder: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in (ROOT / folder).rglob("*.py")
        for name, line in imported(file)
        if name in FOLDERS - MAY_IMPORT[folder] - {folder} or name in {"tests", "benchmarks"}
        if (str(file.relative_to(ROOT)), name) not in DOORS
    ]
    assert not wrong


STARTED_APART = re.compile(rf'(?<!own_command\()"-m",\s*"(kokoro_live|benchmarks|{"|".join(sorted(FOLDERS))})\b.*')
WITH_ITS_PATH = {ROOT / "shm/expendable_link.py", ROOT / "kokoro_live/__init__.py"}
"""Files whose child gets the imports' path in a variable, and the one that makes such commands."""


def test_every_process_of_the_project_is_started_by_one_command() -> None:
    """Where the project is installed, its folders are no modules of the environment."""
    files = [file for folder in (*FOLDERS, "benchmarks", "kokoro_live") for file in (ROOT / folder).rglob("*.py")]
    wrong = [
        f"{file.relative_to(ROOT)}: {found[0]}"
        for file in {*files, ROOT / "deploy/ray/speech.py"} - WITH_ITS_PATH
        if not file.is_relative_to(ROOT / "kokoro_live/bundled")
        for found in STARTED_APART.finditer(file.read_text())
    ]
    assert not wrong


def package_folders() -> list[str]:
    """Every folder of the product that is a package, as a path below the root."""
    return sorted(str(f.parent.relative_to(ROOT)) for folder in FOLDERS for f in (ROOT / folder).rglob("__init__.py"))


@pytest.mark.parametrize("folder", package_folders())
def test_the_rooms_and_files_of_a_folder_import_each_other_in_no_circle(folder: str) -> None:
    package = folder.replace("/", ".")
    arrows: dict[str, set[str]] = {}
    for file in (ROOT / folder).rglob("*.py"):
        importer = file.relative_to(ROOT / folder).parts[0].removesuffix(".py")
        names = [name.split(".") for name, _ in imports(file) if name.startswith(f"{package}.")]
        found = {name[package.count(".") + 1] for name in names}
        arrows.setdefault(importer, set()).update(found - {importer, "__init__"})
    TopologicalSorter(arrows).prepare()


@pytest.mark.parametrize("folder", package_folders())
def test_every_room_says_in_one_line_what_it_is(folder: str) -> None:
    told = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text())) or ""
    assert re.match(r"[^\n]{20,}", told)


def test_a_public_class_of_the_product_shares_its_name_with_no_other() -> None:
    files: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            for name in facts(file).public_classes if file != STATUS_TYPES else ():
                files.setdefault(name, []).append(str(file.relative_to(ROOT)))
    assert {name: found for name, found in files.items() if len(found) > 1} == {}


STATUS_TYPES = ROOT / "frontend/monitoring/report.py"
"""Types whose names are the schemas of the OpenAPI document."""


def test_an_import_by_name_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "sly.py"
    file.write_text(
        "import importlib\n"
        'importlib.import_module("frontend.http.app")\n'
        'import_module(f"tests.{x}")\n'
        'TABLE = ("worker.loop.process:run", "no.module")\n'
    )
    assert {name for name, _ in imports(file)} == {"importlib", "frontend.http.app", "tests.", "worker.loop.process"}


def test_only_the_worker_knows_the_accelerator() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for folder in ("shm", "text", "frontend")
        for file in (ROOT / folder).rglob("*.py")
        for name, line in imported(file)
        if name in ENGINES_ONLY
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("supervisor.commands.serve", {"numpy", "aiohttp", "onnxruntime", "asyncio", "misaki", "rich"}),
        ("supervisor.processes.roles", {"numpy", "aiohttp", "onnxruntime", "asyncio", "misaki", "rich"}),
        ("frontend.process", {"onnxruntime", "kokoro_onnx", "misaki", "spacy", "av", "soxr"}),
        ("worker.loop.process", {"aiohttp", "misaki", "onnxruntime"}),
    ],
)
def test_a_process_imports_nothing_that_it_does_not_need(module: str, heavy: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert not heavy & set(loaded.split())
