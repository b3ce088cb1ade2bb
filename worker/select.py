"""Engine selection: Kokoro if an intact model is there or in packages, else espeak-ng with a warning."""

from __future__ import annotations

import logging
from collections.abc import Callable

from worker.engine import Engine, EngineUnavailable, ProviderUnavailable
from worker.models.choice import kokoro_files
from worker.providers.options import BadOption
from worker.settings import WorkerSettings

log = logging.getLogger(__name__)


def import_engines(settings: WorkerSettings) -> None:
    """Import the modules that `choose` will probably need, so that a standby doesn't spend time on it later."""
    if settings.engine != "espeak":
        import worker.kokoro
    import worker.espeak.espeak_engine  # noqa: F401


def choose(
    settings: WorkerSettings, without: tuple[str, ...] = (), loading: Callable[[str], object] = lambda _: None
) -> Engine:
    """Make the engine that the settings demand, on the first execution provider of the chain that isn't in `without`.

    The engine `auto` falls back on espeak-ng, with a warning, unless the settings name a model: a user who names a
    model wants to hear that one.

    Args:
        settings: the settings.
        without: execution providers that have failed here.
        loading: called with each provider's name before the provider has a chance to hang.

    Raises:
        EngineUnavailable: the engine can't speak. The message names the file and tells the user how to fix it.
        BadOption: `provider_options` aren't the provider's; espeak-ng would be no remedy for that.
        ProviderUnavailable: the execution provider doesn't work; the next one may.
    """
    if settings.engine == "espeak":
        return _espeak()
    try:
        return _kokoro(settings, without, loading)
    except (ProviderUnavailable, BadOption):
        raise
    except EngineUnavailable as error:
        if settings.engine == "kokoro" or settings.model is not None:
            raise
        log.warning(
            "SPEAKING WITH ESPEAK-NG INSTEAD OF KOKORO: %s. `kokoro-live models fetch` gets Kokoro's files; "
            "--engine espeak asks for espeak-ng without this warning",
            error,
        )
        return _espeak(stands_in=True)


def _espeak(stands_in: bool = False) -> Engine:
    from worker.espeak.espeak_engine import EspeakEngine

    return EspeakEngine(stands_in)


def _kokoro(settings: WorkerSettings, without: tuple[str, ...], loading: Callable[[str], object]) -> Engine:
    model, voices = kokoro_files(settings)
    # onnxruntime costs time and memory (`python -m benchmarks.late_loading`), and espeak-ng doesn't need it.
    from worker.acceleration.decision import decide_providers, first
    from worker.kokoro import KokoroEngine

    loading(first(settings, without))  # the provider's driver may be asked about options
    loading(decide_providers(model, settings, without).choice.assignment.provider)
    return KokoroEngine(model, voices, settings, without)
