"""`kokoro-live doctor`: checks of everything that a server depends on, each with its cure."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS
from supervisor.settings.options import default_config_file, settings_options

if TYPE_CHECKING:
    from supervisor.commands.checks.finding import Finding

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "wrong": ("✗", "red")}

_CONFIG_FILE, _CONFIG_ERROR = f"{__name__}.config_file", f"{__name__}.config_error"
"""Keys of click's context for results of parsing, which happens before the command is called."""


class DoctorCommand(SettingsCommand):
    """A command for which an unreadable config file is a finding, not a reason to stop."""

    def __init__(self, name: str | None, *, params: list[click.Parameter], **attributes: Any) -> None:
        super().__init__(name, params=params, **attributes)
        option = next(param for param in params if param.name == "config")
        read = option.callback
        assert read is not None

        def look(context: click.Context, parameter: click.Parameter, path: Path | None) -> None:
            context.meta[_CONFIG_FILE] = path or default_config_file()
            context.meta[_CONFIG_ERROR] = ""
            try:
                read(context, parameter, path)
            except click.UsageError as error:
                context.meta[_CONFIG_ERROR] = error.message

        option.callback = look


@click.command(cls=DoctorCommand)
@settings_options(*KINDS)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option("-v", "--verbose", is_flag=True, help="Show what is well, too.")
@click.option("--verify", is_flag=True, help="Compare the installed files with the release's list of them, too.")
@click.pass_context
def doctor(context: click.Context, /, as_json: bool, verbose: bool, verify: bool, **values: Any) -> None:
    """Check that everything is in order, and tell how to mend what isn't. Takes the options of `serve`.

    Exits with 1 if something is wrong (✗); what could be better (!) is no failure.
    """
    from supervisor.commands.checks.finding import Circumstances, Severity, outcome
    from supervisor.commands.checks.machine import checks
    from supervisor.settings.profile import tuned_settings
    from supervisor.startup.requirements import Opening

    applied, meta = tuned_settings(context), context.meta
    findings = []
    with closing(Opening(applied.settings)) as opening:
        circumstances = Circumstances(applied.settings, meta[_CONFIG_FILE], meta[_CONFIG_ERROR], applied, opening)
        for title, check in checks(verify).items():
            finding = outcome(check, circumstances)
            findings.append((title, finding))
            if not as_json and (verbose or finding.verdict is not Severity.OK):
                _show(title, finding)
    if as_json:
        rows = [
            {"check": title, "verdict": finding.verdict, "found": finding.found, "cure": finding.cure}
            for title, finding in findings
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        click.echo(_summary([finding.verdict for _, finding in findings], verbose))
    sys.exit(any(finding.verdict is Severity.WRONG for _, finding in findings))


def _summary(verdicts: Sequence[str], verbose: bool) -> str:
    """The outcome of all checks in one line, or two where what is well isn't shown."""
    counts = Counter(verdicts)
    wrong, better = counts["wrong"], counts["warning"]
    well = "" if verbose else f"{counts['ok']} of {len(verdicts)} checks found nothing to mend; -v shows them."
    if not wrong and not better:
        return well or "All is well."
    parts = [f"{wrong} wrong (✗)"] * bool(wrong) + [f"{better} could be better (!)"] * bool(better)
    return f"{well}\n{'' if wrong else 'Nothing is wrong; '}{' and '.join(parts)}: the arrows say how.".lstrip()


_INDENT = 17


def _show(title: str, finding: Finding) -> None:
    mark, colour = _MARKS[finding.verdict]
    click.echo(f"{click.style(mark, colour)} {click.style(f'{title:13}', bold=True)}  {_wrapped(finding.found)}")
    if finding.cure:
        click.echo(f"{'':{_INDENT}}{_wrapped(f'→ {finding.cure}')}")


def _wrapped(words: str) -> str:
    """Words in lines of the terminal's width, with the following ones below the first; as they are for programs."""
    if not sys.stdout.isatty():
        return words
    width = max(shutil.get_terminal_size().columns - _INDENT - 1, 30)
    lines = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
    return f"\n{'':{_INDENT}}".join(lines)
