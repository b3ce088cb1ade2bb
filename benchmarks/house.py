"""`python -m benchmarks.house`: the size and the shape of the product, by reading it; runs in two seconds.

Counts the Python of the product's folders (neither tests nor benchmarks): lines, files, files that one other file
imports, heads of files, comments, notes beside values, protocols, options, the boxes that a folder shows, the files
that name one dialect, and the tests' lines.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path

from supervisor.commands.serve import serve

ROOT = Path(__file__).parents[1]


def product() -> list[Path]:
    """The product's Python files, by the folders that pyproject.toml packs."""
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    folders = [ROOT / name for name in packed["only-include"] if name not in ("kokoro_live", "benchmarks")]
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def imported(tree: ast.Module) -> Iterator[str]:
    """The dotted names that a file imports, functions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def head(tree: ast.Module, lines: int) -> int:
    """Lines of a file before its first statement that is no docstring and no import."""
    first = next(
        (
            node
            for node in tree.body
            if not isinstance(node, ast.Import | ast.ImportFrom)
            and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ),
        None,
    )
    return first.lineno - 1 if first else lines


def comments(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and token.line.lstrip().startswith("#") for token in tokens)


def notes(tree: ast.Module) -> int:
    """Lines of the texts below constants and fields, which say what a value is and why it is that."""
    bodies = (node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef))
    return sum(
        (after.end_lineno or 0) - after.lineno + 1
        for before, after in chain.from_iterable(map(pairwise, bodies))
        if isinstance(before, ast.Assign | ast.AnnAssign)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    )


def members(node: ast.ClassDef) -> set[str]:
    """Names that a class declares: methods, annotated fields, and what its methods assign to `self`."""
    functions = (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
    stored = (
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and ast.unparse(each.value) == "self"
    )
    return {each.name for each in functions} | {each.id for each in fields if isinstance(each, ast.Name)} | {*stored}


def is_protocol(node: ast.ClassDef) -> bool:
    return any(getattr(base, "id", "") == "Protocol" for base in node.bases)


def is_made_once(protocol: ast.ClassDef, classes: Iterable[ast.ClassDef]) -> bool:
    """Fewer than two of the product's classes have all that a protocol names, or have it as their base."""
    asked = members(protocol)
    made = (
        any(getattr(base, "id", "") == protocol.name for base in node.bases) or asked <= members(node)
        for node in classes
        if not is_protocol(node)
    )
    return sum(made) < 2


def boxes(folder: Path) -> int:
    """Files and folders of Python in a folder."""
    files = {file.relative_to(folder).parts[0] for file in folder.rglob("*.py")}
    return len(files - {"__init__.py"})


def figures() -> dict[str, str]:
    """Names of measures with their values."""
    files = product()
    texts = {file: file.read_text() for file in files}
    trees = {file: ast.parse(text) for file, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    modules = {module_of(file) for file in files if file.name != "__init__.py"}
    importers = Counter[str]()
    for file, tree in trees.items():
        importers.update((modules & set(imported(tree))) - {module_of(file)})
    heads = sum(head(tree, texts[file].count("\n")) for file, tree in trees.items())
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    protocols = [node for node in classes if is_protocol(node)]
    asking = [
        file for file, text in texts.items() if re.search(r"\.Client(?:Session|Connection)\(|\.HTTPConnection\b", text)
    ]
    tests = sum(file.read_text().count("\n") for file in (ROOT / "tests").rglob("*.py"))
    words = [re.search(r"deepgram", text, re.IGNORECASE) for text in texts.values()]
    said = sum(len(re.findall(r'"""(?:Implements|Delegates) ', text)) for text in texts.values())
    return {
        "lines of Python": f"{lines:,}",
        "files": str(len(files)),
        "files with one importer": str(sum(importers[name] == 1 for name in modules)),
        "heads of files": f"{heads / lines:.1%} of the lines",
        "comments": f"{sum(map(comments, texts.values())) / lines:.1%} of the lines",
        "notes beside constants and fields": f"{sum(map(notes, trees.values())) / lines:.1%} of the lines",
        "protocols": str(len(protocols)),
        "protocols with one implementation": str(sum(is_made_once(node, classes) for node in protocols)),
        'docstrings "Implements …"': str(said),
        "files that name deepgram": str(sum(map(bool, words))),
        "files that open HTTP connections": ", ".join(str(file.relative_to(ROOT)) for file in asking),
        "boxes: text; worker/split; http": "; ".join(
            str(boxes(ROOT / name)) for name in ("text", "worker/split", "frontend/http")
        ),
        "lines of tests": f"{tests:,}",
        "options of `serve`": str(len(serve.params)),
    }


def main() -> None:
    for name, value in figures().items():
        print(f"{name:36}{value}")


if __name__ == "__main__":
    main()
