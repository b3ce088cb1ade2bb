"""Whether this processor multiplies unsigned by signed bytes without saturating.

AVX2 and AVX-512 without VNNI multiply U8 by S8 with `vpmaddubsw`, which adds two products in 16 bits and saturates:
weights of all 8 bits give wrong sums there, and 7-bit ones can't (onnxruntime's quantisation guide, `reduce_range`).
VNNI and ARM's dot product add in 32 bits.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Literal

ReduceRange = Literal["auto", "on", "off"]

_VNNI = {"avx512_vnni", "avx_vnni", "avx512vnni", "avxvnni"}
_X86 = ("x86_64", "amd64", "i386", "i686")


def needs_reduce_range(machine: str, flags: frozenset[str] | None) -> bool:
    """
    Args:
        machine: as `platform.machine` says it.
        flags: what the processor has, as /proc/cpuinfo names it; None if the system doesn't say.
    """
    if machine.lower() not in _X86:
        return False
    # An Intel Mac doesn't say, and most of them have no VNNI: 7 bits cost a little quality, saturation much.
    return not (flags and flags & _VNNI)


def reduce_range(asked: ReduceRange = "auto") -> bool:
    """What was asked for, or what this machine needs."""
    if asked == "auto":
        return needs_reduce_range(platform.machine(), cpu_flags())
    return asked == "on"


def cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str] | None:
    """Of the first processor; None where there is no such file (anywhere but on Linux)."""
    try:
        for line in cpuinfo.read_text().splitlines():
            name, _, values = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(values.split())
    except OSError:
        pass
    return None
