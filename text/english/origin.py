"""The language that a word comes from, by its letters: a softmax over hashed runs of two to four letters.

`python -m benchmarks.training.origin_training` makes the model from names, and prints how often it is right.
"""

from __future__ import annotations

import unicodedata
import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = Path(__file__).with_name("origin.npz")

ENGLISH = "en"

BITS = 14
"""Binary digits of a feature's hash; the weights have 2**14 rows."""

LONGEST = 40
"""Most letters of a word that has an origin."""


class Origin(NamedTuple):
    language: str
    """A row of `text/locales/en/origins.toml`, or `ENGLISH`."""
    probability: float


def rows(word: str) -> NDArray[np.int64]:
    """Rows of the weights for a word's runs of letters, of which some have an edge of the word."""
    import numpy as np  # not above: this module is imported before any English is spoken

    edged = f"^{unicodedata.normalize('NFC', word.lower())}$"
    runs = [edged[start : start + size] for size in (2, 3, 4) for start in range(len(edged) - size + 1)]
    return np.array([zlib.crc32(run.encode()) & (1 << BITS) - 1 for run in runs], np.int64)


@lru_cache(4096)
def origins(word: str) -> tuple[Origin, ...]:
    """The languages that a word may come from, the most probable first; none for a word of other than 2 to `LONGEST`
    characters.
    """
    if not 2 <= len(word) <= LONGEST:
        return ()
    import numpy as np

    languages, weights, scale = _model()
    scores = weights[rows(word)].sum(0, dtype=np.float64) * scale
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    return tuple(Origin(languages[place], float(shares[place])) for place in np.argsort(-shares, kind="stable"))


@cache
def _model() -> tuple[tuple[str, ...], NDArray[np.int8], float]:
    import numpy as np

    with np.load(MODEL) as file:
        return tuple(str(name) for name in file["languages"]), file["weights"], float(file["scale"])
