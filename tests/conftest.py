"""Settings for all tests: property tests try the same examples in every run, without a time limit for a single one.

`HYPOTHESIS_PROFILE=search make test` has them search new examples, `full` tries five times as many, as .ci/run does.
"""

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
    """Tests that end a shared server come last in their folder."""
    items.sort(key=lambda item: (str(item.path.parent), item.get_closest_marker("ends_server") is not None))


@pytest.fixture(scope="session", autouse=True)
def usual_niceness() -> Iterator[None]:
    """Commands that run in this process would slow all tests after them: a process of `make test` ended at 19."""
    before = os.nice(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "nice", lambda _: before)
        yield
    assert os.nice(0) == before


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests stay to the end: no garbage collection goes through them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
