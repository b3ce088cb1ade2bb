"""`constraints.txt` pins what `pyproject.toml` asks for, to versions that it allows, and names no host.
`constraints-hashes.txt` has the same pins, with hashes, for an installation with Kokoro."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOT_PINNED = {"spacy", "ja", "zh", "ray"}
"""Extras that the tests run without."""

LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]

HASHES = (ROOT / "constraints-hashes.txt").read_text()


def pinned(lines: list[str]) -> dict[str, str]:
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_every_line_is_a_name_and_a_version() -> None:
    assert [line for line in LINES if not re.fullmatch(r"[\w.-]+==[\w.+!-]+", line)] == []


def test_what_is_asked_for_is_pinned_within_its_bounds() -> None:
    pins = pinned(LINES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(line for extra in extras.keys() - NOT_PINNED for line in extras[extra])]
    for requirement in map(Requirement, asked):
        version = pins.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(version), f"{requirement} is pinned to {version}"


def test_pins_with_hashes_are_those_without_and_all_that_kokoro_needs() -> None:
    """Else: `make hashes`."""
    pins = pinned(re.findall(r"^[\w.-]+==[\w.+!-]+", HASHES, re.MULTILINE))
    assert not pins.items() - pinned(LINES).items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["model"]])
    assert not {canonicalize_name(requirement.name) for requirement in asked} - pins.keys()


def test_every_line_with_hashes_is_a_pin_or_a_hash_and_names_no_host() -> None:
    pin, digest = r"[\w.-]+==[\w.+!-]+( ; [\w =!'\"]+)?", r"    --hash=sha256:[0-9a-f]{64}"
    text = "".join(line for line in HASHES.splitlines(keepends=True) if not line.startswith("#"))
    assert re.fullmatch(rf"({pin}( \\\n{digest})+\n)+", text)
