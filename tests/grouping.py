"""Test files that share a server run in one process of pytest's, so that each such server is started once.

A server's start takes as much processor time as ten tests. A file shares one if a test of it asks for a fixture of its
folder's conftest.py that outlives the file.
"""

import ast
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[1]


def functions(file: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.walk(ast.parse(file.read_text()))
    return {node.name: node for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def asked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The fixtures that a test or a fixture asks for."""
    return {argument.arg for argument in function.args.args}


@cache
def shared_fixtures(folder: Path) -> frozenset[str]:
    """Fixtures of the folder that live as long as the session or the package, and those that ask for one of them."""
    conftest = folder / "conftest.py"
    fixtures = functions(conftest) if conftest.exists() else {}
    found = {
        name
        for name, each in fixtures.items()
        if any(
            f"scope='{scope}'" in ast.unparse(mark) for mark in each.decorator_list for scope in ("session", "package")
        )
    }
    while more := {name for name, each in fixtures.items() if asked(each) & found} - found:
        found |= more
    return frozenset(found)


@cache
def group(file: str) -> str:
    """The folder of a file that shares servers with others of its folder; else the file itself."""
    path = ROOT / file
    fixtures = shared_fixtures(path.parent)
    shares = fixtures and any(asked(function) & fixtures for function in functions(path).values())
    return str(path.parent.relative_to(ROOT)) if shares else file


class GroupScheduling(LoadFileScheduling):
    """xdist's `--dist loadfile`, with one process for all files of a group."""

    def _split_scope(self, nodeid: str) -> str:
        return group(super()._split_scope(nodeid))
