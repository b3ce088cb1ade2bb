"""Imported by every Python process under `pytest --darwin`, before anything else: this folder is on PYTHONPATH."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

from darwin import names

names.imitate()  # before modules that choose by them are imported

from darwin import files, limits, processes, psutil_names, shared_memory, sockets, system  # noqa: E402

for part in (system, files, sockets, limits, shared_memory, psutil_names, processes):
    part.imitate()

# A test may have one of its own for the servers that it starts.
_others = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]
if (_spec := PathFinder.find_spec("sitecustomize", _others)) and _spec.loader:
    _spec.loader.exec_module(module_from_spec(_spec))
