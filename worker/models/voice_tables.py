"""Make the embedded voices from the published file: `python -m worker.models.voice_tables voices-v1.0.bin`.

Each table of 510 styles becomes two factors of rank 12. Run this script again when Kokoro's voices are published again,
and give the new file a name of its own in `worker.voices.voice_bank`.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from worker.engine import EngineUnavailable
from worker.models.model_files import KNOWN, CorruptModel, check
from worker.voices.voice_bank import EMBEDDED, RANK, VoiceBank, write_low_rank

PUBLISHED = "voices-v1.0.bin"


@click.command()
@click.argument("published", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), default=EMBEDDED, show_default=True)
def main(published: Path, output: Path) -> None:
    """Write the voices of PUBLISHED, which must be `voices-v1.0.bin`, as low-rank tables, and print their error."""
    try:
        check(published, KNOWN[PUBLISHED])
        with np.load(published, allow_pickle=False) as archive:
            tables = {name: archive[name] for name in archive.files}
        unfinished = output.with_name(f"{output.name}.part")
        with unfinished.open("wb") as file:
            write_low_rank(tables, file)
        unfinished.replace(output)
        relative, absolute = _errors(tables, VoiceBank.open(output))
    except (CorruptModel, EngineUnavailable, OSError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{output}: {len(tables)} voices of rank {RANK}, {output.stat().st_size:,} bytes")
    click.echo(f"largest relative error of a voice {relative:.1e}, largest absolute error of a value {absolute:.1e}")


def _errors(tables: dict[str, np.typing.NDArray[np.float32]], bank: VoiceBank) -> tuple[float, float]:
    """Largest relative error of a voice (in the Frobenius norm), and largest absolute error of a value."""
    relative, absolute = 0.0, 0.0
    for name, table in tables.items():
        rows = np.stack([bank.style(((name, 1.0),), count) for count in range(1, len(table) + 1)])
        relative = max(relative, float(np.linalg.norm(rows - table) / np.linalg.norm(table)))
        absolute = max(absolute, float(np.abs(rows - table).max()))
    return relative, absolute


if __name__ == "__main__":
    main()
