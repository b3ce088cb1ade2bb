"""The choice of this machine's service manager."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from supervisor.startup.launchd import Launchd
from supervisor.startup.manager import Manager
from supervisor.startup.systemd import Systemd


def manager(kind: str | None) -> Manager:
    """The manager `launchd` or `systemd`; None chooses this machine's.

    Raises:
        ValueError: this machine has neither.
    """
    if kind is None:
        kind = {"darwin": "launchd", "linux": "systemd"}.get(sys.platform)
    if kind == "launchd":
        return Launchd(Path.home(), os.getuid())
    if kind == "systemd":
        config = os.environ.get("XDG_CONFIG_HOME")
        return Systemd(Path(config) if config else Path.home() / ".config")
    raise ValueError("this machine has neither launchd nor systemd: see to it that `kokoro-live serve` is started")
