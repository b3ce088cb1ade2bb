"""A command with settings: its short help and its whole one, and options that other programs call otherwise."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click

from shm.setting import Group
from supervisor.settings.options import SettingOption, removed_settings, without_removed

_ALL = f"{__name__}.help_all"


class SettingsCommand(click.Command):
    """A command with options for settings. `--help` has `_LINES` lines: its own options and the commonest settings, in
    order, as far as they go. `--help-all` shows all by group."""

    def __init__(self, name: str | None, params: list[click.Parameter] | None = None, **attributes: Any) -> None:
        whole = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show all options, with variables and defaults.",
        )
        super().__init__(name, params=[*(params or ()), whole], **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args, lines = without_removed(args)
        removed_settings(ctx).extend(lines)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name, named = error.option_name, [each for each in self.params if isinstance(each, click.Argument)]
            if name in _ALONE and named:
                told = f"{named[0].make_metavar(ctx)} stands alone."
            elif (meant := _MEANT.get(name)) in {each for param in self.params for each in param.opts}:
                told = f"Did you mean '{meant}'?"
            else:
                raise
            raise click.NoSuchOption(name, f"No such option '{name}'. {told}", ctx=error.ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        for line in removed_settings(ctx):
            click.echo(line, err=True)
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(_ALL):
            return super().format_help(ctx, formatter)
        rows = self._rows_in_short(ctx)
        for count in range(len(rows), 1, -1):
            short = ctx.make_formatter()
            self.format_usage(ctx, short)
            short.write_paragraph()
            with short.indentation():
                short.write_text(inspect.cleandoc(self.help or "").split("\n\n")[0])
            with short.section("Options"):
                short.write_dl([*rows[: count - 2], *rows[-2:]])
            if short.getvalue().count("\n") <= _LINES:
                break
        formatter.write(short.getvalue())
        return None

    def _rows_in_short(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Names and words of the options in the short help, a row for those that set one thing; the last two are the
        helps."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        # The command's own, then settings, then the helps.
        options.sort(key=lambda each: (isinstance(each, SettingOption) or each.name == "config") + 2 * _is_help(each))
        few = sum(isinstance(each, SettingOption) for each in options) <= _FEW
        rows: dict[str | None, tuple[str, str]] = {}
        for option in options:
            if isinstance(option, SettingOption) and not few and option.name not in _COMMON:
                continue
            if record := _in_short(option, ctx):
                others = rows.get(option.name)
                names = f"{others[0]}|{record[0].lstrip('-')}" if others else record[0]
                rows[option.name] = (names, _TOGETHER.get(option.name or "", record[1]))
        return list(rows.values())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for group in (None, *Group):
            records = [each.get_help_record(ctx) for each in options if getattr(each, "group", None) is group]
            if shown := [record for record in records if record]:
                with formatter.section(group.value if group else "Options"):
                    formatter.write_dl(shown)


_MEANT = {
    "-p": "--port",
    "-v": "--voice",
    "-s": "--speed",
    "-l": "--lang",
    "--rate": "--speed",
    "--language": "--lang",
    "--out": "--output",
    "--format": "--output",
}
"""Options that other programs have, with ours."""

_ALONE = frozenset({"-f", "--file", "-i", "--input", "-t", "--text"})
"""Names that other programs give to what is an argument here."""

_LINES = 20
"""Lines of the short help at 80 columns."""

_FEW = 7
"""Settings of a command that are all in its short help, where there is room."""

_TOGETHER = {"verb": "Steer what is being played, or show it."}
"""Words for options that set one thing."""

_COMMON = ("host", "port", "api_key_file", "engine", "default_voice")
"""Settings that the short help shows, by field."""


def _is_help(option: click.Option) -> bool:
    return bool({"--help", "--help-all"}.intersection(option.opts))


def _show_all(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _in_short(option: click.Option, context: click.Context) -> tuple[str, str] | None:
    """The option's names and the first clause of its words; None if it isn't shown."""
    record = option.get_help_record(context)
    if record is None:
        return None
    return record[0], re.split(r"(?<=[.;]) |  \[", option.help or record[1], maxsplit=1)[0].rstrip(";.") + "."
