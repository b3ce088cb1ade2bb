"""Stage targets: the execution provider on which each stage of a model runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CPU = "CPUExecutionProvider"


@dataclass(frozen=True, slots=True)
class StageTarget:
    """Execution provider of one stage, with its options and the static window."""

    provider: str = CPU
    """onnxruntime's name of the provider."""
    options: tuple[tuple[str, str], ...] = ()
    """Options of the provider, as onnxruntime takes them."""
    window: int = 0
    """Length of the static window that the stage was compiled for, in frames at 80 Hz with context; 0 if the stage
    takes any length."""
    half: bool = False
    """True if the static window's graph has float16 types, without which CoreML doesn't use the Neural Engine."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Providers of all stages of a model."""

    prosody: StageTarget = StageTarget()
    source: StageTarget = StageTarget()
    decoder: StageTarget = StageTarget()
    generator: StageTarget = StageTarget()

    @property
    def provider(self) -> str:
        """Provider of the generator, which does nine tenths of the work."""
        return self.generator.provider

    def stages(self) -> Iterator[tuple[str, StageTarget]]:
        """Stages of a split model by name, in the order in which they run."""
        for name in ("prosody", "source", "decoder", "generator"):
            yield name, getattr(self, name)
