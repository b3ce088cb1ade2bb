"""Make the embedded voices from the published file: `python -m benchmarks.training.voice_tables voices-v1.0.bin`.

Each table of 510 styles becomes two factors of rank 12, which it has except for 1e-5. Run this script again when
Kokoro's voices are published again, and give the new file a name of its own in `worker.voices.kokoro_voices`.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import click
import numpy as np
from numpy.typing import NDArray

from shm.atomic import replacing
from worker.engine import EngineUnavailable
from worker.models.sources import KNOWN, CorruptModel, check
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

PUBLISHED = "voices-v1.0.bin"

RANK = 12
"""Rank of the embedded tables: 2.0 MB for 54 voices. With rank 8, or in float16, the lengths of some segments change.
"""


@click.command()
@click.argument("published", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), default=EMBEDDED, show_default=True)
def main(published: Path, output: Path) -> None:
    """Write the voices of PUBLISHED, which must be `voices-v1.0.bin`, as low-rank tables, and print their error."""
    try:
        check(published, KNOWN[PUBLISHED])
        with np.load(published, allow_pickle=False) as archive:
            tables = {name: archive[name] for name in archive.files}
        with replacing(output) as draft, draft.open("wb") as file:
            write_low_rank(tables, file)
        relative, absolute = _errors(tables, VoiceBank.open(output))
    except (CorruptModel, EngineUnavailable, OSError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{output}: {len(tables)} voices of rank {RANK}, {output.stat().st_size:,} bytes")
    click.echo(f"largest relative error of a voice {relative:.1e}, largest absolute error of a value {absolute:.1e}")


def write_low_rank(tables: dict[str, NDArray[np.float32]], file: IO[bytes]) -> None:
    """Write a low-rank archive of the voices, in alphabetical order."""
    factors = [_decomposed(tables[name]) for name in sorted(tables)]
    left, right = (np.stack([pair[side] for pair in factors]) for side in (0, 1))
    np.savez(file, allow_pickle=False, names=np.array(sorted(tables)), left=left, right=right)


def _decomposed(table: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The two factors, [rows, 12] and [12, 256], whose product is nearest to the table [rows, 1, 256]."""
    styles = table[:, 0].astype(np.float64)
    # The singular vectors of the table are the eigenvectors of its 256 x 256 products, which are found sooner.
    directions = np.linalg.eigh(styles.T @ styles).eigenvectors[:, : -RANK - 1 : -1]
    return (styles @ directions).astype(np.float32), np.ascontiguousarray(directions.T, dtype=np.float32)


def _errors(tables: dict[str, NDArray[np.float32]], bank: VoiceBank) -> tuple[float, float]:
    """Largest relative error of a voice (in the Frobenius norm), and largest absolute error of a value."""
    relative, absolute = 0.0, 0.0
    for name, table in tables.items():
        rows = np.stack([bank.style(((name, 1.0),), count) for count in range(1, len(table) + 1)])
        relative = max(relative, float(np.linalg.norm(rows - table) / np.linalg.norm(table)))
        absolute = max(absolute, float(np.abs(rows - table).max()))
    return relative, absolute


if __name__ == "__main__":
    main()
