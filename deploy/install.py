"""Install kokoro-live into the environment that runs this, with a line for each large download: `make run` uses it.

`python deploy/install.py '.[model]' .` installs the first requirement that can be had. pip alone is either silent for
minutes or prints some three hundred lines.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
INSTALL = [*PIP, "install", "--progress-bar", "off", "-c", "constraints.txt", "-e"]

_DOWNLOAD = re.compile(r"\s*(Downloading|Using cached) (?:\S*/)?([\w.]+)-(\d[^-]*)\S* \(([\d.]+) ([kM]B)\)")
STDERR = 2
MODEL = ".[model]"
"""The requirement that brings the model's packages."""
SHOWN_MB = 1.0
"""A smaller download is no line of its own."""


def downloads(lines: Iterable[str]) -> Iterable[tuple[str, float, bool]]:
    """Downloads in pip's output: "name version", megabytes, and true for one from its cache."""
    for line in lines:
        if (found := _DOWNLOAD.match(line)) and ".metadata" not in line:
            megabytes = float(found[4]) / (1 if found[5] == "MB" else 1000)
            yield f"{found[2]} {found[3]}", megabytes, found[1] == "Using cached"


def install(requirement: str, command: list[str]) -> int:
    """Have pip install it; its exit status. pip's standard error is passed on."""
    started = time.monotonic()
    say(f"installing {requirement} and what it needs")
    total = 0.0
    with subprocess.Popen([*command, requirement], stdout=subprocess.PIPE, text=True) as pip:
        assert pip.stdout is not None
        for name, megabytes, cached in downloads(pip.stdout):
            total += megabytes
            if megabytes >= SHOWN_MB:
                say(f"  {name}, {megabytes:.1f} MB{', cached' if cached else ''}")
    if pip.returncode == 0:
        say(f"installed {total:.0f} MB in {time.monotonic() - started:.0f} s")
    return pip.returncode


def compile_packages(root: Path) -> None:
    """Write the bytecode of the packages in `root`, which pip does only for what isn't installed as editable: without
    it the first start compiles them in each of the server's processes, and every start where the environment sets
    PYTHONDONTWRITEBYTECODE.
    """
    folders = [str(package.parent) for package in root.glob("*/__init__.py")]
    # Warnings are those of others' code, which lies in kokoro_live/bundled.
    compiling = [sys.executable, "-W", "ignore", "-m", "compileall", "-q", "-j", "0"]
    subprocess.run([*compiling, *folders], stdout=STDERR, check=False)


def prepare_model() -> None:
    """Assemble the installed model and cut it into stages, as the first start would. A failure is no failure of the
    installation: it says why, and so does the first start, which goes on with the next choice."""
    subprocess.run([sys.executable, "-m", "kokoro_live", "models", "prepare"], stdout=STDERR, check=False)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(requirements: list[str], command: list[str]) -> int:
    """Install the first requirement that can be had; the exit status."""
    for requirement, following in zip(requirements, [*requirements[1:], None], strict=True):
        if (status := install(requirement, command)) == 0:
            compile_packages(Path())
            if requirement == MODEL:
                prepare_model()
            return 0
        if following is None:
            return status
        say(f"{requirement} CAN'T BE INSTALLED (pip says why above); going on with {following}. Without the model's")
        say("packages espeak-ng speaks until the model's release is fetched.")
    raise AssertionError("name a requirement")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], INSTALL))
