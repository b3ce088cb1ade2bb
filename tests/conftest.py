"""Settings for all tests: property tests try the same examples in every run, without a time limit for a single one.

`HYPOTHESIS_PROFILE=search make test` has them search new examples, `full` tries five times as many, as .ci/run does.
"""

import contextlib
import gc
import importlib
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.grouping import GroupScheduling
from tests.made_once import made_once_folder
from tests.real_model import real_model, real_stages
from tests.system.sound_card import card
from tests.worker.packages import package_site

__all__ = ["card", "made_once_folder", "package_site", "real_model", "real_stages"]

# The real model takes a second to load: commands under test have it only where a test asks for it.
os.environ.setdefault("KOKORO_LIVE_PACKAGED_MODEL", "0")
# Processes that tests start would each compile the whole project again: three of four seconds of a server's start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False  # pytest rewrites 300 modules in each of its processes otherwise
# Matrix products of tests are small: two threads take a fifth more processor time for them than one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Under nohup, or in a shell's background, these are ignored, and children inherit that; a handler isn't inherited.
for _number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)
for _profile, _examples in (("same", 40), ("full", 200)):
    settings.register_profile(
        _profile,
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

FIRST = (
    "tests/system/test_player.py",
    *("tests/system/", "tests/page/", "tests/clients/", "tests/chaos/"),
    *("tests/worker/", "tests/benchmarks/", "tests/deploy/", "tests/supervisor/"),
)
"""Beginnings of the names of tests that run first, in this order. The player's take two minutes, in which they mostly
listen; a file of the other folders takes up to a minute. Files of seconds come last, so that all processes end
together."""


def import_from(share: float) -> None:
    """Import all test modules, beginning at that share of them. An error is pytest's to report.

    In a fresh clone the processes that begin together would otherwise all compile the same modules, side by side.
    """
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    first = round(share * len(files))
    for file in files[first:] + files[:first]:
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(Path(__file__).parents[1]).with_suffix("").parts))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--darwin", action="store_true", help="take away what macOS lacks (tests/imitation)")


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Under `--darwin`, begin again with the imitation, which comes before every import, in child processes too."""
    imitation = str(Path(__file__).parent / "imitation")
    if config.getoption("--darwin") and imitation not in sys.path:
        config.pluginmanager.getplugin("capturemanager").stop_global_capturing()
        others = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = f"{imitation}{os.pathsep}{others}" if others else imitation
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *config.invocation_params.args])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> tuple[int, bool]:
        folder = next((n for n, name in enumerate(FIRST) if item.nodeid.startswith(name)), len(FIRST))
        return folder, item.get_closest_marker("ends_server") is not None

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling | None:
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Modules and tests stay to the end: no garbage collection goes through them, now or later."""
    gc.disable()
    try:
        if (mine := getattr(session.config, "workerinput", None)) and session.config.args == ["tests"]:
            import_from(int(mine["workerid"].removeprefix("gw")) / int(mine["workercount"]))
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
