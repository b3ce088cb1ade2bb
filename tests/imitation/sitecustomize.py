"""Imported by every Python process under `pytest --darwin`, before anything else: this folder is on PYTHONPATH."""

from darwin import names

names.imitate()  # before modules that choose by them are imported

from darwin import files, limits, processes, psutil_names, shared_memory, sockets, system  # noqa: E402

for part in (system, files, sockets, limits, shared_memory, psutil_names, processes):
    part.imitate()
