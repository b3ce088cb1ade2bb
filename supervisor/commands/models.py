"""`kokoro-live models`: see, get and check the published model files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from worker.model_files import KnownFile

_PATH = click.Path(path_type=Path)


def _default_model_dir() -> Path:
    from worker.model_dir import default_model_dir

    return default_model_dir()


def _where(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which files there are, and where."""
    command = click.option(
        "--manifest",
        type=_PATH,
        envvar="KOKORO_LIVE_MANIFEST",
        show_envvar=True,
        help="A JSON table of your own files in place of the published ones.",
    )(command)
    return click.option(
        "--model-dir",
        type=_PATH,
        default=_default_model_dir,
        show_default="KOKORO_LIVE_MODEL_DIR, or your data directory",
        help="The folder of model files.",
    )(command)


def _known(manifest: Path | None) -> dict[str, KnownFile]:
    from worker.model_files import KNOWN, BadManifest, load_manifest

    try:
        return load_manifest(manifest) if manifest else KNOWN
    except BadManifest as error:
        raise click.ClickException(str(error)) from error


@click.group()
def models() -> None:
    """See, get and check the model files."""


@models.command("list")
@_where
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_files(model_dir: Path, manifest: Path | None, as_json: bool) -> None:
    """Show the published files, and which of them are here and whole."""
    from worker.model_files import State, state_of

    rows = [(file, state_of(model_dir, file)) for file in _known(manifest).values()]
    if as_json:
        click.echo(json.dumps([_as_json(model_dir, file, state) for file, state in rows], indent=2))
        return
    header = ("file", "what", "precision", "MB", "sha256", "state")
    lines = [
        (file.name, file.what, file.precision, f"{file.size / 1e6:.1f}", file.sha256[:12], str(state))
        for file, state in rows
    ]
    if not sys.stdout.isatty():
        click.echo("\n".join("\t".join(line) for line in (header, *lines)))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    colours = {State.PRESENT: "green", State.CORRUPT: "red", State.PARTIAL: "yellow", State.MISSING: "dim"}
    table = Table(title=f"Model files in {model_dir}", title_justify="left")
    for column in header:
        table.add_column(column, justify="right" if column == "MB" else "left", overflow="fold")
    for line, (_, state) in zip(lines, rows, strict=True):
        table.add_row(*map(escape, line[:-1]), f"[{colours[state]}]{state}[/]")
    Console().print(table)


def _as_json(model_dir: Path, file: KnownFile, state: str) -> dict[str, Any]:
    return {
        "name": file.name,
        "what": file.what,
        "precision": file.precision,
        "size": file.size,
        "sha256": file.sha256,
        "url": file.url,
        "path": str(model_dir / file.name),
        "state": state,
    }


@models.command("fetch")
@click.argument("names", nargs=-1)
@_where
@click.option(
    "--mirror",
    envvar="KOKORO_LIVE_MIRROR",
    show_envvar=True,
    metavar="URL",
    help="A folder on the web that has the same files.",
)
def fetch_files(names: tuple[str, ...], model_dir: Path, manifest: Path | None, mirror: str | None) -> None:
    """Download files: the full-precision model and its voices, or NAMES (with a manifest: all that is in it).

    An interrupted download goes on where it stopped; what doesn't have the published hash is not kept.
    """
    from supervisor.commands.fetch_display import display
    from worker.fetch import FetchError, fetch_blocking
    from worker.model_files import DEFAULT

    known = _known(manifest)
    wanted = names or (tuple(known) if manifest else DEFAULT)
    try:
        with display() as progress:
            paths = fetch_blocking(wanted, model_dir, mirror, progress, known)
    except FetchError as error:
        raise click.ClickException(str(error)) from error
    for path in paths:
        click.echo(path)


@models.command("verify")
@click.argument("names", nargs=-1)
@_where
def verify_files(names: tuple[str, ...], model_dir: Path, manifest: Path | None) -> None:
    """Check files against the published hashes: NAMES (or paths), or all that are in the model folder.

    Fails if one is corrupt, or not there.
    """
    from worker.model_files import CorruptModel, Verdict, verify

    known = _known(manifest)
    paths = [model_dir / name for name in names] or [model_dir / name for name in known if (model_dir / name).exists()]
    if not paths:
        raise click.ClickException(f"There is no model file in {model_dir}: get them with `kokoro-live models fetch`.")
    bad = 0
    for path in paths:
        try:
            if not path.exists():
                raise CorruptModel(f"{path} isn't there: get it with `kokoro-live models fetch {path.name}`.")
            verdict = verify(path, known)
        except CorruptModel as error:
            bad += 1
            click.echo(str(error), err=True)
        else:
            says = {
                Verdict.PUBLISHED: "ok, it is the published file",
                Verdict.UNKNOWN: "no published file has this name, so it can't be checked",
            }
            click.echo(f"{path}: {says[verdict]}")
    if bad:
        raise click.ClickException(f"{bad} of {len(paths)} files can't be used.")
