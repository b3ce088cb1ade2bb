"""Shared parts of commands that ask a running server; `say` and `voices` load an engine here if none runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from client.answers import START, CannotSpeak, RequestRefused
from client.play import NOTHING
from shm.audio import FASTEST, SLOWEST
from supervisor.settings.command import SettingsCommand
from supervisor.settings.composition import KINDS, SETTINGS, Settings
from supervisor.settings.options import settings_of, settings_options
from text.settings import TextSettings
from worker.settings import WorkerSettings

if TYPE_CHECKING:
    from supervisor.speaking.local_speech import LocalSpeech

_ENGINE = {field.name for field in settings_of(WorkerSettings)} - {"mirror", "manifest"}
"""The settings that an engine in this process reads; the other settings concern fetching files."""

_READING = {field.name for field in settings_of(TextSettings)} - {"delimiters"}
"""The settings of a text's pronunciation and pauses that speech in this process reads: it has neither markup nor cut
marks."""

_ADDRESS = {"host", "port"}

Command = TypeVar("Command", bound=Callable[..., Any])


class ClientCommand(SettingsCommand):
    """A command with options for the settings that it reads itself; the config file may contain all settings."""

    reads: frozenset[str] = frozenset(_ENGINE)
    """Names of the settings that the command reads, apart from the address."""

    def __init__(self, name: str | None, *, params: list[click.Parameter], **attributes: Any) -> None:
        unread = SETTINGS - self.reads - _ADDRESS
        params = [param for param in params if param.name not in unread]
        for param in params:
            if isinstance(param, click.Option) and param.name in _ADDRESS:
                param.hidden = True  # the address has variables and config keys; on the command line, --url gives it
        super().__init__(name, params=params, **attributes)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CannotSpeak as error:
            raise failed(error, ctx) from error


class SpeakingCommand(ClientCommand):
    """A command that speaks in this process where no server runs."""

    reads = ClientCommand.reads | _READING


class AskingCommand(ClientCommand):
    """A command that asks a server and loads no engine."""

    reads = frozenset()


class PaceType(click.ParamType[float]):
    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            pace = float(str(value).replace(",", "."))
        except ValueError:
            pace = math.nan
        if not SLOWEST <= pace <= FASTEST:  # not so for NaN
            self.fail(f"{value} is not from 0.25 to 5, as 1.5 is.", param, ctx)
        return pace


def client_options(command: Command) -> Command:
    """Give a command `--url`, `--local/--server`, and the settings."""
    command = address_options(command)
    return click.option(
        "--local/--server",
        "local",
        default=None,
        help="Load an engine in this process, or insist on a server.  [default: a server if one runs and no setting "
        "below is given as an option]",
    )(command)


def address_options(command: Command) -> Command:
    """Give a command `--url` and the settings."""
    return click.option(
        "--url",
        envvar="KOKORO_LIVE_URL",
        show_envvar=True,
        help="The server.  [default: the address in KOKORO_LIVE_HOST and KOKORO_LIVE_PORT or the config file, else "
        "http://127.0.0.1:8880] Its key, where it wants one, is in the variable KOKORO_LIVE_API_KEY.",
    )(settings_options(*KINDS)(command))


def server_url(context: click.Context) -> str:
    """The address of the server, whether it runs or not."""
    from client.answers import address

    values = context.params
    url: str = values["url"] or address(values["host"], values["port"])
    return (url if "://" in url else f"http://{url}").rstrip("/").removesuffix("/v1")


def server_to_ask(context: click.Context) -> str | None:
    """The server's URL, or None if an engine is to be loaded in this process.

    An explicitly named server is never replaced by an engine here, even if it doesn't answer.

    Raises:
        click.UsageError: the options contradict each other.
    """
    from client.blocking import BlockingClient

    values = context.params
    url = server_url(context)
    local: bool | None = values["local"]
    engine = [name for name in sorted(_ENGINE | _READING) if _on_command_line(context, name)]
    insists = local is False or _on_command_line(context, "url")
    if insists and (local or engine):
        flag = "--local" if local else f"--{engine[0].replace('_', '-')}"
        raise click.UsageError(f"{flag} is about speech in this process, so it can't go with --server or --url.")
    if local or (engine and not insists):
        return None
    return url if insists or values["url"] or BlockingClient(url).is_kokoro_live else None


def local_speech(context: click.Context) -> LocalSpeech:
    """An engine in this process, loaded, with the pronunciation that the settings ask for.

    Raises:
        click.UsageError: a value makes no sense.
        CannotSpeak: it can't be loaded.
    """
    from supervisor.speaking.local_speech import LocalSpeech

    settings = Settings.given(context)
    return LocalSpeech(settings.worker, settings.text, settings.front)


def _on_command_line(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


_SAID = {
    "The body is blank: give something to speak.": NOTHING,
    "GET /v1/audio/voices lists them": "`kokoro-live voices` lists them",
    "`input`": "The text",
    "`voice`": "--voice",
    "`speed`": "--speed",
    "`lang`": "--lang",
}
"""Phrases of the API's errors, and their equivalents on the command line."""


def failed(error: CannotSpeak, context: click.Context) -> click.ClickException:
    """The error in words of the command line, with the next step."""
    message = str(error)
    if isinstance(error, RequestRefused) and error.code == "no_sound_card":
        message = "No loudspeaker was found on the server's machine. `kokoro-live say TEXT -o FILE.wav` makes a file; "
        return click.ClickException(message + "`kokoro-live doctor` says why there is none.")
    if isinstance(error, RequestRefused) and error.status == 404 and message.startswith("There is no POST"):
        message += " --url is the server's address alone, as in http://127.0.0.1:8880."
    if START in message and "local" in context.params:
        message += ", or speak without one with --local"
    for api, words in _SAID.items():
        message = message.replace(api, words)
    return click.ClickException(message)
