"""Programs that people play and convert speech with: run where they are installed, missed loudly where not."""

import shutil
import subprocess

import pytest


def needs(*programs: str) -> pytest.MarkDecorator:
    """Marks for tests that run the programs. `.ci/run` installs them."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"NOT TESTED, BECAUSE NOT INSTALLED: {', '.join(missing)}")


def run(command: list[str], data: bytes = b"", **environment: str) -> bytes:
    """Its output; it must end well."""
    done = subprocess.run(command, input=data, capture_output=True, timeout=60, env=environment or None)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def pipe(line: str, **environment: str) -> bytes:
    """The output of a line of shell, in which every command must end well."""
    return run(["bash", "-o", "pipefail", "-c", line], **environment)
