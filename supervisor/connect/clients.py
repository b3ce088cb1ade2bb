"""The programs that `kokoro-live connect` knows: a row for each, with its settings and its way to speak."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import platformdirs

from kokoro_live import own_command
from supervisor.connect import hearing
from supervisor.connect.files import JSON, TOML, VARIABLES, YAML, Also, FileEdit, Form
from supervisor.connect.hearing import Heard
from supervisor.settings.options import default_config_file
from supervisor.speechd.config import ModuleConfig
from supervisor.speechd.installation import InstalledFiles

NAME = "kokoro-live"
"""Its name in the settings of other programs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be connected, and to which server."""

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


@dataclass(frozen=True, slots=True)
class Client:
    """One row."""

    name: str
    """As `kokoro-live connect` takes it."""
    title: str
    change: Callable[[Asked], Change]
    hear: Callable[[Asked, Change], Heard]
    way: str
    """The way by which the sentence is spoken."""
    then: str = ""
    """The next step, after the change."""
    extra: str = ""
    """The extra that it needs."""


def connected(environment: Mapping[str, str], home: Path) -> list[tuple[Client, FileEdit | SpeechModule]]:
    """The clients that were connected by files in their usual places."""
    asked = Asked("", "", None, "", None, ("", 0), environment, home)
    made: list[tuple[Client, FileEdit | SpeechModule]] = []
    for client in CLIENTS:
        change = client.change(asked)
        with contextlib.suppress(click.ClickException, OSError):  # a file that can't be read wasn't changed here
            if not isinstance(change, ShownLines) and change.is_made:
                made.append((client, change))
    return made


def _agent(place: Callable[[Asked], Path], kind: Mapping[str, str] | None = None) -> Callable[[Asked], Change]:
    """`mcpServers` in an agent's JSON file."""

    def change(asked: Asked) -> Change:
        command, *arguments = own_command("mcp")
        variables = {"KOKORO_LIVE_URL": asked.here} | ({"KOKORO_LIVE_API_KEY": asked.key} if asked.key else {})
        entry = {**(kind or {}), "command": command, "args": arguments, "env": variables}
        return FileEdit(asked.file or place(asked), JSON, {("mcpServers", NAME): entry})

    return change


def _hear_agent(asked: Asked, change: Change) -> Heard:
    """By the command that the file has now."""
    assert isinstance(change, FileEdit)
    entry = change.form.read(change.path.read_text())["mcpServers"][NAME]
    return hearing.agent_tool(entry["command"], entry["args"], entry["env"], asked.voice)


def _variables(*names: tuple[str, Callable[[Asked], str]], code: str = "") -> Callable[[Asked], Change]:
    """Variables for the client's environment: in the file that the user names, else in lines to copy.

    Args:
        code: a line of a program that reads no variable for the address; `{url}`, `{key}`, `{voice}` are filled in.
    """

    def change(asked: Asked) -> Change:
        found = {name: value(asked) for name, value in names}
        if asked.file:
            return FileEdit(asked.file, VARIABLES, {(name,): value for name, value in found.items()})
        if code:
            words = "In the program" if not found else "In the environment and in the program"
            lines = [f"{name}={value}" for name, value in found.items()]
            filled = code.format(url=asked.url, key=asked.shown_key, voice=asked.voice, ws=f"ws{asked.url[4:]}")
            return ShownLines(words, "\n".join([*lines, filled]))
        if asked.in_container:
            environment = "".join(f"      {name}: {json.dumps(value)}\n" for name, value in found.items())
            hosts = '    extra_hosts: ["host.docker.internal:host-gateway"]\n    environment:\n'
            return ShownLines("In its service in the compose file", hosts + environment.rstrip("\n"))
        return ShownLines("In its environment", "\n".join(f"{name}={value}" for name, value in found.items()))

    return change


def _by(hear: Callable[[str, str], Heard]) -> Callable[[Asked, Change], Heard]:
    return lambda asked, _change: hear(asked.here, asked.voice)


def _lines(words: str, template: str) -> Callable[[Asked], Change]:
    def change(asked: Asked) -> Change:
        filled = template.format(url=asked.url, key=asked.shown_key, voice=asked.voice)
        return ShownLines(words, filled)

    return change


def _in_file(
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


def _librechat(asked: Asked) -> dict[tuple[str, ...], Any]:
    tts = ("speech", "tts")
    return {
        (*tts, "allowedAddresses"): Also(asked.url.partition("://")[2]),
        (*tts, "openai", "url"): f"{asked.url}/v1/audio/speech",
        (*tts, "openai", "apiKey"): asked.shown_key,
        (*tts, "openai", "model"): "kokoro",
        (*tts, "openai", "voices"): [asked.voice],
    }


def _sillytavern(asked: Asked) -> dict[tuple[str, ...], Any]:
    tts, provider = ("extension_settings", "tts"), "OpenAI Compatible"
    return {
        (*tts, "enabled"): True,
        (*tts, "currentProvider"): provider,
        (*tts, provider, "provider_endpoint"): f"{asked.url}/v1/audio/speech",
        (*tts, provider, "model"): "kokoro",
        (*tts, provider, "available_voices"): [asked.voice],
    }


def _aloud(asked: Asked) -> dict[tuple[str, ...], Any]:
    return {
        ("modelProvider",): "openaicompat",
        ("openaicompat_apiBase",): asked.url,
        ("openaicompat_apiKey",): asked.shown_key,
        ("openaicompat_ttsModel",): "kokoro",
        ("openaicompat_ttsVoice",): asked.voice,
    }


def _vault(_asked: Asked) -> Path | None:
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


def _wyoming(asked: Asked) -> Change:
    """Our own settings: Home Assistant keeps its entry in a database that only its pages may change."""
    host, port = asked.wyoming
    values: dict[tuple[str, ...], Any] = {("wyoming_port",): port}
    if host != "127.0.0.1":
        values["wyoming_host",] = host
    return FileEdit(asked.file or default_config_file(), TOML, values)


def _speech_dispatcher(asked: Asked) -> Change:
    return SpeechModule(InstalledFiles.of(asked.environment, asked.home), ModuleConfig(asked.here, asked.voice))


def _hear_module(_asked: Asked, change: Change) -> Heard:
    assert isinstance(change, SpeechModule)
    return hearing.speech_module(change.files.program)


_BASE = ("OPENAI_BASE_URL", lambda asked: f"{asked.url}/v1")

CLIENTS = (
    Client(
        "claude",
        "Claude Desktop",
        _agent(lambda _: platformdirs.user_config_path("Claude", appauthor=False) / "claude_desktop_config.json"),
        _hear_agent,
        "its MCP tool",
        "Start Claude Desktop again, and ask it to say something aloud.",
        "mcp",
    ),
    Client(
        "claude-code",
        "Claude Code",
        _agent(lambda asked: asked.home / ".claude.json", {"type": "stdio"}),
        _hear_agent,
        "its MCP tool",
        "In a new session, `/mcp` lists kokoro-live.",
        "mcp",
    ),
    Client(
        "cursor",
        "Cursor",
        _agent(lambda asked: asked.home / ".cursor" / "mcp.json"),
        _hear_agent,
        "its MCP tool",
        "Cursor's settings list kokoro-live under MCP.",
        "mcp",
    ),
    Client(
        "open-webui",
        "Open WebUI",
        _variables(
            ("AUDIO_TTS_ENGINE", lambda _: "openai"),
            ("AUDIO_TTS_OPENAI_API_BASE_URL", lambda asked: f"{asked.url}/v1"),
            ("AUDIO_TTS_OPENAI_API_KEY", lambda asked: asked.shown_key),
            ("AUDIO_TTS_MODEL", lambda _: "kokoro"),
            ("AUDIO_TTS_VOICE", lambda asked: asked.voice),
        ),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "A new Open WebUI reads them; one that was set up keeps what Admin Panel > Settings > Audio has.",
    ),
    Client(
        "librechat",
        "LibreChat",
        _in_file(YAML, lambda _: Path("librechat.yaml"), _librechat),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "Start LibreChat again.",
    ),
    Client(
        "sillytavern",
        "SillyTavern",
        _in_file(JSON, lambda asked: asked.home / "SillyTavern/data/default-user/settings.json", _sillytavern),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "Close its pages before the change, because they write the file too.",
    ),
    Client(
        "home-assistant",
        "Home Assistant",
        _wyoming,
        lambda asked, _: hearing.wyoming(*asked.wyoming, asked.voice),
        "the Wyoming protocol",
        "In Home Assistant, add the integration Wyoming Protocol, with this host and port.",
    ),
    Client(
        "livekit",
        "LiveKit Agents",
        _variables(
            code='tts = elevenlabs.TTS(voice_id="{voice}", api_key="{key}", base_url="{url}/v1")  '
            "# livekit.plugins.elevenlabs"
        ),
        _by(hearing.elevenlabs_socket),
        "ElevenLabs' socket",
    ),
    Client(
        "pipecat",
        "Pipecat",
        _variables(
            code='tts = CartesiaTTSService(api_key="{key}", url="{ws}/tts/websocket", '
            'settings=CartesiaTTSService.Settings(voice="{voice}"))'
        ),
        _by(hearing.cartesia_socket),
        "Cartesia's socket",
    ),
    Client(
        "openai",
        "programs with OpenAI's SDKs",
        _variables(_BASE, ("OPENAI_API_KEY", lambda asked: asked.shown_key)),
        _by(hearing.openai),
        "OpenAI's route, mp3",
    ),
    Client(
        "elevenlabs",
        "programs with ElevenLabs' SDKs",
        _variables(
            ("ELEVENLABS_API_KEY", lambda asked: asked.shown_key),
            code='client = ElevenLabs(base_url="{url}")',
        ),
        _by(hearing.elevenlabs),
        "ElevenLabs' route",
    ),
    Client(
        "cartesia",
        "programs with Cartesia's SDKs",
        _variables(("CARTESIA_BASE_URL", lambda asked: asked.url), ("CARTESIA_API_KEY", lambda asked: asked.shown_key)),
        _by(hearing.cartesia),
        "Cartesia's route",
    ),
    Client(
        "deepgram",
        "programs with Deepgram's SDKs",
        _variables(
            ("DEEPGRAM_API_KEY", lambda asked: asked.shown_key),
            code='server = DeepgramClientEnvironment(base="{url}", production="{ws}", agent="{ws}", '
            'agent_rest="{url}")\n'
            "client = DeepgramClient(environment=server)",
        ),
        lambda asked, _: hearing.posted(asked.here, f"/v1/speak?model={asked.voice}", {"text": hearing.SENTENCE}),
        "Deepgram's route",
    ),
    Client(
        "orca",
        "Speech Dispatcher: Orca, spd-say, Firefox's reader",
        _speech_dispatcher,
        _hear_module,
        "Speech Dispatcher's protocol",
        "Speech Dispatcher knows it after its next start: killall speech-dispatcher",
    ),
    Client(
        "raycast",
        "Raycast",
        _lines("In the extension's preferences", "Server: {url}\nAPI key: {key}\nVoice: {voice}"),
        _by(hearing.raw_samples),
        "the extensions' raw samples",
    ),
    Client(
        "obsidian",
        "Obsidian, by its plugin Aloud",
        _in_file(JSON, _vault, _aloud),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "Turn the plugin off and on again.",
    ),
    Client(
        "readest",
        "Readest",
        _lines("In its settings for an OpenAI-compatible voice", "Base URL: {url}/v1\nAPI key: {key}\nModel: kokoro"),
        _by(hearing.openai),
        "OpenAI's route, mp3",
    ),
)
"""All rows, in the order in which they are listed."""
