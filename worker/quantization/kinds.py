"""The variants that can be made of a full-precision model, staged from the simplest to the most particular."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """A variant's name, as the command line and the file's name have it."""

    DYNAMIC = "dynamic"
    DYNAMIC_MATMUL = "dynamic-matmul"
    DYNAMIC_PER_CHANNEL = "dynamic-per-channel"
    STATIC_INT8 = "static-int8"
    STATIC_INT8_PROSODY = "static-int8-prosody"
    FP16 = "fp16"
    MIXED_FP16 = "mixed-fp16"
    WEIGHT_ONLY = "weight-only"

    @property
    def what(self) -> str:
        """In one line."""
        return _WHAT[self]

    @property
    def is_calibrated(self) -> bool:
        """Whether speech is needed to make it."""
        return self in (Kind.STATIC_INT8, Kind.STATIC_INT8_PROSODY)

    @property
    def has_signed_weights(self) -> bool:
        """Whether it multiplies U8 by S8, so that `worker.signed_products` has a say."""
        return self not in (Kind.FP16, Kind.MIXED_FP16, Kind.WEIGHT_ONLY)


_WHAT = {
    Kind.DYNAMIC: "int8 everywhere, ranges measured at run time, as the published int8 model",
    Kind.DYNAMIC_MATMUL: "the same for matrix products alone, per channel",
    Kind.DYNAMIC_PER_CHANNEL: "int8 everywhere, ranges measured at run time, per channel",
    Kind.STATIC_INT8: "int8 in the generator's residual blocks, ranges measured beforehand",
    Kind.STATIC_INT8_PROSODY: "the same, and the prosody's matrix products in dynamic int8",
    Kind.FP16: "half precision everywhere",
    Kind.MIXED_FP16: "half precision but for prosody, sine source and inverse STFT",
    Kind.WEIGHT_ONLY: "matrix products' weights in 8 bits, arithmetic in full precision",
}
