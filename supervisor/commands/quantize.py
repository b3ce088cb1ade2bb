"""`kokoro-live quantize`: a smaller or faster variant of a Kokoro model, with what it costs in quality."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from supervisor.client.interruption import tidied_up_when_killed
from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options
from worker.model_search import find_model, find_voices
from worker.quantization.kinds import Kind

if TYPE_CHECKING:
    from worker.quantization.quality import Quality

_STEP = 10
"""Percent between two plain lines."""


_READS = ("model", "voices", "model_dir", "cache_dir", "threads")


@click.command(epilog="Variants: " + "; ".join(f"{kind}: {kind.what}" for kind in Kind) + ".")
@click.option(
    "--variant",
    type=click.Choice([kind.value for kind in Kind]),
    default=Kind.STATIC_INT8.value,
    show_default=True,
    help="What to make; see below.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write. One that this command made before is replaced.  "
    "[default: MODEL.VARIANT.onnx, beside the model]",
)
@click.option(
    "--reduce-range",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    show_default=True,
    help="Use 7 bits of S8 weights. auto: on x86 without VNNI, where 8 saturate. For another machine, say which.",
)
@click.option("--check/--no-check", default=True, help="Measure its quality; `kokoro-live tune` wants to know that.")
@settings_options(*KINDS, reads=_READS)
@click.pass_context
def quantize(
    context: click.Context,
    /,
    variant: str,
    out: Path | None,
    reduce_range: Literal["auto", "on", "off"],
    check: bool,
    **_: Any,
) -> None:
    """Make a variant of a Kokoro model: smaller, or faster, or both; and measure what it costs in quality.

    It is a Kokoro model like the one it is made of: any program that takes that one takes it too. docs/variants.md has
    each variant's size, speed and quality.
    """
    from worker.engine import EngineUnavailable

    kind = Kind(variant)
    if context.get_parameter_source("reduce_range") is ParameterSource.COMMANDLINE and not kind.has_signed_weights:
        raise click.UsageError(f"--reduce-range is about S8 weights, and {kind} has none.")
    try:
        settings = Settings.of(context.params).worker
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    try:
        model = settings.model or find_model(settings.model_dir)
        voices = settings.voices or find_voices(settings.model_dir)
        # onnx and onnxruntime cost half a second, which a mistaken path needn't.
        from worker.quantization.make import make_variant, variant_path
        from worker.quantization.speakers import JUDGED
        from worker.signed_products import reduce_range as reduced
        from worker.voices import VoiceBank

        names = VoiceBank.open(voices).names
    except EngineUnavailable as error:
        raise click.ClickException(str(error)) from error
    except ImportError as error:
        raise click.ClickException(
            f"A library isn't there ({error.name}); in kokoro-live's folder: "
            ".venv/bin/python -m pip install -c constraints.txt -e '.[quantize]'"
        ) from error
    from worker.quantization.error import QuantizationError

    if len(names) < JUDGED and (check or kind.is_calibrated):
        told = f"Of the {JUDGED} voices that a variant is made and judged with, {voices} has {len(names)}."
        click.echo(f"{told} What it does to others is not known.", err=True)
    out = out or variant_path(model, kind)
    before, started = out.exists(), time.monotonic()
    try:
        with tidied_up_when_killed(), _display() as progress:
            try:
                quality = make_variant(
                    kind, model, voices, out, settings, reduced=reduced(reduce_range), check=check, progress=progress
                )
            except KeyboardInterrupt:
                click.echo(f"Stopped: nothing of {out} was kept.", err=True)
                raise
    except QuantizationError as error:
        raise click.ClickException(str(error)) from error
    sizes = f"{out.stat().st_size / 1e6:.0f} MB instead of {model.stat().st_size / 1e6:.0f}"
    replaced = ", in place of the one before" if before else ""
    click.echo(f"{out}: {sizes}, in {time.monotonic() - started:.0f} s{replaced}")
    if quality is not None:
        _tell(quality)
    click.echo(f"To use it: kokoro-live serve --model {shlex.quote(str(out))} --voices {shlex.quote(str(voices))}")


def _tell(quality: Quality) -> None:
    from worker.hearing.gate import LIMITED

    judgement = quality.judgement
    heard = [f"level at most {quality.level_difference:.2f} dB off at any length of text"]
    if quality.opinion_loss is not None:
        heard.append(f"opinion score (DNSMOS P.808) {-quality.opinion_loss:+.3f}")
    if quality.word_error_points is not None:
        heard.append(f"word errors {quality.word_error_points:+.1f} points of {quality.words:.0f} words")
    click.echo(f"Heard beside the model: {'; '.join(heard)}.")
    click.echo(f"Sound of the same prosody: {quality.log_mel_distance:.2f} dB log-mel distance to the model.")
    click.echo(
        f"Prosody: {quality.duration_agreement:.1%} of phonemes last as long; a sentence's length is "
        f"{quality.length_difference * 1000:.0f} ms off on average."
    )
    verdict = "passes" if judgement.passes else f"does not pass: {'; '.join(judgement.failures)}"
    click.echo(f"Judged by {', '.join(judgement.judged)}, it {verdict}.")
    if len(judgement.judged) < len(LIMITED):
        missing = ", ".join(name for name in LIMITED if name not in judgement.judged)
        click.echo(f"Not judged: {missing} (install the extra `quality` for that).")


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
