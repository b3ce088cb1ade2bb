"""Detection of processors on which sums of unsigned-by-signed byte products saturate.

AVX2 and AVX-512 without VNNI multiply U8 by S8 with `vpmaddubsw`, which adds two products in 16 bits and saturates:
weights of all 8 bits give wrong sums there, and 7-bit weights don't (onnxruntime's quantisation guide, `reduce_range`).
VNNI and ARM's dot product add in 32 bits.
"""

from __future__ import annotations

import platform
from pathlib import Path

_VNNI = {"avx512_vnni", "avx_vnni", "avx512vnni", "avxvnni"}
_X86 = ("x86_64", "amd64", "i386", "i686")


def products_saturate(machine: str, flags: frozenset[str] | None) -> bool:
    """True if sums of unsigned-by-signed byte products saturate on the given processor.

    Args:
        machine: the name that `platform.machine` gives.
        flags: features of the processor, as in /proc/cpuinfo; None if the system doesn't report them.
    """
    if machine.lower() not in _X86:
        return False
    # An Intel Mac reports no features, and most of them have no VNNI: slower sums cost little, wrong ones much.
    return not (flags and flags & _VNNI)


def products_saturate_here() -> bool:
    """True if sums of unsigned-by-signed byte products saturate on this machine."""
    return products_saturate(platform.machine(), cpu_flags())


def cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str] | None:
    """Features of the first processor; None if the file doesn't exist (everywhere but on Linux)."""
    try:
        for line in cpuinfo.read_text().splitlines():
            name, _, values = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(values.split())
    except OSError:
        pass
    return None
