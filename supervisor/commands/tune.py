"""`kokoro-live tune`: find out by trials which settings suit this machine, and keep that for `serve`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from supervisor.commands.client_command import ClientCommand
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options
from supervisor.tuning.candidates import Groups, groups
from supervisor.tuning.case import given, key_of
from supervisor.tuning.chosen import Chosen
from supervisor.tuning.profile_file import DEFAULT_LIFETIME, LIFETIMES, ProfileFolder, TuningProfile, Unusable, days
from supervisor.tuning.runner import Runner, SubprocessRunner
from worker.checksum_cache import cached_sha256_of
from worker.machine import cores
from worker.model_search import find_model
from worker.processors import processors
from worker.settings import WorkerSettings

if TYPE_CHECKING:
    from shm.engine_info import EngineInfo
    from supervisor.tuning.search import Found
    from supervisor.tuning.several_workers import Place

TRIAL_SECONDS = 300.0
"""After which a trial counts as failed; where providers compile, `--compile-timeout` more."""


class _Tune(ClientCommand):
    reads = ClientCommand.reads | {"min_first_tokens", "manifest", "workers"}


@click.command(cls=_Tune)
@settings_options(*KINDS)
@click.option(
    "--ttl",
    type=click.Choice(list(LIFETIMES)),
    default=DEFAULT_LIFETIME,
    show_default=True,
    help="How long the result is used.",
)
@click.option(
    "--max-distance",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="DB",
    help="How far another model file may sound from the original (log-mel distance, as `quantize` measured it). "
    "0: no other file is tried.",
)
@click.option(
    "--max-memory",
    type=click.FloatRange(min=0.1),
    default=1.5,
    show_default=True,
    metavar="RATIO",
    help="How much of the memory that it takes now it may take.",
)
@click.option(
    "--shortest-first",
    type=click.IntRange(min=10),
    metavar="N",
    help="Try first segments as short as N phonemes, though they may sound wrong.  [default: --min-first-tokens]",
)
@click.option(
    "--trials",
    "knob_trials",
    type=click.IntRange(min=0),
    default=150,
    show_default=True,
    metavar="N",
    help="Simulated ones of the planner's knobs, with optuna; 0: leave them as they are.",
)
@click.option("--quick", is_flag=True, help="One or two minutes: one short text, few repeats, one worker.")
@click.option("--again", is_flag=True, help="Search even if the last result is fresh.")
@click.option("--show", "shows", is_flag=True, help="Show what was found, and search nothing.")
@click.option("--clear", "clears", is_flag=True, help="Forget all that was found, and search nothing.")
@click.option("--json", "as_json", is_flag=True, help="The result for programs.")
@click.pass_context
def tune(
    context: click.Context,
    /,
    ttl: str,
    max_distance: float,
    max_memory: float,
    shortest_first: int | None,
    knob_trials: int,
    quick: bool,
    again: bool,
    shows: bool,
    clears: bool,
    as_json: bool,
    **_: Any,
) -> None:
    """Find out by trials which settings suit this machine; `serve` then takes them.

    Takes the engine's options of `serve`: what is given is left as it is. Each trial is a process of its own. Nothing
    is changed unless it is 5 % better on texts that it wasn't chosen by. At last, real servers with one worker and with
    two are asked in turn.
    """
    try:
        settings = Settings.of(context.params)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    folder = ProfileFolder(settings.worker.cache_dir)
    if clears:
        try:
            click.echo(f"{folder.clear()} tuning profiles removed")
        except OSError as error:
            raise click.ClickException(f"not all of {folder.path} can be removed: {error.strerror}") from error
        return
    fixed = given(context)
    try:
        key = key_of(settings, fixed)
    except Unusable as error:
        raise click.UsageError(f"There is nothing to tune: {error}.") from error
    if settings.supervisor.workers > 1:
        raise click.UsageError(
            f"Tuning begins with one worker, and --workers asks for {settings.supervisor.workers}: leave it open."
        )
    if shows:
        try:
            _show(folder.read(key), as_json)
        except Unusable as error:
            raise click.ClickException(f"{error}") from error
        return
    shortest = shortest_first or settings.front.min_first_tokens
    bounds = {"max_distance": max_distance, "max_memory": max_memory, "shortest_first": shortest}
    if "workers" in fixed:
        bounds["workers"] = 1
    thorough = dict(bounds)
    if quick:
        bounds["quick"] = 1
    if not again:
        try:
            fresh = folder.fresh(key, time.time())
        except Unusable:
            fresh = None
        if fresh and fresh.bounds in (bounds, thorough):
            _show(fresh, as_json)
            age = days(fresh.age(time.time()))
            click.echo(f"That is {age} old, so nothing was tried; --again searches anew.", err=True)
            return
    if max_distance and "model" in fixed:
        raise click.UsageError("--max-distance is about other files than the one that --model names: give one of them.")
    _warn_of_server(context)
    try:
        with folder.searching():
            found = _search(settings, fixed, quick, max_distance, max_memory, shortest, knob_trials)
    except Unusable as error:
        raise click.ClickException(f"{error}") from error
    chosen = Chosen.of(found.chosen)
    profile = TuningProfile(
        key=key,
        created=time.time(),
        lifetime=LIFETIMES[ttl],
        chosen=chosen,
        model_sha256=cached_sha256_of(Path(chosen.model)) if chosen.model else key.model_sha256,
        costs=found.costs,
        verdict=found.verdict,
        holdout_gain=found.holdout_gain,
        trials=found.trials,
        attempts=found.attempts,
        bounds=bounds,
    )
    try:
        folder.write(profile)
    except OSError as error:
        raise click.ClickException(f"the result can't be kept in {folder.path}: {error.strerror}") from error
    _show(profile, as_json)


def runner(settings: WorkerSettings) -> Runner:
    """What makes the trials."""
    return SubprocessRunner(_timeout(settings))


def _timeout(settings: WorkerSettings) -> float:
    from worker.providers.records import CPU

    compiles = settings.provider != "cpu" and any(provider != CPU for provider in _providers())
    return TRIAL_SECONDS + settings.compile_timeout * compiles


def servers(settings: Settings) -> Place:
    """What makes servers to be measured, and where."""
    import psutil

    from supervisor.tuning.several_workers import Place
    from supervisor.tuning.speaking_servers import SpeakingServers

    worker = replace(settings.worker, engine="kokoro")
    cores = _cores(worker)
    start = SpeakingServers(worker, settings.front.min_first_tokens, cores, _timeout(worker))
    return Place(start, cores, lambda: psutil.virtual_memory().available)


def _search(
    settings: Settings,
    fixed: Mapping[str, Any],
    quick: bool,
    max_distance: float,
    max_memory: float,
    shortest: int,
    knob_trials: int,
) -> Found:
    """
    Raises:
        click.ClickException: the settings as they are don't work, or a model file can't be read.
    """
    from supervisor.commands.tune_display import display
    from supervisor.tuning import knobs
    from supervisor.tuning.effort import QUICK, THOROUGH
    from supervisor.tuning.search import CannotTune, Search

    if knob_trials and not knobs.available():
        click.echo(f"The planner's knobs are left as they are: that search needs optuna ({knobs.INSTALL}).", err=True)
        knob_trials = 0
    effort = QUICK if quick else THOROUGH
    place = None if "workers" in fixed else servers(settings)
    worker = replace(settings.worker, engine="kokoro")
    try:
        models = _other_models(worker, max_distance)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"the model can't be read: {error}") from error

    def groups_for(engine: EngineInfo) -> Groups:
        from worker.providers.records import NAMES

        others = [name for name, long in NAMES.items() if long in _providers() and long != engine.provider]
        found = groups(cores=_cores(worker), models=models, providers=others, fixed=fixed, defaults=asdict(worker))
        return {name: alternatives for name, alternatives in found.items() if name not in effort.leaves_out}

    with display() as tell:
        search = Search(
            runner(worker),
            worker,
            settings.front.min_first_tokens,
            effort,
            max_memory=max_memory,
            shortest=shortest,
            fixed=fixed,
            knob_trials=knob_trials,
            place=place,
            tell=tell,
        )
        try:
            return search.search(groups_for)
        except CannotTune as error:
            raise click.ClickException(str(error)) from error


def _other_models(settings: WorkerSettings, max_distance: float) -> list[Path]:
    """Variants of the model that may speak in its place.

    Raises:
        OSError, ValueError: the model can't be read.
    """
    if not max_distance:
        return []
    from worker.quantization.variants import find_variants, within

    model = settings.model or find_model(settings.model_dir)
    return [variant.path for variant in within(find_variants(model), max_distance) if variant.path != model]


def _cores(settings: WorkerSettings) -> int:
    """That a worker has."""
    return len(processors(settings.worker_cpus)) if settings.worker_cpus else cores()


def _providers() -> list[str]:
    import onnxruntime

    available: list[str] = onnxruntime.get_available_providers()
    return available


def _warn_of_server(context: click.Context) -> None:
    from supervisor.client.server_client import address, is_kokoro_live

    url = address(context.params["host"], context.params["port"])
    if is_kokoro_live(url):
        click.echo(f"A server runs on {url}: what it speaks meanwhile disturbs the measurements.", err=True)


def _show(profile: TuningProfile, as_json: bool) -> None:
    if as_json:
        told = {**msgspec.to_builtins(profile), "expired": profile.expired(time.time())}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
        return
    from supervisor.commands.tune_display import show

    show(profile)
