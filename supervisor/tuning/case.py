"""Which case a command line is: the key of its profile."""

from __future__ import annotations

import contextlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click
from click.core import ParameterSource

from supervisor.settings.composition import Settings
from supervisor.tuning.chosen import options
from supervisor.tuning.profile_file import Key, Missing
from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineUnavailable
from worker.machine import machine_name
from worker.model_search import find_model

_RUNTIMES = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-openvino",
    "onnxruntime-directml",
    "onnxruntime-silicon",
    "onnxruntime-rocm",
)
"""The packages that bring the module: importing it to ask would cost the supervisor 60 MB."""


def given(context: click.Context) -> dict[str, Any]:
    """The settings that the user has given: as flags, variables or in the file."""
    return {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)
    }


def key_of(settings: Settings, given: dict[str, Any]) -> Key:
    """
    Raises:
        Missing: Kokoro doesn't speak there.
    """
    worker = settings.worker
    if worker.engine == "espeak":
        raise Missing("espeak-ng has nothing to tune")
    try:
        model = worker.model or find_model(worker.model_dir)
        sha256 = cached_sha256_of(model)
    except (EngineUnavailable, OSError) as error:
        raise Missing(f"there is no model: {error}") from error
    return Key(machine=machine_name(), onnxruntime=runtime_version(), model_sha256=sha256, options=options(given))


def runtime_version() -> str:
    """Of the packages that bring onnxruntime, with their names: where there are several, any may be the one that is
    imported. Empty if there is none."""
    found = []
    for package in _RUNTIMES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return ", ".join(found)
