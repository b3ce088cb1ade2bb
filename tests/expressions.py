"""Every regular expression of the product, found where it is compiled: while its modules load, and in its functions."""

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.rooms import PRODUCT

ROOT = Path(__file__).parent.parent

_RECORDER = """
import importlib, json, os, re, sys
root, rooms, names = os.getcwd() + os.sep, sys.argv[1].split(), sys.argv[2:]
found, compiled = [], re._compile
def recorded(pattern, flags):
    made = compiled(pattern, flags)
    frame = sys._getframe(1)
    while frame and (frame.f_code.co_filename == re.__file__ or "/re/" in frame.f_code.co_filename):
        frame = frame.f_back
    file = frame.f_code.co_filename.removeprefix(root) if frame else ""
    if file.partition("/")[0] in rooms and isinstance(made.pattern, str):
        found.append((file, frame.f_lineno, made.pattern, int(made.flags)))
    return made
re._compile = recorded
for name in names:
    importlib.import_module(name)
for language in ("en", "es", "fr", "hi", "it", "ja", "pt", "cmn"):
    sys.modules["text.normalization.normalize"].rules_of(language)
sys.modules["text.english.foreign"].rewrites()
sys.modules["text.english.foreign"].syllable_expression()
sys.modules["text.english.foreign"]._marks()
sys.modules["text.english.english"].endings()
for language in ("ja", "cmn"):
    sys.modules["text.east_asian"]._readings(language)
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Expression:
    file: str
    line: int
    pattern: str
    flags: int
    methods: frozenset[str] = frozenset(("finditer",))
    """Methods of the compiled expression that the product calls; `finditer` where that isn't known."""
    name: str = ""
    """Name in its module, if it has one."""

    @property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @property
    def place(self) -> str:
        return f"{self.file}: {self.name}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.pattern[:60]}"


@cache
def expressions() -> tuple[Expression, ...]:
    """All of them, by place. Patterns in functions count if they are literals; `unseen` has the others."""
    trees = _trees()
    names = [file.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for file in trees]
    recorded = subprocess.run(
        [sys.executable, "-c", _RECORDER, " ".join(PRODUCT), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    at_load = {Expression(*each) for each in json.loads(recorded.stdout.splitlines()[-1])}
    in_functions = {each for file, tree in trees.items() for each in _literals(file, tree)}
    known = {(each.file, each.pattern) for each in at_load}
    found = at_load | {each for each in in_functions if (each.file, each.pattern) not in known}
    named = [_with_methods(each) for each in found]
    return tuple(sorted(named, key=lambda each: (each.file, each.line, each.pattern)))


def unseen() -> list[str]:
    """Places of functions at which an expression is compiled that `expressions` lacks."""
    lines = {(each.file, each.line) for each in expressions()}
    return [
        f"{file}: {ast.unparse(call.args[0])}"
        for file, tree in _trees().items()
        for call in _calls(tree, inside=True)
        if call.args
        and not isinstance(call.args[0], ast.Constant)
        and not any((file, line) in lines for line in range(call.lineno, (call.end_lineno or 0) + 1))
    ]


@cache
def _trees() -> dict[str, ast.Module]:
    files = [path for room in PRODUCT for path in sorted((ROOT / room).rglob("*.py"))]
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    return {file: ast.parse(source) for file, source in sources.items() if re.search(r"^import re$", source, re.M)}


def _calls(tree: ast.Module, inside: bool) -> Iterator[ast.Call]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    in_functions = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).startswith("re.")
            and ast.unparse(node.func) not in ("re.escape", "re.purge")
            and (id(node) in in_functions) == inside
        ):
            yield node


def _literals(file: str, tree: ast.Module) -> Iterator[Expression]:
    for call in _calls(tree, inside=True):
        if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
            flags = [ast.unparse(each) for each in (*call.args[1:], *(k.value for k in call.keywords))]
            given = [eval(each, {"re": re}) for each in flags if re.fullmatch(r"re\.\w+(?: \| re\.\w+)*", each)]
            compiled = re.compile(call.args[0].value, sum(given))
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            methods = frozenset((method if method in ("match", "fullmatch", "sub") else "finditer",))
            yield Expression(file, call.lineno, compiled.pattern, compiled.flags, methods)


def _with_methods(expression: Expression) -> Expression:
    tree = _trees()[expression.file]
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "re.compile"
            and node.lineno <= expression.line <= (node.end_lineno or 0)
        ):
            name = ast.unparse(node.targets[0])
            called = _uses()[expression.file if name.startswith("_") else "", name]
            known = called and "" not in called
            methods = frozenset(called - {"pattern"}) if known else expression.methods
            return replace(expression, methods=methods or expression.methods, name=name)
    return expression


@cache
def _uses() -> dict[tuple[str, str], set[str]]:
    """For each name of the product, the attributes that are taken of its value; an empty one for each other use. The
    file counts where the name is private, and is empty elsewhere."""
    uses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file, tree in _trees().items():
        owners = {}
        for each in ast.walk(tree):
            if isinstance(each, ast.Attribute):
                value = each.value
                either = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
                owners |= {id(one): each.attr for one in either}
        for each in ast.walk(tree):
            if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load):
                name = each.id if isinstance(each, ast.Name) else each.attr
                uses[file if name.startswith("_") else "", name].add(owners.get(id(each), ""))
    return uses
