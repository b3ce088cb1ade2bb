"""The arrows between the folders, and what the supervisor may not import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "shm": set(),
    "worker": {"shm"},
    "frontend": {"shm"},
    "supervisor": {"shm", "worker", "frontend"},
}
FOLDERS = set(MAY_IMPORT)
ENGINES_ONLY = {"onnxruntime", "kokoro_onnx"}
"""What belongs to the accelerator's owner."""


def imported(file: Path) -> Iterator[tuple[str, int]]:
    """The top-level names that a file imports anywhere, with the line."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield (node.module or "").split(".")[0], node.lineno


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_a_folder_imports_only_what_the_design_allows(folder: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in (ROOT / folder).rglob("*.py")
        for name, line in imported(file)
        if name in FOLDERS - MAY_IMPORT[folder] - {folder} or name in {"tests", "benchmarks"}
    ]
    assert not wrong


def test_only_the_worker_knows_the_accelerator() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for folder in ("shm", "frontend")
        for file in (ROOT / folder).rglob("*.py")
        for name, line in imported(file)
        if name in ENGINES_ONLY
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("supervisor.commands.serve", {"numpy", "aiohttp", "onnxruntime", "asyncio", "misaki", "rich"}),
        ("supervisor.processes.entries", {"numpy", "aiohttp", "onnxruntime", "asyncio", "misaki", "rich"}),
        ("frontend.process", {"onnxruntime", "kokoro_onnx", "misaki", "spacy", "av", "soxr"}),
        ("worker.process", {"aiohttp", "misaki", "onnxruntime"}),
    ],
)
def test_a_process_imports_nothing_that_it_does_not_need(module: str, heavy: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert not heavy & set(loaded.split())
