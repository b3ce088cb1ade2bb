"""psutil, without what its version for macOS lacks. Nothing imports it sooner for that."""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

LACKING = ("cpu_affinity", "cpu_num", "io_counters", "ionice", "memory_maps", "rlimit")


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "psutil":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            if (spec := finder.find_spec(fullname, path, target)) and spec.loader:
                _take_away_after(spec.loader)
                return spec
        return None


def _take_away_after(loader: Loader) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        for name in LACKING:
            if hasattr(module.Process, name):
                delattr(module.Process, name)

    loader.exec_module = exec_module  # type: ignore[method-assign]


def imitate() -> None:
    sys.meta_path.insert(0, _Finder())
