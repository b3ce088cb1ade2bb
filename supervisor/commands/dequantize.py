"""`kokoro-live dequantize`: the published int8 model as a float one."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

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
