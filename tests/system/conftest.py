"""Servers that several files share: started once in each process of pytest's that has tests of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.residue import shared_memory
from tests.file_server import FileServer, file_server
from tests.miniature import make_miniature, make_voices
from tests.system.changed_engine import poisoned_by
from tests.system.changed_front import changed_front
from tests.system.oracle import miniature_arguments
from tests.system.published_model import publish
from tests.system.server import Server
from tests.system.shared import SharedServer, shared

NO_SOUND_CARD = {"PULSE_SERVER": "unix:/nonexistent", "ALSA_CONFIG_PATH": "/dev/null"}
WORKER_NICE = 4
"""Niceness of the plain server's worker, above this process's own."""


@pytest.fixture(scope="session")
def common_cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with a cache folder in which the common and the plain server meet."""
    return {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


class CommonServer(SharedServer):
    """A server with a miniature model, whose fronts die of `changed_front.POISONS`."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.config = folder / "config.toml"
        self.config.write_text("max_input_characters = 60000\nconcurrency = 1\n")
        self.lexicon = folder / "words.tsv"
        self.lexicon.write_text("# nothing yet\n")
        self.hold = folder / "hold"
        """A file that holds back the loading of languages (`changed_front`)."""
        self.names_before = shared_memory()
        """Names in /dev/shm before the server's first start."""
        super().__init__(
            *miniature_arguments(folder),
            *("--config", str(self.config), "--lexicon", str(self.lexicon)),
            *("--wyoming-port", "0", "--max-connections", "200", "--drain-timeout", "50"),
            environment=environment | changed_front(folder, self.hold),
        )


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory, common_cache: dict[str, str]) -> Iterator[CommonServer]:
    house = CommonServer(tmp_path_factory.mktemp("common"), common_cache)
    yield house
    house.close()


@pytest.fixture(scope="session")
def unreachable_models() -> Iterator[FileServer]:
    """A server of files that the plain server could fetch a model from, and mustn't."""
    with file_server() as files:
        yield files


@pytest.fixture(scope="session")
def plain(
    tmp_path_factory: pytest.TempPathFactory, common_cache: dict[str, str], unreachable_models: FileServer
) -> Iterator[SharedServer]:
    """A server that speaks with espeak-ng, for want of a model: offline, without a sound card and a Wyoming port.

    Its worker has one processor, and a niceness of its own.
    """
    folder = tmp_path_factory.mktemp("plain")
    manifest = publish(unreachable_models, folder / "published")
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + WORKER_NICE)
    with shared(
        *("--offline", "--manifest", str(manifest), "--model-dir", str(folder / "models")),
        *("--wyoming-host", "127.0.0.1"),
        *("--worker-nice", str(nice)),
        *(("--worker-cpus", str(max(os.sched_getaffinity(0)))) if hasattr(os, "sched_getaffinity") else ()),
        environment=common_cache | NO_SOUND_CARD | {"PATH": str(folder)},
    ) as kept:
        yield kept


@pytest.fixture
def miniature(common: CommonServer) -> Server:
    """A server that speaks with a miniature model, and has nothing else to do."""
    return common.calm()


@pytest.fixture
def espeak(plain: SharedServer) -> Server:
    """A server that speaks with espeak-ng, and has nothing else to do."""
    return plain.calm()


POISON = "Swallow this and perish."
"""The text at which the impatient server's workers are killed."""


@pytest.fixture(scope="session")
def impatient_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = tmp_path_factory.mktemp("impatient") / "config.toml"
    config.write_text("concurrency = 1\n")
    return config


@pytest.fixture(scope="session")
def impatient_house(impatient_config: Path) -> Iterator[SharedServer]:
    """A server that soon takes a worker to hang, and soon cuts what it drains; its workers are killed by `POISON`."""
    folder = impatient_config.parent
    settings = ("--hang-patience", "0.5", "--drain-timeout", "0.5", "--config", str(impatient_config))
    with shared(*miniature_arguments(folder), *settings, environment=poisoned_by(folder, POISON)) as kept:
        yield kept


@pytest.fixture(scope="session")
def wanting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A server that lacks its provider and a usable folder for metrics. Its voices have samples of their own."""
    folder = tmp_path_factory.mktemp("wanting")
    model, voices = make_miniature(folder / "miniature.onnx", style=True), make_voices(folder / "voices.bin")
    (folder / "file").write_bytes(b"")
    with shared(
        *("--engine", "kokoro", "--model", str(model), "--voices", str(voices), "--provider", "cuda"),
        *("--no-adapt-plans", "--cache-bytes", "0", "--metrics-dir", str(folder / "file" / "below")),
    ) as kept:
        yield kept


@pytest.fixture(scope="session")
def laborious(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A server with one inference thread, and a model that takes its time for every token."""
    folder = tmp_path_factory.mktemp("laborious")
    with shared(*miniature_arguments(folder, cost=30), "--concurrency", "1", "--drain-timeout", "50") as kept:
        yield kept
