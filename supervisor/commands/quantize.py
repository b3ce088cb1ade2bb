"""`kokoro-live quantize`: a smaller or faster variant of a Kokoro model, with what it costs in quality."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from supervisor.options import variable
from worker.model_dir import default_model_dir
from worker.model_search import find_model, find_voices
from worker.quantization.kinds import Kind
from worker.settings import WorkerSettings

if TYPE_CHECKING:
    from worker.quantization.quality import Quality

_FILE = click.Path(path_type=Path)
_STEP = 10
"""Percent between two plain lines."""


@click.command(epilog="Variants: " + "; ".join(f"{kind}: {kind.what}" for kind in Kind) + ".")
@click.option(
    "--variant",
    type=click.Choice([kind.value for kind in Kind]),
    default=Kind.STATIC_INT8.value,
    show_default=True,
    help="What to make; see below.",
)
@click.option(
    "--model", type=_FILE, envvar=variable("model"), show_envvar=True, help="A full-precision Kokoro model (.onnx)."
)
@click.option("--voices", type=_FILE, envvar=variable("voices"), show_envvar=True, help="Its voices.")
@click.option(
    "--model-dir",
    type=_FILE,
    default=default_model_dir,
    show_default="KOKORO_LIVE_MODEL_DIR, or your data directory",
    help="Where both are looked for unless they are named.",
)
@click.option("--out", type=_FILE, help="The file to write.  [default: MODEL.VARIANT.onnx, beside the model]")
@click.option(
    "--reduce-range",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    show_default=True,
    help="Use 7 bits of int8 weights. auto: on x86 without VNNI, where 8 saturate. For another machine, say which.",
)
@click.option("--check/--no-check", default=True, help="Measure its quality; `kokoro-live tune` wants to know that.")
@click.option(
    "--threads",
    type=click.IntRange(min=0),
    default=0,
    envvar=variable("threads"),
    show_envvar=True,
    help="Threads to calibrate and measure with; 0: all cores.",
)
def quantize(
    variant: str,
    model: Path | None,
    voices: Path | None,
    model_dir: Path,
    out: Path | None,
    reduce_range: Literal["auto", "on", "off"],
    check: bool,
    threads: int,
) -> None:
    """Make a variant of a Kokoro model: smaller, or faster, or both; and measure what it costs in quality.

    It is a Kokoro model like the one it is made of: any program that takes that one takes it too. docs/variants.md has
    each variant's size, speed and quality.
    """
    from worker.engine import EngineUnavailable

    kind = Kind(variant)
    try:
        model, voices = model or find_model(model_dir), voices or find_voices(model_dir)
    except EngineUnavailable as error:
        raise click.ClickException(str(error)) from error
    try:
        # onnx and onnxruntime cost half a second, which a mistaken path needn't.
        from worker.quantization.make import make_variant, variant_path
        from worker.quantization.processor import reduce_range as reduced
    except ImportError as error:
        raise click.ClickException(
            f"A library isn't there ({error.name}): pip install 'kokoro-live[quantize]'"
        ) from error
    from worker.quantization.error import QuantizationError

    out = out or variant_path(model, kind)
    started = time.monotonic()
    try:
        with _display() as progress:
            quality = make_variant(
                kind,
                model,
                voices,
                out,
                WorkerSettings(threads=threads),
                reduced=reduced(reduce_range),
                check=check,
                progress=progress,
            )
    except QuantizationError as error:
        raise click.ClickException(str(error)) from error
    size, before = out.stat().st_size, model.stat().st_size
    click.echo(f"{out}: {size / 1e6:.0f} MB instead of {before / 1e6:.0f}, in {time.monotonic() - started:.0f} s")
    if quality is not None:
        _tell(quality)
    click.echo(f"To use it: kokoro-live serve --model {shlex.quote(str(out))} --voices {shlex.quote(str(voices))}")


def _tell(quality: Quality) -> None:
    click.echo(
        f"Sound: {quality.log_mel_distance:.2f} dB log-mel distance to the model; the model with other noise is "
        f"{quality.spread:.2f} dB from itself."
    )
    click.echo(
        f"Prosody: {quality.duration_agreement:.1%} of phonemes last as long; a sentence's length is "
        f"{quality.length_difference * 1000:.0f} ms off on average."
    )
    if not quality.passes:
        click.echo("That is a difference which may be heard: listen before you use it.")


@contextmanager
def _display() -> Iterator[Callable[[str, float], None]]:
    """On stderr, so that stdout holds the results alone: a bar on a terminal, plain lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("reading", total=1.0)

        def update(what: str, share: float) -> None:
            bars.update(task, description=what, completed=share)

        yield update


class _Lines:
    """A line for each step, and each tenth of one."""

    def __init__(self) -> None:
        self._last = ("", 0)

    def __call__(self, what: str, share: float) -> None:
        percent = int(100 * share)
        line = (what, percent - percent % _STEP)
        if line != self._last:
            self._last = line
            click.echo(f"{what}: {line[1]} %" if line[1] else what, err=True)
