"""Which engine speaks: Kokoro if a sound model is there or in packages, else espeak-ng, and never in silence."""

from __future__ import annotations

import logging
from collections.abc import Callable

from worker.engine import Engine, EngineUnavailable, ProviderUnavailable
from worker.model_choice import kokoro_files
from worker.providers.options import BadOption
from worker.settings import WorkerSettings

log = logging.getLogger(__name__)


def import_engines(settings: WorkerSettings) -> None:
    """Import what `choose` will probably need, so that a standby has it behind it."""
    if settings.engine != "espeak":
        import worker.kokoro
    import worker.espeak  # noqa: F401


def choose(
    settings: WorkerSettings, without: tuple[str, ...] = (), loading: Callable[[str], object] = lambda _: None
) -> Engine:
    """Make the engine that the settings ask for, on the first execution provider of the chain that isn't in `without`.

    `auto` falls back on espeak-ng, with a warning, unless a model was named: who names one wants to hear that one.

    Args:
        settings: what is asked for.
        without: what was found not to work.
        loading: told of each provider before it has a chance to hang.

    Raises:
        EngineUnavailable: what was asked for can't speak. The message names the file and the cure.
        BadOption: `provider_options` aren't the provider's; espeak-ng is no answer to that.
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
    from worker.espeak import EspeakEngine

    return EspeakEngine(stands_in)


def _kokoro(settings: WorkerSettings, without: tuple[str, ...], loading: Callable[[str], object]) -> Engine:
    model, voices = kokoro_files(settings)
    # onnxruntime costs 0.2 s and 60 MB, which espeak-ng doesn't need.
    from worker.acceleration.placing import first, place
    from worker.kokoro import KokoroEngine

    loading(first(settings, without))  # its driver may be asked about options
    loading(place(model, settings, without).choice.assignment.provider)
    return KokoroEngine(model, voices, settings, without)
