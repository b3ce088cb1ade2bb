"""What each stage of a model runs on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CPU = "CPUExecutionProvider"

NAMES = {
    "coreml": "CoreMLExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "cpu": CPU,
}
"""onnxruntime's names, by those of the setting `provider`."""


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage's execution provider."""

    provider: str = CPU
    """As onnxruntime names it."""
    options: tuple[tuple[str, str], ...] = ()
    """The provider's own, as onnxruntime takes them."""
    window: int = 0
    """Frames at 80 Hz of the static window that it was compiled for, context included; 0: it takes any length."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """All stages of a model, and the model as a whole where it can't be cut."""

    prosody: StageRecord = StageRecord()
    source: StageRecord = StageRecord()
    front: StageRecord = StageRecord()
    generator: StageRecord = StageRecord()
    whole: StageRecord = StageRecord()

    @property
    def provider(self) -> str:
        """Whose the generator is, which is nine tenths of the work."""
        return self.generator.provider

    def stages(self) -> Iterator[tuple[str, StageRecord]]:
        """Those of a model that was cut, by name, in the order in which they run."""
        for name in ("prosody", "source", "front", "generator"):
            yield name, getattr(self, name)
