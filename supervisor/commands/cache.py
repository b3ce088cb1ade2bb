"""`kokoro-live cache`: what was made once and kept, with sizes and ages, and its removal."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import platformdirs

from shm.folders import state_folder
from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options
from supervisor.settings.profile import ago

_PROVIDERS = ("coreml", "tensorrt", "openvino")
"""Folders of what execution providers have compiled, by the setting `provider`."""


@dataclass(frozen=True, slots=True)
class CacheKind:
    """Files of one purpose."""

    name: str
    purpose: str
    paths: Callable[[Settings], Sequence[Path]]
    in_memory: str = ""
    """Things that a running server keeps in its memory besides; empty: none."""


def _own() -> Path:
    return platformdirs.user_cache_path("kokoro-live", appauthor=False)


def _in_cache(*names: str) -> Callable[[Settings], Sequence[Path]]:
    return lambda settings: [settings.worker.cache_dir / name for name in names]


CACHES = (
    CacheKind(
        "verdicts",
        "trials of execution providers, and what the providers compiled; cleared, each is tried again",
        _in_cache("verdicts", *_PROVIDERS),
    ),
    CacheKind(
        "profiles",
        "the profile of `kokoro-live tune`, and the speed that is usual here",
        lambda settings: [settings.worker.cache_dir / "tuning.json", state_folder() / "real_time_factors.json"],
    ),
    CacheKind(
        "phonemes",
        "the index of Mandarin's words",
        lambda _: [_own() / "jieba.cache"],
        "pronounced sentences, 8 MB at most, until its front is replaced",
    ),
    CacheKind(
        "audio",
        "spoken segments of --disk-cache",
        lambda settings: [settings.front.disk_cache] if settings.front.disk_cache else [],
        "spoken segments, --cache-bytes at most, until its front is replaced",
    ),
    CacheKind(
        "stages",
        "the model's stages, and models that were assembled; cleared, the next start makes them again in some seconds",
        lambda settings: [
            settings.worker.cache_dir / "split",
            settings.worker.cache_dir / "models",
            _own() / "checksums.json",
        ],
    ),
)


def files_of(kind: CacheKind, settings: Settings) -> Iterator[Path]:
    for path in kind.paths(settings):
        yield from (each for each in (path, *path.rglob("*")) if each.is_file())


@dataclass(frozen=True, slots=True)
class Contents:
    files: int
    bytes: int
    youngest: float | None
    """Seconds since the newest file was written; None if there is no file."""
    oldest: float | None

    @classmethod
    def of(cls, kind: CacheKind, settings: Settings) -> Contents:
        found = []
        for file in files_of(kind, settings):
            with suppress(FileNotFoundError):  # a server may have removed it meanwhile
                found.append(file.stat())
        written = [time.time() - status.st_mtime for status in found]
        size = sum(status.st_size for status in found)
        return cls(len(found), size, min(written, default=None), max(written, default=None))


def clear_cache(kind: CacheKind, settings: Settings) -> None:
    """
    Raises:
        OSError: something can't be removed.
    """
    for path in kind.paths(settings):
        if kind.name == "audio" and path.is_dir():
            _clear_segments(path, settings.front.disk_cache_bytes)
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _clear_segments(folder: Path, most: int) -> None:
    """Empty the disk cache by its own means, because a server may have it open."""
    from frontend.streams.cache import DiskCache

    with closing(DiskCache(folder, most)) as segments:
        segments.clear()


@click.group()
def cache() -> None:
    """Show or clear what was made once and kept."""


@cache.command(cls=SettingsCommand)
@settings_options(*KINDS, reads=("cache_dir", "disk_cache", "verdict_age"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def show(context: click.Context, /, as_json: bool, **_: Any) -> None:
    """Show each cache's size, age and purpose."""
    settings = Settings.given(context)
    rows = [(kind, Contents.of(kind, settings)) for kind in CACHES]
    if as_json:
        shown = [
            {
                "name": kind.name,
                "purpose": kind.purpose,
                "in_memory": kind.in_memory,
                "places": [str(path) for path in kind.paths(settings)],
                "files": held.files,
                "bytes": held.bytes,
                "youngest_seconds": held.youngest and round(held.youngest),
                "oldest_seconds": held.oldest and round(held.oldest),
            }
            for kind, held in rows
        ]
        click.echo(json.dumps(shown, indent=2))
        return
    for kind, held in rows:
        size = f"{held.bytes / 1e6:,.1f} MB in {held.files} files" if held.files else "empty"
        ages = f", {ago(held.youngest or 0.0)} to {ago(held.oldest or 0.0)} old" if held.files else ""
        click.echo(f"{click.style(f'{kind.name:9}', bold=True)} {size}{ages}\n          {kind.purpose}")
        if kind.in_memory:
            click.echo(f"          a running server's memory: {kind.in_memory}")
    click.echo(f"\nVerdicts are stale after: {settings.worker.verdict_age} (--verdict-age)")


@cache.command(cls=SettingsCommand)
@click.argument("names", nargs=-1, required=True, type=click.Choice([*(kind.name for kind in CACHES), "all"]))
@settings_options(*KINDS, reads=("cache_dir", "disk_cache", "disk_cache_bytes"))
@click.pass_context
def clear(context: click.Context, /, names: tuple[str, ...], **_: Any) -> None:
    """Remove the files of caches by NAMES. Nothing is lost for good: all is made or measured again when it is needed.

    A running server goes on with what it has loaded.
    """
    settings = Settings.given(context)
    failed = []
    for kind in CACHES:
        if kind.name not in names and "all" not in names:
            continue
        before = Contents.of(kind, settings)
        try:
            clear_cache(kind, settings)
        except OSError as error:
            failed.append(f"{error.filename or kind.name}: {error.strerror or error}")
            continue
        left = f"; a running server keeps in memory: {kind.in_memory}" if kind.in_memory else ""
        click.echo(f"{kind.name}: {before.bytes / 1e6:,.1f} MB cleared{left}")
    if failed:
        raise click.ClickException(f"these can't be removed: {'; '.join(failed)}")
