"""The command line: a folder of commands, each imported when it is called."""

from __future__ import annotations

import importlib
import signal
from typing import Any

import click

_COMMANDS = {
    "serve": "Start the speech server.",
    "say": "Speak a text or a file, aloud or into a sound file.",
    "play": "Play a text through the server's player.",
    "book": "Make an audiobook of a file.",
    "voices": "List the voices.",
    "connect": "Have another program speak by the running server.",
    "doctor": "Explain what is wrong and how to mend it.",
    "status": "Show what the running server does.",
    "read": "Show how a text is read, and why.",
    "pronounce": "Show the ways to say a word, and keep one.",
    "tls": "Make a certificate for https: and wss:.",
    "mcp": "Give an agent tools to speak.",
    "models": "List, fetch and verify model files.",
    "cache": "Show or clear what was made once and kept.",
    "dequantize": "Make a float model of the int8 one, for accelerators.",
    "bench": "Measure how soon and how well this machine speaks.",
    "tune": "Measure how many threads suit this machine.",
    "trace": "Show where the time of a request goes.",
    "reload": "Have the running server read its settings again.",
    "install-service": "Start the server at login.",
    "uninstall-service": "No longer start the server at login.",
    "install-speechd": "Let Speech Dispatcher (Orca, spd-say) speak with the server.",
    "uninstall-speechd": "Remove what install-speechd wrote.",
    "update": "Show how this installation is updated, and have the running server take the new version.",
    "uninstall": "List what kokoro-live has written for you, and remove it if asked.",
}
"""Commands by name, with their line of `--help`, the commonest first. The object has the command's name, with
underscores."""

_COMMONEST = 7
"""Commands whose line the short help has."""

_ALL = object()
"""The context's object while the help is that of all commands."""

_FILES = {
    "install-service": "install",
    "uninstall-service": "install",
    "install-speechd": "install",
    "uninstall-speechd": "install",
    "dequantize": "models",
    "pronounce": "say",
    "reload": "installation",
    "update": "installation",
    "uninstall": "installation",
}
"""Files in `supervisor/commands/` of commands whose file has another name than they."""


_FOR_SERVERS = {"rehearse"}
"""Commands that the server itself calls, and `--help` doesn't show."""


_MEANT = {
    "speak": ("say",),
    "tts": ("say",),
    "start": ("serve",),
    "run": ("serve",),
    "stop": ("play --stop",),
    "list": ("voices", "models list"),
    "download": ("models fetch",),
    "install": ("update", "install-service", "install-speechd"),
    "upgrade": ("update",),
    "logs": ("status",),
    "config": ("serve --help",),
    "help": ("--help",),
}
"""Commands for words that other programs have."""


_AFTER_STOP = {
    "tune": "Nothing was kept: it measures all of it again.",
    "bench": "No figures were written: they are at the end.",
    "dequantize": "No model was written.",
    "models": "What has come is kept: the same command goes on from there.",
}
"""Words for what Ctrl-C leaves of a command's work, where the command doesn't say so itself."""


class _LazyGroup(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(f"\nStopped. {_AFTER_STOP.get(ctx.invoked_subcommand or '', '')}".rstrip(), err=True)
            ctx.exit(128 + signal.SIGINT)
        except OSError as error:
            if error.filename is None:
                raise
            named = click.format_filename(error.filename)
            raise click.ClickException(f"{named} can't be used: {error.strerror}") from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS.keys() | _FOR_SERVERS:
            return None
        file = _FILES.get(cmd_name, cmd_name)
        command: click.Command = getattr(
            importlib.import_module(f"supervisor.commands.{file}"), cmd_name.replace("-", "_")
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS.keys() | _FOR_SERVERS and not args[0].startswith("-"):
            import difflib

            begun = [name for name in _COMMANDS if name.startswith(args[0])]
            near = _MEANT.get(args[0]) or begun or difflib.get_close_matches(args[0], _COMMANDS, n=1)
            meant = f" Did you mean {' or '.join(f'`kokoro-live {name}`' for name in near)}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = list(_COMMANDS.items())
        with formatter.section("Commands"):
            formatter.write_dl(rows if ctx.obj is _ALL else rows[:_COMMONEST])
            if ctx.obj is not _ALL:
                formatter.write_text(f"Also: {', '.join(name for name, _ in rows[_COMMONEST:])}.")


def _say_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version  # a third of what a short command takes to begin

        click.echo(f"kokoro-live, version {version('kokoro-live')}")
        context.exit()


def _show_all(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.obj = _ALL
        click.echo(context.get_help())
        context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_say_version, help="Show the version."
)
@click.option(
    "--help-all", is_flag=True, expose_value=False, is_eager=True, callback=_show_all, help="Show all commands."
)
def kokoro_live() -> None:
    """A speech server for your own machine."""
