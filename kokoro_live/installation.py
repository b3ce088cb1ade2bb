"""The kind of this installation, and the commands that add to it, update it and remove it.

The name kokoro-live is not the project's own on the public package index, so no command here asks an index for it.
Imported by `frontend`, `shm`, `worker`, `supervisor` and `benchmarks`.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shlex
import sys
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement

NAME = "kokoro-live"
MARKER = "installed-as"
"""A file in the environment's folder with the name of its kind, which `deploy/`'s packages write."""


class Kind(StrEnum):
    """Ways to install kokoro-live."""

    CLONE = "clone"
    ENVIRONMENT = "environment"
    UV_TOOL = "uv tool"
    PIPX = "pipx"
    CONTAINER = "container"
    DEBIAN = "Debian package"
    HOME_ASSISTANT = "Home Assistant app"
    HOMEBREW = "Homebrew formula"


_RECEIPTS = {"uv-receipt.toml": Kind.UV_TOOL, "pipx_metadata.json": Kind.PIPX}
"""Files that tools leave in an environment that they made."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation. Commands are lines for a shell."""

    kind: Kind
    prefix: Path
    """The environment's folder."""
    source: Path | None
    """The folder or archive that was installed; for a clone its root. None if it is unknown, or no longer there."""
    needs: tuple[str, ...] = ()
    """Requirements as the installed metadata has them."""
    extras: tuple[str, ...] = ()

    @classmethod
    def of(cls, prefix: Path, found: Distribution) -> Installation:
        """The installation of a distribution in an environment."""
        direct = json.loads(found.read_text("direct_url.json") or "{}")
        path = Path(unquote(urlsplit(direct.get("url", "")).path))
        source = path if path.is_absolute() and path.exists() else None
        return cls(
            _kind(prefix, editable=bool(direct.get("dir_info", {}).get("editable"))),
            prefix,
            source,
            tuple(found.requires or ()),
            tuple(found.metadata.get_all("Provides-Extra") or ()),
        )

    def add(self, extra: str) -> str:
        """The command that installs the packages of an extra."""
        match self.kind:
            case Kind.UV_TOOL if self.source:
                # uv forgets packages that it was not given with the tool.
                return f"uv tool install {shlex.quote(self._wanted(extra))}"
            case Kind.CONTAINER:
                return f"{_IMAGE} --build-arg EXTRAS=model,{extra} .   (in the folder of the clone)"
            case Kind.HOME_ASSISTANT:
                return "the Home Assistant app takes no packages: run kokoro-live elsewhere, as another kind"
        return self.install(*self.packages(extra))

    def packages(self, extra: str) -> tuple[str, ...]:
        """Requirements that an extra adds on this machine."""
        added = []
        for each in map(Requirement, self.needs):
            marker, each.marker = each.marker, None
            if marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}):
                added.append(str(each))
        return tuple(added)

    def install(self, *requirements: str, again: bool = False) -> str:
        """The command that installs packages into this installation; `again` replaces files of theirs alone."""
        if self.kind is Kind.PIPX and not again:
            return shlex.join(["pipx", "inject", NAME, *requirements])
        options = (["--reinstall"] if self.kind is Kind.UV_TOOL else ["--force-reinstall"]) if again else []
        if again:
            options.append("--no-deps")
        elif self.kind is Kind.CLONE and self.source:
            options += ["-c", str(self.source / "constraints.txt")]
        return shlex.join([*self._pip("install"), *options, *requirements])

    def remove(self, package: str) -> str:
        """The command that removes a package from this installation."""
        return shlex.join([*self._pip("uninstall"), *([] if self.kind is Kind.UV_TOOL else ["-y"]), package])

    def update(self) -> str:
        """The command that brings a newer version, or the steps to it."""
        folder = shlex.quote(str(self.source)) if self.source else "the folder of the clone"
        match self.kind:
            case Kind.CLONE:
                return f"cd {folder} && git pull && make run   (without git: unpack the new source archive there)"
            case Kind.CONTAINER:
                return f"git pull && {_IMAGE} .   (in the folder of the clone), and start a container of the new image"
            case Kind.DEBIAN:
                return f"sudo apt install ./{NAME}_VERSION_ARCHITECTURE.deb   (the new version's file)"
            case Kind.HOME_ASSISTANT:
                return "Home Assistant: Settings → Apps → kokoro-live → Update"
            case Kind.HOMEBREW:
                return f"brew upgrade {NAME}"
        is_folder = self.source is not None and self.source.is_dir()
        pull = f"git -C {folder} pull && " if self.source and (self.source / ".git").exists() else ""
        wanted = shlex.quote(self._wanted() if is_folder else f"kokoro_live-VERSION-py3-none-any.whl{self._extras()}")
        words = {Kind.UV_TOOL: "uv tool install --reinstall", Kind.PIPX: "pipx install --force"}
        command = f"{words.get(self.kind) or shlex.join(self._pip('install'))} {wanted}"
        return f"{pull}{command}" if is_folder else f"{command}   (the new version's file)"

    def uninstall(self) -> str:
        """The command that removes the program itself."""
        match self.kind:
            case Kind.CLONE:
                return f"rm -r {shlex.quote(str(self.source or self.prefix))}"
            case Kind.UV_TOOL:
                return f"uv tool uninstall {NAME}"
            case Kind.PIPX:
                return f"pipx uninstall {NAME}"
            case Kind.CONTAINER:
                return "docker rm the container, docker rmi the image, docker volume rm its volumes"
            case Kind.DEBIAN:
                return f"sudo apt purge {NAME}"
            case Kind.HOME_ASSISTANT:
                return "Home Assistant: Settings → Apps → kokoro-live → Uninstall"
            case Kind.HOMEBREW:
                return f"brew uninstall {NAME}"
        return self.remove(NAME)

    def _pip(self, word: str) -> list[str]:
        """The command line for pip, or for uv in its place, with the environment."""
        python = str(self.prefix / "bin" / "python")
        match self.kind:
            case Kind.UV_TOOL:
                return ["uv", "pip", word, "--python", python]
            case Kind.PIPX:
                return ["pipx", "runpip", NAME, word]
            case Kind.DEBIAN:
                return ["sudo", python, "-m", "pip", word]
        return [python, "-m", "pip", word]

    def _wanted(self, *more: str) -> str:
        """The source with the extras that are installed, and more."""
        return f"{self.source}{self._extras(*more)}"

    def _extras(self, *more: str) -> str:
        present = [extra for extra in self.extras if self.has(extra)]
        return f"[{','.join(dict.fromkeys([*present, *more]))}]" if present or more else ""

    def has(self, extra: str) -> bool:
        """True if all packages of an extra are installed."""
        packages = self.packages(extra)
        return bool(packages) and all(map(_is_installed, packages))


_IMAGE = "docker build -f deploy/Dockerfile -t kokoro-live"


def this_installation() -> Installation:
    """The installation that runs this."""
    return Installation.of(Path(sys.prefix), distribution(NAME))


def _kind(prefix: Path, *, editable: bool) -> Kind:
    try:
        return Kind((prefix / MARKER).read_text().strip())
    except FileNotFoundError:
        pass
    if editable:
        return Kind.CLONE
    return next((kind for file, kind in _RECEIPTS.items() if (prefix / file).exists()), Kind.ENVIRONMENT)


def _is_installed(requirement: str) -> bool:
    try:
        return bool(version(Requirement(requirement).name))
    except PackageNotFoundError:
        return False


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file as the wheel that brought it has it in its list, RECORD."""

    length: int
    """In bytes."""
    sha256: str
    """In base64 without padding, as RECORD has it."""

    def matches(self, file: Path) -> bool:
        return length(file) == self.length and _sha256(file) == self.sha256


def recorded(found: Distribution) -> dict[Path, Recorded]:
    """The files of an installed distribution with a length and a hash in RECORD; empty if there is no such list."""
    # Not `found.files`: from Python 3.12 on it leaves out the files that are missing.
    rows = csv.reader((found.read_text("RECORD") or "").splitlines())
    root = Path(str(found.locate_file("")))
    return {root / name: Recorded(int(size), digest.removeprefix("sha256=")) for name, digest, size in rows if size}


def length(file: Path) -> int:
    """Length of a file that this user can read; -1 for any other."""
    return file.stat().st_size if file.is_file() and os.access(file, os.R_OK) else -1


def _sha256(file: Path) -> str:
    return urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()


_PRODUCT = ("books", "client", "frontend", "kokoro_live", "player", "shm", "supervisor", "text", "worker")


def changed_since(moment: float) -> bool:
    """True if a file of the installed program was written, or put in its place, after `moment` (seconds since 1970)."""
    home = Path(__file__).parent
    root = home if (home / "supervisor").is_dir() else home.parent
    return any(file.stat().st_ctime > moment for folder in _PRODUCT for file in (root / folder).rglob("*.py"))
