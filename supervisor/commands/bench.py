"""`kokoro-live bench`: how soon and how well this machine speaks, measured."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import click

from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_of, settings_options
from worker.settings import WorkerSettings

_NAMES = ("ttfa", "streams", "short-behind-long", "parallel", "overhead", "g2p")


@click.command(cls=SettingsCommand)
@click.argument("which", type=click.Choice([*_NAMES, "all", "history"]), required=False)
@click.option("--runs", type=click.IntRange(min=1), help="Repetitions of each measurement.  [default: by benchmark]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bench-results"),
    show_default=True,
    help="The folder for bench.json, bench.md, bench.html and, with matplotlib, pictures.",
)
@click.option("--quick", is_flag=True, help="20 seconds and one sentence; with a name, short texts and few runs.")
@click.option(
    "--article",
    type=click.IntRange(min=200),
    default=10_000,
    show_default=True,
    help="Characters of the long text, and at most of the others; on 2 cores Kokoro reads 10,000 for five minutes, and "
    "so does each competitor.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random orders and arrivals.")
@click.option("--verdict/--no-verdict", default=True, help="Exit with 1 when a target is missed.")
@settings_options(*KINDS, reads=[field.name for field in settings_of(WorkerSettings)])
@click.pass_context
def bench(
    context: click.Context,
    /,
    which: str | None,
    out: Path,
    quick: bool,
    verdict: bool,
    **values: Any,
) -> None:
    """Measure a server of its own, alongside the engine alone and, with --model and --voices, kokoro-onnx.

    ttfa: time to the first audible sample. streams: many listeners at once. short-behind-long: a newcomer's wait.
    parallel: one long text made serially and side by side. overhead: what serving costs alongside inference. g2p: what
    reading a sentence costs, by language. history: draws the self-checks that a server has kept, and measures nothing.
    """
    if which == "history":
        _draw_history(out)
        return
    from worker.engine import EngineUnavailable

    settings = Settings.given(context).worker
    cannot_start = importlib.import_module("benchmarks.measuring.subjects").CannotStart
    if quick and which is None:
        try:
            click.echo(importlib.import_module("benchmarks.glance").glance(settings, _say))
        except (cannot_start, ConnectionError) as error:
            raise click.ClickException(str(error)) from error
        return
    # Imported by name: the measured comparisons may use all folders, and no folder may need the comparisons.
    suite = importlib.import_module("benchmarks.suite")
    measuring = importlib.import_module("benchmarks.measuring.options")
    runs, article, seed = values["runs"], values["article"], values["seed"]
    options = measuring.Options(settings, runs, quick, article, seed, _say)
    command = " ".join(["kokoro-live", "bench", *_words(context)])
    try:
        reports = suite.run([which] if which not in (None, "all") else _NAMES, options, command, out)
    except (EngineUnavailable, cannot_start, ConnectionError) as error:
        raise click.ClickException(str(error)) from error
    if verdict and not quick and not all(report.met for report in reports):
        sys.exit(1)


def _draw_history(out: Path) -> None:
    try:
        table, pictures = importlib.import_module("benchmarks.history").history(out)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    for line in (table, *map(str, pictures)):
        click.echo(line)


def _say(line: str) -> None:
    click.echo(line)


def _words(context: click.Context) -> list[str]:
    """The given arguments, with file names in place of paths."""
    words = []
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        value = context.params.get(param.name or "")
        if source is not click.core.ParameterSource.COMMANDLINE or param.name == "out":
            continue
        shown = value.name if isinstance(value, Path) else str(value)
        if isinstance(param, click.Argument):
            words.append(shown)
        elif isinstance(value, bool):
            words.append((param.opts if value else param.secondary_opts)[0])
        else:
            words += [param.opts[0], shown]
    return words
