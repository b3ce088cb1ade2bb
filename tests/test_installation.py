"""The commands that kokoro-live gives for the installation in which it runs, imitated for each kind of installation."""

import json
import re
import shlex
import shutil
import subprocess
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

from kokoro_live.installation import MARKER, Installation, Kind, this_installation

ROOT = Path(__file__).parents[1]
REAL = distribution("kokoro-live")
DIST_INFO = "kokoro_live-0.1.0.dist-info"
EXTRAS = sorted(set(REAL.metadata.get_all("Provides-Extra") or ()) - {"dev"})
ASKS_AN_INDEX = re.compile(
    r"""\b(?:pip[x3]?|uv\ tool|uv\ pip|uvx|brew)\s+(?:install|inject|run|add|upgrade)\b
    (?:\s+-{1,2}[\w-]+(?:[=\s][^\s'"`]+)?)*?\s+['"]?kokoro[-_]live(?=\[|['"`\s]|==|>=|$)""",
    re.VERBOSE,
)
"""A command that takes the name from a package index; a path and an archive have more before or after it."""


def imitated(folder: Path, kind: Kind) -> Installation:
    """An environment as the installer of that kind leaves it, with the metadata that this project really has."""
    prefix, source = folder / "environment", folder / "source"
    (source / ".git").mkdir(parents=True)
    metadata = prefix / "site" / DIST_INFO
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(REAL.read_text("METADATA") or "")
    direct: dict[str, object] = {"url": source.as_uri(), "dir_info": {"editable": kind is Kind.CLONE}}
    (metadata / "direct_url.json").write_text(json.dumps(direct))
    match kind:
        case Kind.UV_TOOL:
            (prefix / "uv-receipt.toml").write_text("[tool]\n")
        case Kind.PIPX:
            (prefix / "pipx_metadata.json").write_text("{}")
        case Kind.CONTAINER | Kind.DEBIAN | Kind.HOME_ASSISTANT | Kind.HOMEBREW:
            (prefix / MARKER).write_text(f"{kind}\n")
    return Installation.of(prefix, Distribution.at(metadata))


TAKES = {
    Kind.CLONE: "{prefix}/bin/python -m pip install -c {source}/constraints.txt 'mcp>=2.3'",
    Kind.ENVIRONMENT: "{prefix}/bin/python -m pip install 'mcp>=2.3'",
    Kind.UV_TOOL: "uv tool install '{source}[",
    Kind.PIPX: "pipx inject kokoro-live 'mcp>=2.3'",
    Kind.CONTAINER: "docker build -f deploy/Dockerfile -t kokoro-live --build-arg EXTRAS=model,mcp .",
    Kind.DEBIAN: "sudo {prefix}/bin/python -m pip install 'mcp>=2.3'",
    Kind.HOME_ASSISTANT: "the Home Assistant app takes no packages",
    Kind.HOMEBREW: "{prefix}/bin/python -m pip install 'mcp>=2.3'",
}


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_is_known_by_what_its_installer_leaves(tmp_path: Path, kind: Kind) -> None:
    here = imitated(tmp_path, kind)
    assert here.kind is kind
    assert here.add("mcp").startswith(TAKES[kind].format(prefix=here.prefix, source=here.source))
    assert ("git" in here.update()) is (kind in {Kind.CLONE, Kind.ENVIRONMENT, Kind.UV_TOOL, Kind.PIPX, Kind.CONTAINER})


@pytest.mark.parametrize(
    ("kind", "source"), [*((kind, "folder") for kind in Kind), (Kind.PIPX, "archive"), (Kind.ENVIRONMENT, "gone")]
)
def test_no_command_asks_an_index_for_kokoro_live(tmp_path: Path, kind: Kind, source: str) -> None:
    here = imitated(tmp_path, kind)
    if source != "folder":
        (tmp_path / "source" / ".git").rmdir()
        (tmp_path / "source").rmdir()
    if source == "archive":
        (tmp_path / "source").write_bytes(b"a wheel")
    found = Installation.of(here.prefix, Distribution.at(here.prefix / "site" / DIST_INFO))
    assert (found.source is None) is (source == "gone")
    commands = [found.update(), found.uninstall(), *map(found.add, EXTRAS)]
    assert all(command and "None" not in command for command in commands)
    own = {Kind.PIPX: "pipx inject kokoro-live ", Kind.HOMEBREW: "brew upgrade kokoro-live"}
    for command in commands:
        assert not ASKS_AN_INDEX.search(command.replace(own.get(kind, "\0"), "")), command


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extras_command_names_each_of_its_packages(tmp_path: Path, extra: str) -> None:
    """Every line of the metadata that has the extra's marker, as pip would take it on this machine."""
    lines = [line for line in REAL.requires or () if f"extra == '{extra}'" in line.replace('"', "'")]
    names = {re.split(r"[\s\[<>=;]", line)[0] for line in lines}
    command = shlex.split(imitated(tmp_path, Kind.ENVIRONMENT).add(extra))
    assert names and {re.split(r"[\[<>=]", word)[0] for word in command[4:]} == names


def test_the_installation_that_runs_this_is_known() -> None:
    here = this_installation()
    assert here.kind is Kind.CLONE and here.source == ROOT
    assert here.has("mcp")


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("pip install 'kokoro-live[play]'", True),
        ("Run `pip install kokoro-live`.", True),
        ("uv tool install --python 3.12 kokoro-live", True),
        ("pipx install kokoro_live==0.1.0", True),
        ("pip install 'kokoro_live-0.1.0-py3-none-any.whl[model]'", False),
        ("pip install '/srv/kokoro-live[mcp]'", False),
        ("apt install ./kokoro-live_0.1.0_amd64.deb", False),
    ],
)
def test_the_scan_tells_an_index_from_a_path(line: str, asks: bool) -> None:
    assert bool(ASKS_AN_INDEX.search(line)) is asks


@pytest.mark.skipif(not (shutil.which("git") and (ROOT / ".git").exists()), reason="git lists the files of a clone")
def test_no_message_or_document_sends_anybody_to_an_index_for_kokoro_live() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    own = {"kokoro_live/installation.py", "tests/test_installation.py"}
    wrong = []
    for name in set(listed.stdout.split("\0")) - own - {""}:
        try:
            text = (ROOT / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        wrong += [f"{name}: {found[0]}" for found in ASKS_AN_INDEX.finditer(text)]
    assert not wrong
