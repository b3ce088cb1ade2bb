"""Make the virtual environment that `make` installs into, or say in one line why this machine can't have it.

Every Python since 2.7 can read this file, so that an old one says so and doesn't end with a syntax error.
"""

import io
import os
import platform
import re
import subprocess
import sys
import tempfile

TREE_MB = 900
"""Free space for the environment and the model, in megabytes: `make test` fills 700, `make run` 450."""
TEMPORARY_MB = 250
"""Free space for pip's downloads and its build, in megabytes."""
ASKED = "aiohttp"
"""A package that any index of ours has."""


class Unfit(Exception):
    """The machine can't run the project; the message is one line that ends with the remedy."""


def bounds(pyproject):
    """The oldest Python, and the first that is too new: (3, 11), (3, 15)."""
    with io.open(pyproject, encoding="utf-8") as file:
        found = re.search(r'requires-python = ">=(\d+)\.(\d+),<(\d+)\.(\d+)"', file.read())
    numbers = tuple(int(number) for number in found.groups())
    return numbers[:2], numbers[2:]


def check_version(version, oldest, beyond, path):
    """
    Args:
        path: folders in which another Python may be, as PATH has them.
    """
    if oldest <= version < beyond:
        return
    names = ["python3.{}".format(minor) for minor in range(beyond[1] - 1, oldest[1] - 1, -1)]
    fit = [name for name in names if any(os.access(os.path.join(folder, name), os.X_OK) for folder in path)]
    wanted = "{}.{} to {}.{}".format(oldest[0], oldest[1], beyond[0], beyond[1] - 1)
    remedy = "use one that is here" if fit else "install one, and name it"
    raise Unfit(
        "This is Python {}.{}, and kokoro-live needs {}: {}, as in `make run PYTHON={}`".format(
            version[0], version[1], wanted, remedy, (fit or names)[0]
        )
    )


def check_processor(machine, bits, library):
    """
    Args:
        library: the C library's name as `platform.libc_ver` has it, on Linux.
    """
    if bits < 64 or machine.lower() not in ("x86_64", "amd64", "aarch64", "arm64"):
        raise Unfit(
            "ONNX Runtime has no package for this Python ({}, {} bits): use a 64-bit system".format(machine, bits)
        )
    if library == "musl":
        raise Unfit("ONNX Runtime has no package for musl (Alpine): use the container, or a system with glibc")


def check_modules(version):
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        raise Unfit(
            "This Python has no venv module: `sudo apt install python{}.{}-venv` on Debian and Ubuntu".format(*version)
        )


def check_space(needs):
    """
    Args:
        needs: (folder, megabytes, remedy) for each place that is written to; needs on one disk are added up.
    """
    disks = {}
    for folder, megabytes, remedy in needs:
        if not os.access(folder, os.W_OK):
            raise Unfit("{} can't be written to: {}".format(folder, remedy))
        disk = disks.setdefault(os.stat(folder).st_dev, [folder, 0, remedy])
        disk[1] += megabytes
    for folder, megabytes, remedy in disks.values():
        state = os.statvfs(folder)
        free = state.f_bavail * state.f_frsize // 1000000
        if free < megabytes:
            raise Unfit("{} has {} MB free, and {} MB are needed: {}".format(folder, free, megabytes, remedy))


def make(folder):
    """Make the environment, unless one is there whose pip runs; its interpreter's path."""
    python = os.path.join(folder, "bin", "python")
    with open(os.devnull, "w") as nowhere:
        pip = [python, "-m", "pip", "--version"]
        if os.path.exists(python) and subprocess.call(pip, stdout=nowhere, stderr=nowhere) == 0:
            return python
    if subprocess.call([sys.executable, "-m", "venv", "--clear", folder]):
        raise Unfit("{} -m venv fails (see above): `make run PYTHON=...` takes another".format(sys.executable))
    return python


def check_index(python):
    """Have pip ask its package index for one package, without the minutes of its retries."""
    if os.environ.get("PIP_NO_INDEX"):
        return
    ask = [python, "-m", "pip", "--disable-pip-version-check", "index", "versions", "--retries", "0", "--timeout", "20"]
    pip = subprocess.Popen(ask + [ASKED], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = pip.communicate()[0].decode("utf-8", "replace").strip()
    if pip.returncode:
        why = said.splitlines()[-1] if said else "no reason"
        raise Unfit(
            "pip can't reach its package index ({}): mend the network, or name a mirror, as in "
            "`PIP_INDEX_URL=https://mirror/simple make run`".format(why)
        )


def main(folder):
    """Check what can be checked without the network first; the exit status."""
    version = sys.version_info[:2]
    try:
        check_version(version, *bounds("pyproject.toml"), path=os.environ.get("PATH", "").split(os.pathsep))
        check_processor(platform.machine(), 64 if sys.maxsize > 2**32 else 32, platform.libc_ver()[0])
        check_modules(version)
        temporary = "name a folder with more, as in `TMPDIR=$HOME/tmp make run`"
        tree = "make room there, or unpack kokoro-live on another disk"
        check_space([(os.getcwd(), TREE_MB, tree), (tempfile.gettempdir(), TEMPORARY_MB, temporary)])
        check_index(make(folder))
    except Unfit as unfit:
        sys.stderr.write("{}.\n".format(unfit))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
