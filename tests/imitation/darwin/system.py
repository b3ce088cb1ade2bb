"""`sys.platform` and `platform`, as macOS answers."""

from __future__ import annotations

import platform
import sys
from types import ModuleType

from darwin import is_ours

MACOS = "14.5"


class _Real(str):
    """Linux's answer. A test that replaces it puts this very object back."""


REAL = _Real(sys.platform)


class _Sys(ModuleType):
    replaced: str | None = None

    def __new__(cls, *named: str) -> ModuleType:  # type: ignore[misc]
        return ModuleType(*named)  # the import system makes every module by `type(sys)`

    @property
    def platform(self) -> str:
        return (_Sys.replaced or "darwin") if is_ours(sys._getframe(1)) else REAL

    @platform.setter
    def platform(self, value: str) -> None:
        _Sys.replaced = None if value is REAL else value


def imitate() -> None:
    sys.__class__ = _Sys  # type: ignore[assignment]
    name, release = platform.system, platform.release
    platform.system = lambda: "Darwin" if is_ours(sys._getframe(1)) else name()
    platform.release = lambda: "23.5.0" if is_ours(sys._getframe(1)) else release()
    platform.mac_ver = lambda *_: (MACOS, ("", "", ""), platform.machine())
