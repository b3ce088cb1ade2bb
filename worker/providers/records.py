"""What each stage of a model runs on."""

from __future__ import annotations

from dataclasses import dataclass

CPU = "CPUExecutionProvider"


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
