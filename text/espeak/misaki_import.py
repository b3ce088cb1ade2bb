"""Imports misaki's modules without their unused top-level imports.

spaCy takes seconds and hundreds of megabytes to import (`python -m benchmarks.late_loading`); phonemizer leaves
temporary files (`text.espeak.espeak`). Small stand-in modules replace them during the import of misaki's module.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from text.espeak.espeak import Backend

_lock = threading.Lock()


class _Wrapper:
    """Stand-in for phonemizer's global settings, which `Backend` doesn't use."""

    @staticmethod
    def set_library(path: str) -> None:
        pass

    @staticmethod
    def set_data_path(path: str) -> None:
        pass


def misaki_en() -> Any:
    """`misaki.en`, imported without spaCy; callers must override `G2P.__init__` and `G2P.tokenize`, which use it."""
    return _imported("misaki.en", {"spacy": {}})


def misaki_espeak() -> Any:
    """`misaki.espeak`, with `text.espeak.espeak.Backend` in place of phonemizer's backend."""
    return _imported(
        "misaki.espeak",
        {
            "phonemizer": {"backend": SimpleNamespace(EspeakBackend=Backend)},
            "phonemizer.backend": {},
            "phonemizer.backend.espeak": {},
            "phonemizer.backend.espeak.wrapper": {"EspeakWrapper": _Wrapper},
            # It raises where espeak-ng's data is missing, and misaki's lexicon does without that data.
            "espeakng_loader": {"get_library_path": str, "get_data_path": str},
        },
    )


def _imported(name: str, stand_ins: Mapping[str, Mapping[str, object]]) -> Any:
    with _lock:
        if name in sys.modules:
            return sys.modules[name]
        former = {stand_in: sys.modules.get(stand_in) for stand_in in stand_ins}
        for stand_in, content in stand_ins.items():
            module = ModuleType(stand_in)
            vars(module).update(content)
            sys.modules[stand_in] = module
        try:
            return importlib.import_module(name)
        finally:
            for stand_in, module_before in former.items():
                if module_before is None:
                    del sys.modules[stand_in]
                else:
                    sys.modules[stand_in] = module_before
