"""One log line format for all processes, on standard error."""

from __future__ import annotations

import logging


def configure_logging(level: str, process: str) -> None:
    """Send this process's log to standard error, each line with the process's name."""
    logging.basicConfig(
        level=level.upper(), format=f"%(asctime)s {process}: %(levelname)s: %(message)s", datefmt="%H:%M:%S", force=True
    )
