"""The programs that `kokoro-live connect` and the page know: a row for each, with its settings and its way to speak."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

from supervisor.connect import hearing
from supervisor.connect.changes import (
    NAME,
    USUAL_WYOMING_PORT,
    Asked,
    Change,
    ShownLines,
    SpeechModule,
    agent_file,
    aloud_settings,
    desktop_entry,
    hermes_settings,
    in_file,
    librechat_settings,
    shown_lines,
    sillytavern_settings,
    speech_module,
    variables,
    vault_file,
    wyoming_settings,
)
from supervisor.connect.files import JSON, YAML, FileEdit
from supervisor.connect.hearing import Heard

if TYPE_CHECKING:
    from frontend.http.clients import KnownClient

_OPENAI = "^/v1/audio/speech"
_PLAY = "^/v1/play"

Calls = tuple[re.Pattern[str], re.Pattern[str]]


def _calls(path: str, program: str = "") -> Calls:
    return re.compile(path), re.compile(program)


_SPEECH = _calls(_OPENAI)


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    """Its name for `kokoro-live connect`."""
    title: str
    change: Callable[[Asked], Change]
    hear: Callable[[Asked, Change], Heard]
    way: str
    """The way by which the sentence is spoken."""
    then: str = ""
    """The next step, after the change."""
    extra: str = ""
    calls: Calls = _SPEECH
    """Regular expressions of the address that it calls, and of the name by which its program gives itself out."""


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


def _hear_agent(asked: Asked, change: Change) -> Heard:
    """Hear the tool by the command that the file has now."""
    assert isinstance(change, FileEdit)
    entry = change.form.read(change.path.read_text())["mcpServers"][NAME]
    return hearing.agent_tool(entry["command"], entry["args"], entry["env"], asked.voice)


def _by(hear: Callable[[str, str], Heard]) -> Callable[[Asked, Change], Heard]:
    return lambda asked, _change: hear(asked.here, asked.voice)


def _hear_module(_asked: Asked, change: Change) -> Heard:
    assert isinstance(change, SpeechModule)
    return hearing.speech_module(change.files.program)


_BASE = ("OPENAI_BASE_URL", lambda asked: f"{asked.url}/v1")

CLIENTS = (
    Client(
        "claude",
        "Claude Desktop",
        agent_file(lambda _: platformdirs.user_config_path("Claude", appauthor=False) / "claude_desktop_config.json"),
        _hear_agent,
        "its MCP tool",
        "Start Claude Desktop again, and ask it to say something aloud.",
        "mcp",
        calls=_calls(_PLAY, f"{NAME}-mcp"),
    ),
    Client(
        "claude-code",
        "Claude Code",
        agent_file(lambda asked: asked.home / ".claude.json", {"type": "stdio"}),
        _hear_agent,
        "its MCP tool",
        "In a new session, `/mcp` lists kokoro-live.",
        "mcp",
        calls=_calls(_PLAY, f"{NAME}-mcp"),
    ),
    Client(
        "cursor",
        "Cursor",
        agent_file(lambda asked: asked.home / ".cursor" / "mcp.json"),
        _hear_agent,
        "its MCP tool",
        "Cursor's settings list kokoro-live under MCP.",
        "mcp",
        calls=_calls(_PLAY, f"{NAME}-mcp"),
    ),
    Client(
        "hermes",
        "Hermes Agent",
        in_file(YAML, lambda asked: asked.home / ".hermes" / "config.yaml", hermes_settings),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "It sends the key in VOICE_TOOLS_OPENAI_KEY of ~/.hermes/.env: one of this server's, or any text.",
        calls=_calls(_OPENAI, "OpenAI/"),
    ),
    Client(
        "openclaw",
        "OpenClaw",
        shown_lines(
            "In ~/.openclaw/openclaw.json; in versions that have `messages.tts`, within `messages`",
            'tts: {{ auto: "always", provider: "openai", providers: {{ openai: {{ baseUrl: "{url}/v1",\n'
            '  apiKey: "{key}", model: "kokoro", speakerVoice: "{voice}" }} }} }}',
        ),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        calls=_calls(_OPENAI, "(?i)openclaw|node|undici"),
    ),
    Client(
        "open-webui",
        "Open WebUI",
        variables(
            ("AUDIO_TTS_ENGINE", lambda _: "openai"),
            ("AUDIO_TTS_OPENAI_API_BASE_URL", lambda asked: f"{asked.url}/v1"),
            ("AUDIO_TTS_OPENAI_API_KEY", lambda asked: asked.shown_key),
            ("AUDIO_TTS_MODEL", lambda _: "kokoro"),
            ("AUDIO_TTS_VOICE", lambda asked: asked.voice),
        ),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "A new Open WebUI reads them; one that was set up keeps what Admin Panel > Settings > Audio has.",
        calls=_calls(_OPENAI, "aiohttp"),
    ),
    Client(
        "librechat",
        "LibreChat",
        in_file(YAML, lambda _: Path("librechat.yaml"), librechat_settings),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "Start LibreChat again.",
        calls=_calls(_OPENAI, "axios"),
    ),
    Client(
        "sillytavern",
        "SillyTavern",
        in_file(JSON, lambda asked: asked.home / "SillyTavern/data/default-user/settings.json", sillytavern_settings),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "Close its pages before the change, because they write the file too.",
        calls=_calls(_OPENAI, "node-fetch|SillyTavern"),
    ),
    Client(
        "home-assistant",
        "Home Assistant",
        wyoming_settings,
        lambda asked, _: hearing.wyoming(*asked.wyoming, asked.voice),
        "the Wyoming protocol",
        "In Home Assistant, add the integration Wyoming Protocol, with this host and port.",
        calls=_calls("^wyoming$", ""),
    ),
    Client(
        "livekit",
        "LiveKit Agents",
        variables(
            code='tts = elevenlabs.TTS(voice_id="{voice}", api_key="{key}", base_url="{url}/v1")  '
            "# livekit.plugins.elevenlabs"
        ),
        _by(hearing.elevenlabs_socket),
        "ElevenLabs' socket",
        calls=_calls("^/v1/text-to-speech/.*stream-input", "aiohttp"),
    ),
    Client(
        "pipecat",
        "Pipecat",
        variables(
            code='tts = CartesiaTTSService(api_key="{key}", url="{ws}/tts/websocket", '
            'settings=CartesiaTTSService.Settings(voice="{voice}"))'
        ),
        _by(hearing.cartesia_socket),
        "Cartesia's socket",
        calls=_calls("^/tts/websocket", "websockets"),
    ),
    Client(
        "openai",
        "Programs with OpenAI's SDKs",
        variables(_BASE, ("OPENAI_API_KEY", lambda asked: asked.shown_key)),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        calls=_calls(_OPENAI, "OpenAI/"),
    ),
    Client(
        "elevenlabs",
        "Programs with ElevenLabs' SDKs",
        variables(
            ("ELEVENLABS_API_KEY", lambda asked: asked.shown_key),
            code='client = ElevenLabs(base_url="{url}")',
        ),
        _by(hearing.elevenlabs),
        "ElevenLabs' route",
        calls=_calls("^/v1/text-to-(speech|dialogue)", "elevenlabs|httpx|node"),
    ),
    Client(
        "cartesia",
        "Programs with Cartesia's SDKs",
        variables(("CARTESIA_BASE_URL", lambda asked: asked.url), ("CARTESIA_API_KEY", lambda asked: asked.shown_key)),
        _by(hearing.cartesia),
        "Cartesia's route",
        calls=_calls("^/tts/", "(?i)cartesia"),
    ),
    Client(
        "deepgram",
        "Programs with Deepgram's SDKs",
        variables(
            ("DEEPGRAM_API_KEY", lambda asked: asked.shown_key),
            code='server = DeepgramClientEnvironment(base="{url}", production="{ws}", agent="{ws}", '
            'agent_rest="{url}")\n'
            "client = DeepgramClient(environment=server)",
        ),
        lambda asked, _: hearing.posted(asked.here, f"/v1/speak?model={asked.voice}", {"text": hearing.SENTENCE}),
        "Deepgram's route",
        calls=_calls("^/v[12]/speak", ""),
    ),
    Client(
        "azure",
        "Programs that call Azure's REST interface",
        shown_lines(
            "In place of the region's address and key",
            "{url}/cognitiveservices/v1\nOcp-Apim-Subscription-Key: {key}",
        ),
        _by(hearing.azure),
        "Azure's route",
        "Voices may keep their names. Azure's Speech SDK can't speak by this server: it has a socket of its own.",
        calls=_calls("^/cognitiveservices/v1", ""),
    ),
    Client(
        "google",
        "Programs with Google's SDKs",
        variables(
            code="from google.auth import api_key\n"
            "from google.cloud.texttospeech_v1.services.text_to_speech.transports import TextToSpeechRestTransport\n\n"
            'rest = TextToSpeechRestTransport(host="{host}", url_scheme="{scheme}", '
            'credentials=api_key.Credentials("{key}"))\n'
            "client = texttospeech.TextToSpeechClient(transport=rest)",
        ),
        _by(hearing.google),
        "Google's route",
        calls=_calls("^/v1(beta1)?/text:synthesize", ""),
    ),
    Client(
        "orca",
        "Speech Dispatcher: Orca, spd-say, Firefox's reader",
        speech_module,
        _hear_module,
        "Speech Dispatcher's protocol",
        "Speech Dispatcher knows it after its next start: killall speech-dispatcher",
        calls=_calls("^/", f"{NAME}-speechd"),
    ),
    Client(
        "desktop",
        "The desktop's menu, and Open With of its file manager",
        desktop_entry,
        _by(hearing.raw_samples),
        "raw samples",
        "The menu has Read aloud: it reads what is marked, and a file that is opened with it.",
        calls=_calls(_PLAY, ""),
    ),
    Client(
        "raycast",
        "Raycast",
        shown_lines("In the extension's preferences", "Server: {url}\nAPI key: {key}\nVoice: {voice}"),
        _by(hearing.raw_samples),
        "the extensions' raw samples",
        calls=_calls("^/", f"{NAME}-raycast"),
    ),
    Client(
        "obsidian",
        "Obsidian, by its plugin Aloud",
        in_file(JSON, vault_file, aloud_settings),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        "Turn the plugin off and on again.",
        calls=_calls(_OPENAI, "obsidian"),
    ),
    Client(
        "readest",
        "Readest",
        shown_lines(
            "In its settings for an OpenAI-compatible voice", "Base URL: {url}/v1\nAPI key: {key}\nModel: kokoro"
        ),
        _by(hearing.openai),
        "OpenAI's route, mp3",
        calls=_calls(_OPENAI, "(?i)readest|tauri"),
    ),
    Client(
        "browser",
        "Chromium and Firefox, by our extension",
        shown_lines("In the settings of clients/browser", "Address: {url}\nKey: {key}\nVoice: {voice}"),
        _by(hearing.raw_samples),
        "the extensions' raw samples",
        "Firefox gives it an origin of its own, which the server must be told: the extension says it.",
        calls=_calls(_OPENAI, "-extension://"),
    ),
)
"""All rows, in the order in which they are listed."""


def known_clients(
    wyoming: tuple[str, int | None], here: str, url: str, key: str | None, voice: str
) -> Iterator[KnownClient]:
    """The clients as the page shows them: what `connect` would change, without a look at the user's files.

    Args:
        wyoming: host and port of the server's Wyoming service; without a port, the one that `connect` would open.
        here: the server's address on its machine.
        url: its address as the clients see it.
    """
    from frontend.http.clients import ClientRow, KnownClient  # aiohttp, which no command needs

    home = Path.home()
    port = wyoming[1] or USUAL_WYOMING_PORT
    asked = Asked(here, url, key, voice, None, (wyoming[0], port), os.environ, home)
    for client in CLIENTS:
        change = client.change(asked)
        words = lines = ""
        if isinstance(change, ShownLines):
            words, lines = change.words, change.lines
        elif isinstance(change, FileEdit):
            path = change.path
            words = f"In {Path('~', path.relative_to(home)) if path.is_relative_to(home) else path}"
            lines = change.entry.strip("\n")
        command = f"kokoro-live connect {client.name}" + (f" --address {url}" if url != here else "")
        yield KnownClient(
            ClientRow(client.name, client.title, command, words, lines, client.then, client.way), client.calls
        )
