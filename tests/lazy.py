"""Large packages that few tests use: each of pytest's processes imports all files, and runs the tests of a third."""

import importlib
from typing import Any


class Lazy:
    """The package of that name, imported when one of its names is read."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        # pytest looks for marks such as `__test__` and `_pytestfixturefunction` in everything that a file holds.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._package), name)
