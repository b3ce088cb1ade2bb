"""`kokoro-live tune`: measure how to divide the cores, and keep the result for `serve`."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import msgspec

from supervisor.commands.client_command import ClientCommand
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options
from supervisor.tuning.profile import Case, TuningProfile, Unusable, ago, profile_file, read, write
from worker.engine import EngineUnavailable
from worker.machine.machine import cores
from worker.select import asked_rows
from worker.settings import processors

if TYPE_CHECKING:
    from supervisor.tuning.comparison import ComparisonResult, Open

TIMEOUT = 300.0
"""Seconds within which an engine must load or answer; if providers compile, their time is added."""


class _Tune(ClientCommand):
    reads = ClientCommand.reads | {"manifest", "workers"}


@click.command(cls=_Tune)
@click.option("--show", "shows", is_flag=True, help="Show the kept result, and measure nothing.")
@click.option("--clear", "clears", is_flag=True, help="Remove the kept result, and measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result for programs.")
@settings_options(*KINDS)
@click.pass_context
def tune(context: click.Context, /, shows: bool, clears: bool, as_json: bool, **_: Any) -> None:
    """Measure how many inference threads and inferences side by side suit this machine.

    The engine that `serve` would load speaks a sentence, with each way to divide the cores and with the default in
    turn. A way is kept if its first audio or its speed is 5 % better and nothing is 5 % worse; `serve` then applies it.
    Takes some minutes, in which the machine should do nothing else.
    """
    try:
        settings = Settings.of(context.params)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    file = profile_file(settings)
    try:
        if clears:
            file.unlink(missing_ok=True)
            return
        if not shows:
            write(file, _measure(context, settings))
        profile = read(file)
    except FileNotFoundError:
        raise click.ClickException("there is no result; `kokoro-live tune` measures one") from None
    except Unusable as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{file} can't be changed: {error.strerror}") from error
    _show(profile, as_json)


def open_engine(timeout: float) -> Open:
    from supervisor.tuning.comparison import measured_engine

    return lambda settings: measured_engine(settings, timeout)


def _measure(context: click.Context, settings: Settings) -> TuningProfile:
    """
    Raises:
        click.ClickException: there is nothing to measure, or it can't be.
    """
    if settings.supervisor.workers > 1:
        raise click.UsageError("One worker is measured: leave --workers out.")
    if settings.worker.threads or settings.worker.concurrency:
        raise click.UsageError("--threads and --concurrency are measured: leave them out.")
    if asked_rows(settings.worker)[0].has_model:
        from worker.models.choice import chosen_model

        # Before the first start the model may still be in its packages; Case.of says if it is missing.
        with contextlib.suppress(EngineUnavailable):
            chosen_model(settings.worker)
    try:
        case = Case.of(settings)
    except Unusable as error:
        raise click.UsageError(f"There is nothing to tune: {error}.") from error
    found = _compare(context, settings)
    return TuningProfile(
        case=case, created=time.time(), chosen=found.chosen, verdict=found.verdict, attempts=found.attempts
    )


def _compare(context: click.Context, settings: Settings) -> ComparisonResult:
    from client.answers import address
    from client.blocking import BlockingClient
    from supervisor.tuning.comparison import CannotMeasure, compare, ways

    url = address(context.params["host"], context.params["port"])
    if BlockingClient(url).is_kokoro_live:
        click.echo(f"A server runs on {url}: its work disturbs the measurements.", err=True)
    worker = replace(settings.worker, engine=asked_rows(settings.worker)[0].option)
    compiles = 0.0 if worker.provider == "cpu" else worker.compile_timeout
    count = len(processors(worker.worker_cpus)) if worker.worker_cpus else cores()
    try:
        return compare(open_engine(TIMEOUT + compiles), worker, ways(count), lambda step: click.echo(step, err=True))
    except CannotMeasure as error:
        raise click.ClickException(f"the engine can't be measured: {error}") from error


def _show(profile: TuningProfile, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(profile), indent=2).decode())
        return
    click.echo("Ratios to the default; above 1 is better.")
    click.echo(f"{'threads':>7}{'at once':>9}{'first audio':>13}{'one at a time':>15}{'throughput':>12}")
    for each in profile.attempts:
        figures = ((each.first, 13), (each.alone, 15), (each.together, 12))
        cells = "".join(f"{'' if ratio is None else f'{ratio:.2f}':>{width}}" for ratio, width in figures)
        click.echo(f"{each.way.threads:7}{each.way.concurrency:9}{cells}  {each.note}".rstrip())
    click.echo(f"{profile.verdict[0].upper()}{profile.verdict[1:]}.")
    click.echo(f"Measured {ago(time.time() - profile.created)} ago.")
