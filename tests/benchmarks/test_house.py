"""What counts as a head, a comment and an import."""

import ast

import pytest

from benchmarks.house import comments, figures, head, imported, is_made_once

SOURCE = '''"""A file."""

from __future__ import annotations

import os
from a.b import c

# Why it is so.
ANSWER = "# no comment"  # beside code


def late() -> None:
    from d import e
'''


def test_the_parts_of_a_file() -> None:
    tree = ast.parse(SOURCE)
    assert head(tree, SOURCE.count("\n")) == 8
    assert comments(SOURCE) == 1
    assert {"os", "a.b", "a.b.c", "d", "d.e"} <= set(imported(tree))
    assert head(ast.parse('"""Only a word."""\n'), 1) == 1


def test_a_protocol_of_one_class_is_told_from_one_of_several() -> None:
    tree = ast.parse("""
class Asked(Protocol):
    name: str
    def speak(self): ...

class Made:
    def __init__(self): self.name = ""
    def speak(self): ...

class Part:
    def speak(self): ...
""")
    asked, made, part = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert is_made_once(asked, (asked, made, part))
    assert not is_made_once(asked, (asked, made, made))


@pytest.mark.slow
def test_the_product_is_found() -> None:
    found = figures()
    assert int(found["files"]) > int(found["files with one importer"]) > 0
    assert float(found["heads of files"].partition("%")[0]) < 50
