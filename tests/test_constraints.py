"""`constraints.txt` pins what `pyproject.toml` asks for, to versions that it allows, and names no host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOT_PINNED = {"spacy", "ja", "zh", "ray"}
"""Extras that the tests run without."""

LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]


def test_every_line_is_a_name_and_a_version() -> None:
    assert [line for line in LINES if not re.fullmatch(r"[\w.-]+==[\w.+!-]+", line)] == []


def test_what_is_asked_for_is_pinned_within_its_bounds() -> None:
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in LINES)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(line for extra in extras.keys() - NOT_PINNED for line in extras[extra])]
    for requirement in map(Requirement, asked):
        version = pins.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(version), f"{requirement} is pinned to {version}"
