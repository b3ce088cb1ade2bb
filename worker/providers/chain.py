"""Which of onnxruntime's execution providers run the model: a chain, which ends at the CPU."""

from __future__ import annotations

import sys
from collections.abc import Collection

from worker.engine import ProviderUnavailable
from worker.providers.records import CPU, Assignment, StageRecord
from worker.settings import WorkerSettings

_NAMES = {"coreml": "CoreMLExecutionProvider", "cuda": "CUDAExecutionProvider", "cpu": CPU}


def chain(settings: WorkerSettings, available: Collection[str], platform: str = sys.platform) -> tuple[str, ...]:
    """The providers to be tried, in order.

    One that is asked for is tried whether onnxruntime offers it or not, so that its absence is reported.
    """
    if settings.provider != "auto":
        return tuple(dict.fromkeys((_NAMES[settings.provider], CPU)))
    best = (_NAMES["coreml"],) if platform == "darwin" else (_NAMES["cuda"],)
    return (*(provider for provider in best if provider in available), CPU)


def first_left(settings: WorkerSettings, available: Collection[str], without: Collection[str]) -> str:
    """The chain's first provider that wasn't given up.

    Raises:
        ProviderUnavailable: onnxruntime doesn't have it.
    """
    provider = next((p for p in chain(settings, available) if p not in without), CPU)
    if provider not in available:
        raise ProviderUnavailable(provider, f"this onnxruntime has only {', '.join(available)}")
    return provider


def assignment(settings: WorkerSettings, available: Collection[str], without: Collection[str] = ()) -> Assignment:
    """What each stage runs on, with the chain's first provider that wasn't given up.

    Raises:
        ProviderUnavailable: onnxruntime doesn't have it.
    """
    record = StageRecord(first_left(settings, available, without))
    # CoreML's modulo miscomputes the sine source, which is 1 % of the work: it stays where it is right.
    return Assignment(record, StageRecord(), record, record, record)
