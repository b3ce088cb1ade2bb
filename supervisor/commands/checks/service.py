"""The check of the installed service."""

from __future__ import annotations

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning, wrong
from supervisor.startup.definition import DEFAULT_NAME
from supervisor.startup.manager import Installed
from supervisor.startup.managers import manager


def service(_: Circumstances) -> Finding:
    """Check that the files of `install-service` are whole, name an existing program, and are enabled."""
    try:
        found = manager(None).installed()
    except ValueError as error:
        return warning(str(error), "kokoro-live install-service writes it again, where there is launchd or systemd.")
    if not found:
        return ok("none starts at login (`kokoro-live install-service` sees to that)")
    for one in found:
        if not one.program.exists():
            return wrong(f"{one.file} starts {one.program}, which isn't there", _install(one))
    for one in found:
        if not one.enabled:
            return warning(f"{one.name} is installed in {one.file}, and not enabled", f"{_install(one)} --now")
    return ok(f"{', '.join(one.name for one in found)} starts at login")


def _install(one: Installed) -> str:
    suffix = one.name.removeprefix(DEFAULT_NAME).removeprefix("-")
    return f"kokoro-live install-service{f' --name {suffix}' if suffix else ''}"
