"""Which variants of a model are there, and what was measured of them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from worker.checksum_cache import cached_sha256_of
from worker.quantization.metadata import properties_of
from worker.quantization.quality import PREFIX, Quality

log = logging.getLogger(__name__)

ORIGINAL = "original"
"""The name of a model that isn't a variant of another."""

VARIANT, SOURCE = f"{PREFIX}variant", f"{PREFIX}source_sha256"
"""Keys of what a variant's file says of itself."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A model file."""

    path: Path
    name: str
    """`ORIGINAL`, or a `worker.quantization.kinds.Kind`."""
    quality: Quality | None
    """As it was measured when the file was made; None if it wasn't, and for the original."""


def find_variants(model: Path) -> list[Variant]:
    """The model itself, and the files of its folder that were made of it, by name. Of a variant: those that were made
    of the same model, the variant first.

    Raises:
        ValueError: the model is no ONNX file.
        OSError: it can't be read.
    """
    said = properties_of(model)
    source = said.get(SOURCE) or cached_sha256_of(model)
    found = [_variant(model, said)]
    for file in sorted(model.parent.glob("*.onnx")):
        if file.name == model.name or file.name.startswith("."):
            continue
        try:
            said = properties_of(file)
        except (OSError, ValueError) as error:
            log.warning("%s is passed over: %s", file, error)
            continue
        if said.get(SOURCE) == source and VARIANT in said:
            found.append(_variant(file, said))
    return found


def _variant(path: Path, said: dict[str, str]) -> Variant:
    return Variant(path, said.get(VARIANT, ORIGINAL), Quality.from_properties(said))
