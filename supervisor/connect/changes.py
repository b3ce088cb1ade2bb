"""Changes of other programs' settings, by which they speak by this server: what they are, and how they are made."""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs

from kokoro_live import own_command
from supervisor.connect.files import DESKTOP, JSON, TOML, VARIABLES, Also, FileEdit, Form
from supervisor.settings.options import default_config_file
from supervisor.speechd.config import ModuleConfig
from supervisor.speechd.installation import InstalledFiles

NAME = "kokoro-live"
"""Its name in the settings of other programs."""

USUAL_WYOMING_PORT = 10200


@dataclass(frozen=True, slots=True)
class Asked:
    """The program that is to be connected, and the server."""

    here: str
    """The server's address on this machine."""
    url: str
    """Its address as the client sees it."""
    key: str | None
    voice: str
    file: Path | None
    """The client's settings file, if the user names it."""
    wyoming: tuple[str, int]
    environment: Mapping[str, str]
    home: Path

    @property
    def shown_key(self) -> str:
        """A key for clients that insist on one."""
        return self.key or "none"

    def filled(self, template: str) -> str:
        """The template with `{url}` (or `{ws}`, or `{scheme}` and `{host}`), `{key}` and `{voice}` filled in."""
        scheme, _, host = self.url.partition("://")
        known = {"url": self.url, "ws": f"ws{self.url[4:]}", "scheme": scheme, "host": host}
        return template.format(**known, key=self.shown_key, voice=self.voice)

    @property
    def in_container(self) -> bool:
        return self.url != self.here and "host.docker.internal" in self.url


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines for the user to enter, where there is no file that could be changed."""

    words: str
    lines: str


@dataclass(frozen=True, slots=True)
class SpeechModule:
    """Speech Dispatcher's module, which has an installation of its own."""

    files: InstalledFiles
    config: ModuleConfig

    @property
    def is_made(self) -> bool:
        return self.files.program.exists()


Change = FileEdit | ShownLines | SpeechModule


def agent_file(place: Callable[[Asked], Path], kind: Mapping[str, str] | None = None) -> Callable[[Asked], Change]:
    """`mcpServers` in an agent's JSON file."""

    def change(asked: Asked) -> Change:
        command, *arguments = own_command("mcp")
        variables = {"KOKORO_LIVE_URL": asked.here} | ({"KOKORO_LIVE_API_KEY": asked.key} if asked.key else {})
        entry = {**(kind or {}), "command": command, "args": arguments, "env": variables}
        return FileEdit(asked.file or place(asked), JSON, {("mcpServers", NAME): entry})

    return change


def variables(*names: tuple[str, Callable[[Asked], str]], code: str = "") -> Callable[[Asked], Change]:
    """Variables for the client's environment: in the file that the user names, else in lines to copy.

    Args:
        code: lines of a program that reads no variable for the address, as `Asked.filled` takes them.
    """

    def change(asked: Asked) -> Change:
        found = {name: value(asked) for name, value in names}
        if asked.file:
            return FileEdit(asked.file, VARIABLES, {(name,): value for name, value in found.items()})
        if code:
            words = "In the program" if not found else "In the environment and in the program"
            lines = [f"{name}={value}" for name, value in found.items()]
            return ShownLines(words, "\n".join([*lines, asked.filled(code)]))
        if asked.in_container:
            environment = "".join(f"      {name}: {json.dumps(value)}\n" for name, value in found.items())
            hosts = '    extra_hosts: ["host.docker.internal:host-gateway"]\n    environment:\n'
            return ShownLines("In its service in the compose file", hosts + environment.rstrip("\n"))
        return ShownLines("In its environment", "\n".join(f"{name}={value}" for name, value in found.items()))

    return change


def shown_lines(words: str, template: str) -> Callable[[Asked], Change]:
    return lambda asked: ShownLines(words, asked.filled(template))


def in_file(
    form: Form, place: Callable[[Asked], Path | None], values: Callable[[Asked], dict[tuple[str, ...], Any]]
) -> Callable[[Asked], Change]:
    """Settings in a file that the client has made."""

    def change(asked: Asked) -> Change:
        path = asked.file or place(asked)
        if path and path.is_file():
            return FileEdit(path, form, values(asked))
        lines = "\n".join(f"{'.'.join(names)}: {_shown(value)}" for names, value in values(asked).items())
        return ShownLines("Its settings file wasn't found (--file FILE names it). It needs", lines)

    return change


def _shown(value: Any) -> str:
    return json.dumps([value.item] if isinstance(value, Also) else value)


def hermes_settings(asked: Asked) -> dict[tuple[str, ...], Any]:
    openai = ("tts", "openai")
    values = {"base_url": f"{asked.url}/v1", "model": "kokoro", "voice": asked.voice}
    return {("tts", "provider"): "openai", **{(*openai, name): value for name, value in values.items()}}


def librechat_settings(asked: Asked) -> dict[tuple[str, ...], Any]:
    tts = ("speech", "tts")
    return {
        (*tts, "allowedAddresses"): Also(asked.url.partition("://")[2]),
        (*tts, "openai", "url"): f"{asked.url}/v1/audio/speech",
        (*tts, "openai", "apiKey"): asked.shown_key,
        (*tts, "openai", "model"): "kokoro",
        (*tts, "openai", "voices"): [asked.voice],
    }


def sillytavern_settings(asked: Asked) -> dict[tuple[str, ...], Any]:
    tts, provider = ("extension_settings", "tts"), "OpenAI Compatible"
    return {
        (*tts, "enabled"): True,
        (*tts, "currentProvider"): provider,
        (*tts, provider, "provider_endpoint"): f"{asked.url}/v1/audio/speech",
        (*tts, provider, "model"): "kokoro",
        (*tts, provider, "available_voices"): [asked.voice],
    }


def aloud_settings(asked: Asked) -> dict[tuple[str, ...], Any]:
    return {
        ("modelProvider",): "openaicompat",
        ("openaicompat_apiBase",): asked.url,
        ("openaicompat_apiKey",): asked.shown_key,
        ("openaicompat_ttsModel",): "kokoro",
        ("openaicompat_ttsVoice",): asked.voice,
    }


def vault_file(_asked: Asked) -> Path | None:
    """The file of the plugin Aloud in the one vault that has it, by Obsidian's own list of vaults."""
    listed = platformdirs.user_config_path("obsidian", appauthor=False) / "obsidian.json"
    try:
        vaults = JSON.read(listed.read_text()).get("vaults", {})
        folders = [Path(vault["path"]) for vault in vaults.values()]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    files = [folder / ".obsidian" / "plugins" / "aloud-tts" / "data.json" for folder in folders]
    there = [file for file in files if file.is_file()]
    return there[0] if len(there) == 1 else None


def wyoming_settings(asked: Asked) -> Change:
    """Our own settings: Home Assistant keeps its entry in a database that only its pages may change."""
    host, port = asked.wyoming
    values: dict[tuple[str, ...], Any] = {("wyoming_port",): port}
    if host != "127.0.0.1":
        values["wyoming_host",] = host
    return FileEdit(asked.file or default_config_file(), TOML, values)


def desktop_entry(asked: Asked) -> Change:
    """An entry of the desktop's menu, which a file manager offers for texts too. Files that it opens are read; without
    one, what is marked."""
    if platform.system() == "Darwin":
        words = "In Automator, in a new Quick Action with Run Shell Script, Pass input: to stdin"
        return ShownLines(words, shlex.join(["env", f"KOKORO_LIVE_URL={asked.here}", *own_command("play", "-")]))
    variables = [f"KOKORO_LIVE_URL={asked.here}", *([f"KOKORO_LIVE_API_KEY={asked.key}"] if asked.key else [])]
    play = partial(_quoted, "env", *variables, *own_command("play"))
    entry = {
        "Type": "Application",
        "Name": "Read aloud",
        "Comment": "Read a text, or what is marked in any window",
        "Icon": "audio-speakers",
        "Categories": "Utility;Accessibility;",
        "MimeType": "text/plain;text/markdown;text/html;",
        "Exec": f"{play('--selection', '--no-wait')} %f",
        "Actions": "stop;",
    }
    stop = {"Name": "Stop reading", "Exec": play("--stop")}
    values: dict[tuple[str, ...], Any] = {("Desktop Entry", name): value for name, value in entry.items()}
    values |= {("Desktop Action stop", name): value for name, value in stop.items()}
    folder = platformdirs.user_data_path() / "applications"
    return FileEdit(asked.file or folder / f"{NAME}.desktop", DESKTOP, values)


def _quoted(*words: str) -> str:
    """Words of a command in an entry of a menu, quoted by the Desktop Entry Specification: a value's backslashes are
    doubled once more."""
    quoted = []
    for word in (each.replace("%", "%%") for each in words):
        escaped = re.sub(r'(["`$\\])', r"\\\1", word)
        escaped = escaped.replace("\\", "\\\\")
        quoted.append(f'"{escaped}"' if re.search(r"[^\w@+=:,./%-]", word) else word)
    return " ".join(quoted)


def speech_module(asked: Asked) -> Change:
    return SpeechModule(InstalledFiles.of(asked.environment, asked.home), ModuleConfig(asked.here, asked.voice))
