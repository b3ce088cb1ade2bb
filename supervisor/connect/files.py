"""Settings files of other programs: one is changed with all else in it kept, shown as a diff, and taken back."""

from __future__ import annotations

import configparser
import difflib
import io
import json
import re
import tempfile
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from shm.atomic import read_users_file, write_users_file

Tree = MutableMapping[str, Any]
"""The content of a file, in nested mappings; those of YAML and TOML keep comments and order."""

_BACKUP = ".before-kokoro-live"
"""After a file's name: its content before the first change."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a settings file."""

    read: Callable[[str], Tree]
    """
    Raises:
        ValueError: the text isn't of the form, or holds no settings with names.
    """
    write: Callable[[Tree, str], str]
    """The tree's text, laid out like the second argument."""


class Also(NamedTuple):
    """A value that a list is to have in addition to its others."""

    item: Any


class Unreadable(click.ClickException):
    """The file isn't of its form, so it can't be changed with all else kept."""


def backup_of(path: Path) -> Path:
    """The file that has another one's content before its first change."""
    return path.with_name(path.name + _BACKUP)


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Settings that one file is to have."""

    path: Path
    form: Form
    values: Mapping[tuple[str, ...], Any]
    """Values by the names that lead to them."""

    @property
    def backup(self) -> Path:
        return backup_of(self.path)

    @property
    def entry(self) -> str:
        """The settings alone, as a file of that form has them."""
        tree: Tree = {}
        for names, value in self.values.items():
            _set(tree, names, value)
        return self.form.write(tree, "")

    @property
    def diff(self) -> str:
        """The change, as a unified diff; empty if the file has the settings already."""
        before, after = read_users_file(self.path), self._after()
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
        return "\n".join(lines)

    @property
    def is_made(self) -> bool:
        """True if `write` was called for this file, and its settings are still others than before."""
        if not (self.backup.exists() and self.path.exists()):
            return False
        tree, earlier = self._tree(self.path), self._tree(self.backup)
        return any(_get(tree, names) != _get(earlier, names) for names in self.values)

    def write(self) -> None:
        """Give the file the settings. Its content before the first change stays in `backup`, empty if there was none.

        Raises:
            Unreadable, OSError: it stays as it is.
        """
        after = self._after()
        if not self.is_made:
            write_users_file(self.backup, read_users_file(self.path))
            self.backup.chmod(0o600)
        write_users_file(self.path, after)

    def undo(self) -> bool:
        """Give the settings the values that they had; other changes stay. False if there is nothing to undo.

        Raises:
            Unreadable, OSError: it stays as it is.
        """
        if not self.is_made:
            return False
        tree, earlier = self._tree(self.path), self._tree(self.backup)
        for names, value in self.values.items():
            _restore(tree, earlier, names, value)
        was = read_users_file(self.backup)
        after = was if tree == earlier else self.form.write(tree, read_users_file(self.path))
        if was or tree:
            write_users_file(self.path, after)
        else:
            self.path.unlink()
        self.backup.unlink()
        return True

    def _after(self) -> str:
        tree, before = self._tree(self.path), read_users_file(self.path)
        changed = False
        for names, value in self.values.items():
            changed |= _set(tree, names, value)
        return self.form.write(tree, before) if changed else before

    def _tree(self, path: Path) -> Tree:
        try:
            return self.form.read(read_users_file(path))
        except ValueError as error:
            raise Unreadable(f"{path} can't be read, and stays as it is: {error}") from error


def _get(tree: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def _set(tree: Tree, names: tuple[str, ...], value: Any) -> bool:
    """Set a value; False if it is there already."""
    if isinstance(value, Also):
        there = _get(tree, names)
        there = [*there] if isinstance(there, list) else []
        value = there if value.item in there else [*there, value.item]
    if _get(tree, names) == value:
        return False
    for name in names[:-1]:
        if not isinstance(tree.get(name), MutableMapping):
            tree[name] = {}
        tree = tree[name]
    tree[names[-1]] = value
    return True


def _restore(tree: Tree, earlier: Tree, names: tuple[str, ...], value: Any) -> None:
    """Give a value back its earlier one, and remove the groups that are empty now and weren't there."""
    was = _get(earlier, names)
    if isinstance(value, Also) and isinstance(there := _get(tree, names), list):
        kept = [each for each in there if each != value.item or each in (was or ())]
        was = kept or was
    groups = [tree]
    for name in names[:-1]:
        if not isinstance(groups[-1].get(name), MutableMapping):
            return
        groups.append(groups[-1][name])
    if was is None:
        groups[-1].pop(names[-1], None)
    else:
        groups[-1][names[-1]] = was
    for depth in range(len(groups) - 1, 0, -1):
        if not groups[depth] and _get(earlier, names[:depth]) is None:
            del groups[depth - 1][names[depth - 1]]


def _named(tree: Any) -> Tree:
    if tree is None:
        return {}
    if not isinstance(tree, MutableMapping):
        raise ValueError("it holds no settings with names")
    return tree


def _write_json(tree: Tree, like: str) -> str:
    found = re.search(r"^([ \t]+)\S", like, re.MULTILINE)
    indent = found[1] if found else "  "
    return json.dumps(tree, indent=indent, ensure_ascii=False) + ("\n" if like.endswith("\n") or not like else "")


def _yaml(like: str) -> Any:
    from ruamel.yaml import YAML

    form = YAML()
    form.preserve_quotes = True
    form.width = 1 << 16
    if re.search(r"^( *)[^\s#-].*:[ \t]*\n\1 +- ", like, re.MULTILINE):
        form.indent(mapping=2, sequence=4, offset=2)
    return form


def _read_yaml(text: str) -> Tree:
    from ruamel.yaml.error import YAMLError

    try:
        return _named(_yaml(text).load(text))
    except YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _write_yaml(tree: Tree, like: str) -> str:
    written = io.StringIO()
    _yaml(like).dump(tree, written)
    return written.getvalue()


def _read_toml(text: str) -> Tree:
    import tomlkit

    return tomlkit.parse(text)


def _write_toml(tree: Tree, _like: str) -> str:
    import tomlkit

    return tomlkit.dumps(tree)


def _read_variables(text: str) -> Tree:
    import dotenv

    return dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False)


def _write_variables(tree: Tree, like: str) -> str:
    """python-dotenv changes files in place, a variable at a time."""
    import dotenv

    before = _read_variables(like)
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, "variables")
        draft.write_text(like if like.endswith("\n") or not like else f"{like}\n", "utf-8", "surrogateescape")
        for name in [*tree, *before]:
            if name not in tree:
                dotenv.unset_key(draft, name, encoding="utf-8")
            elif tree[name] != before.get(name):
                dotenv.set_key(draft, name, tree[name], quote_mode="auto", encoding="utf-8")
        return draft.read_text("utf-8", "surrogateescape")


def _read_desktop(text: str) -> Tree:
    parser = _desktop_parser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return {name: dict(parser[name]) for name in parser.sections()}


def _write_desktop(tree: Tree, _like: str) -> str:
    parser, written = _desktop_parser(), io.StringIO()
    parser.read_dict(tree)
    parser.write(written, space_around_delimiters=False)
    return written.getvalue().rstrip("\n") + "\n"


def _desktop_parser() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    return parser


JSON = Form(lambda text: _named(json.loads(text) if text.strip() else {}), _write_json)
YAML = Form(_read_yaml, _write_yaml)
TOML = Form(_read_toml, _write_toml)
DESKTOP = Form(_read_desktop, _write_desktop)
"""Entries of Linux desktops' menus; comments don't stay."""
VARIABLES = Form(_read_variables, _write_variables)
"""`NAME=value` in lines, as `.env` files have them."""
