"""`sys.platform` and `platform`, as macOS answers."""

import platform
import sys
from types import ModuleType

from darwin import is_ours

MACOS = "14.5"


class _Kept(str):
    """Linux's answer as pytest keeps it while a test replaces it; it puts this very object back."""


REAL = str(sys.platform)
KEPT = _Kept(REAL)


class _Sys(ModuleType):
    replaced: str | None = None

    def __new__(cls, *named: str) -> ModuleType:  # type: ignore[misc]
        return ModuleType(*named)  # the import system makes every module by `type(sys)`

    @property
    def platform(self) -> str:
        asker = sys._getframe(1)
        if is_ours(asker):
            return _Sys.replaced or "darwin"
        return KEPT if asker.f_globals.get("__name__") == "_pytest.monkeypatch" else REAL

    @platform.setter
    def platform(self, value: str) -> None:
        _Sys.replaced = None if value is KEPT else value


def imitate() -> None:
    sys.__class__ = _Sys  # type: ignore[assignment]
    name, release = platform.system, platform.release
    platform.system = lambda: "Darwin" if is_ours(sys._getframe(1)) else name()
    platform.release = lambda: "23.5.0" if is_ours(sys._getframe(1)) else release()
    platform.mac_ver = lambda *_: (MACOS, ("", "", ""), platform.machine())
