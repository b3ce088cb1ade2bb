"""Processors whose int8 arithmetic saturates."""

import pytest

from worker.machine import cpu_flags, products_saturate


@pytest.mark.parametrize(
    ("machine", "flags", "saturates"),
    [
        ("x86_64", {"sse4_2", "avx2"}, True),
        ("x86_64", {"avx2", "avx512f", "avx512bw"}, True),
        ("x86_64", {"avx2", "avx512f", "avx512_vnni"}, False),
        ("x86_64", {"avx2", "avx_vnni"}, False),
        ("AMD64", {"avx2"}, True),
        ("x86_64", None, True),
        ("arm64", None, False),
        ("aarch64", {"asimd", "asimddp"}, False),
    ],
)
def test_x86_without_vnni_saturates(machine, flags, saturates):
    assert products_saturate(machine, None if flags is None else frozenset(flags)) is saturates


def test_flags_are_those_of_the_processor(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(
        "processor\t: 0\nmodel name\t: AMD flags: none\nflags\t\t: fpu avx2 avx512_vnni\n\nprocessor\t: 1\n"
    )
    assert cpu_flags(cpuinfo) == {"fpu", "avx2", "avx512_vnni"}
    assert cpu_flags(tmp_path / "none") is None
