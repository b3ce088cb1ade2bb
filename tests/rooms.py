"""The project's top-level folders, as pyproject.toml packs them."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKED: tuple[str, ...] = tuple(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
)
PRODUCT = tuple(name for name in PACKED if name not in {"kokoro_live", "benchmarks"})
