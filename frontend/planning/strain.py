"""Strain: what the system says of a machine that runs slower than it can, and the reserve that plans keep for it.

Linux tells it under /sys: a battery that discharges, a platform profile of low power, processors that a cooling device
holds back or that throttled of late, and clocks that may not reach their highest. macOS tells it by `NSProcessInfo`
(`thermalState`, `isLowPowerModeEnabled`; Apple's documentation, never run).
"""

from __future__ import annotations

import ctypes
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

log = logging.getLogger(__name__)

SYSTEM = Path("/sys")

SELDOM = 10.0
"""Seconds between two looks: one reads some files for each processor."""

RESERVE = 1.25
"""Factor on a plan's costs under strain: what a profile may be off by before it follows the measurements."""

MOST = 2.0
"""The largest factor that clocks give, however low they are held."""

_HELD = 0.95
"""Share of the highest clock from which on a processor counts as free."""

_SAVING = ("low-power", "cool", "quiet")
"""Platform profiles under which Linux's firmware saves power (Documentation/ABI/testing/sysfs-platform_profile)."""

_SERIOUS = 2
"""`NSProcessInfoThermalStateSerious`: from it on macOS holds processors back."""


class Strain:
    """The machine's strain, as last looked at."""

    def __init__(self, system: Path = SYSTEM, clock: Callable[[], float] = time.monotonic) -> None:
        self._system = system
        self._clock = clock
        self._looked: float | None = None
        self._throttled = self._throttle_count()
        self._signs: tuple[str, ...] = ()
        self._clocks = 1.0

    @property
    def signs(self) -> tuple[str, ...]:
        """The signs of strain, for people; empty if the machine is free."""
        now = self._clock()
        if self._looked is None or now - self._looked >= SELDOM:
            self._looked = now
            self._clocks = self._share_of_clocks()
            self._signs = tuple(_of_macos() if sys.platform == "darwin" else self._of_linux())
        return self._signs

    @property
    def reserve(self) -> float:
        """Factor by which plans take costs to be higher than measured: 1 on a machine that is free."""
        return min(max(RESERVE, 1 / self._clocks), MOST) if self.signs else 1.0

    def _of_linux(self) -> Iterator[str]:
        supplies = self._system.glob("class/power_supply/*")
        if any(
            _said(supply / "type") == "Battery"
            and _said(supply / "scope") != "Device"  # a mouse's
            and _said(supply / "status") == "Discharging"
            for supply in supplies
        ):
            yield "on battery"
        if (profile := _said(self._system / "firmware/acpi/platform_profile")) in _SAVING:
            yield f"power profile {profile}"
        before, self._throttled = self._throttled, self._throttle_count()
        cooled = any(
            _said(device / "type").startswith(("Processor", "cpufreq", "thermal-cpufreq"))
            and _number(device / "cur_state") > 0
            for device in self._system.glob("class/thermal/cooling_device*")
        )
        if cooled or self._throttled > before:
            yield "hot: the processors are held back"
        if self._clocks < _HELD:
            yield f"clocks of at most {self._clocks:.0%}"

    def _share_of_clocks(self) -> float:
        """The share of its highest clock that the processor may reach, over all policies; 1 if that isn't told."""
        policies = list(self._system.glob("devices/system/cpu/cpufreq/policy*"))
        highest = sum(_number(policy / "cpuinfo_max_freq") for policy in policies)
        allowed = sum(_number(policy / "scaling_max_freq") for policy in policies)
        return min(allowed / highest, 1.0) if highest and allowed else 1.0

    def _throttle_count(self) -> float:
        counts = self._system.glob("devices/system/cpu/cpu*/thermal_throttle/*_throttle_count")
        return sum(map(_number, counts))


def _said(file: Path) -> str:
    try:
        return file.read_text().strip()
    except (OSError, ValueError):
        return ""


def _number(file: Path) -> float:
    said = _said(file)
    return float(said) if said.isdecimal() else 0.0


def _of_macos() -> Iterator[str]:
    battery = psutil.sensors_battery()
    if battery and battery.power_plugged is False:
        yield "on battery"
    try:
        info = _ProcessInfo()
    except (OSError, AttributeError) as error:
        log.debug("macOS doesn't tell its thermal state: %s", error)
        return
    if info.ask(ctypes.c_bool, b"isLowPowerModeEnabled"):
        yield "low power mode"
    if info.ask(ctypes.c_long, b"thermalState") >= _SERIOUS:
        yield "hot: the processors are held back"


class _ProcessInfo:
    """Foundation's `NSProcessInfo.processInfo`, by the Objective-C runtime."""

    def __init__(self) -> None:
        ctypes.CDLL("/System/Library/Frameworks/Foundation.framework/Foundation")
        self._runtime = ctypes.CDLL("/usr/lib/libobjc.A.dylib")
        for name in ("objc_getClass", "sel_registerName"):
            function = getattr(self._runtime, name)
            function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        self._runtime.class_respondsToSelector.restype = ctypes.c_bool
        self._runtime.class_respondsToSelector.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._class = self._runtime.objc_getClass(b"NSProcessInfo")
        self._object = self._send(ctypes.c_void_p, self._class, self._runtime.sel_registerName(b"processInfo"))

    def ask(self, kind: type[ctypes.c_bool | ctypes.c_long], selector: bytes) -> int:
        """The answer; 0 from a system that doesn't know the selector, which would end the process."""
        registered = self._runtime.sel_registerName(selector)
        known = self._runtime.class_respondsToSelector(self._class, registered)
        return self._send(kind, self._object, registered) if known else 0

    def _send(self, kind: type[ctypes.c_bool | ctypes.c_long | ctypes.c_void_p], receiver: int, selector: int) -> int:
        send = ctypes.CFUNCTYPE(kind, ctypes.c_void_p, ctypes.c_void_p)(("objc_msgSend", self._runtime))
        return int(send(receiver, selector) or 0)
