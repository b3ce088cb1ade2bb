"""The engines, one row each, and the choice of the one that speaks.

An engine is its file, in `worker.engines` or in another package, and a row. The supervisor reads rows, and has no
numpy: an engine's code is imported where it is loaded.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from shm.engine_info import VoiceInfo
from worker.engine import BadOption, Engine, EngineUnavailable, ProviderUnavailable
from worker.settings import WorkerSettings
from worker.voices.kokoro_voices import KOKORO_VOICES

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineRow:
    option: str
    """Value of `--engine` that asks for it."""
    title: str
    """The name for people."""
    loader: str
    """Function that loads the engine, as `module:name`. Its arguments are those of `choose`."""
    voices: tuple[VoiceInfo, ...]
    """The voices that are known before the engine is loaded."""
    rank: int = 1
    """Order of preference between engines that speak at once, highest first."""
    has_model: bool = False
    """True if onnxruntime runs its model: files to fetch, execution providers, shares of cores to tune."""
    remedy: str = "see its documentation"
    """A command or a few words for the user of an engine that can't be loaded."""


ENGINES = (
    EngineRow(
        option="kokoro",
        title="Kokoro",
        loader="worker.engines.kokoro:load",
        voices=KOKORO_VOICES,
        has_model=True,
        remedy="kokoro-live models fetch",
    ),
    EngineRow(
        option="espeak",
        title="espeak-ng",
        loader="worker.engines.espeak:load",
        voices=KOKORO_VOICES,
        rank=0,
        remedy="mend espeak-ng (see its line)",
    ),
)
"""This project's engines, the best first. `--engine auto` takes the first that can speak."""


class UnknownEngine(EngineUnavailable, ValueError):
    """There is no engine of that name."""


def asked_rows(settings: WorkerSettings) -> tuple[EngineRow, ...]:
    """The engines that may speak, in the order in which they are tried.

    Raises:
        UnknownEngine: `settings.engine` names none.
    """
    if settings.engine == "auto":
        # A user who names a model wants to hear that one.
        return tuple(row for row in ENGINES if row.has_model or settings.model is None)
    if ":" in settings.engine:
        try:
            row = pkgutil.resolve_name(settings.engine)
        except (ImportError, AttributeError, ValueError) as error:
            raise UnknownEngine(f"engine {settings.engine} can't be imported: {error}") from error
        if not isinstance(row, EngineRow):
            raise UnknownEngine(f"engine {settings.engine} is no {EngineRow.__name__}")
        return (row,)
    options = [row.option for row in ENGINES]
    if settings.engine not in options:
        raise UnknownEngine(
            f"engine must be auto, {', '.join(options)} or MODULE:ROW of another package, not {settings.engine}"
        )
    return (ENGINES[options.index(settings.engine)],)


def import_engines(settings: WorkerSettings) -> None:
    """Import the modules that `choose` will probably need, so that a standby doesn't spend time on it later."""
    for row in asked_rows(settings):
        importlib.import_module(row.loader.partition(":")[0])


def choose(
    settings: WorkerSettings, without: tuple[str, ...] = (), loading: Callable[[str], object] = lambda _: None
) -> Engine:
    """Load the engine that the settings demand, on the first execution provider of the chain that isn't in `without`.

    Where the settings leave the choice, a later engine stands in for a better one that can't be loaded, with a warning.

    Args:
        settings: the settings.
        without: execution providers that have failed here.
        loading: called with each provider's name before the provider has a chance to hang.

    Raises:
        EngineUnavailable: the engine can't speak. The message names the file and tells the user how to fix it.
        BadOption: `provider_options` aren't the provider's; another engine would be no remedy for that.
        ProviderUnavailable: the execution provider doesn't work; the next one may.
    """
    best, *others = asked_rows(settings)
    try:
        return _loaded(best, settings, without, loading)
    except (ProviderUnavailable, BadOption):
        raise
    except EngineUnavailable as error:
        if not others:
            raise
        log.warning(
            "SPEAKING WITH %s INSTEAD OF %s: %s. To hear %s: `%s`; --engine %s asks for %s without this warning",
            others[0].title.upper(),
            best.title.upper(),
            error,
            best.title,
            best.remedy,
            others[0].option,
            others[0].title,
        )
    return _loaded(others[0], settings, without, loading, stands_in=True)


def _loaded(
    row: EngineRow,
    settings: WorkerSettings,
    without: tuple[str, ...],
    loading: Callable[[str], object],
    *,
    stands_in: bool = False,
) -> Engine:
    engine: Engine = pkgutil.resolve_name(row.loader)(settings, without, loading)
    engine.info = msgspec.structs.replace(engine.info, rank=row.rank, stands_in=stands_in)
    return engine
