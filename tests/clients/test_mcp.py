"""`kokoro-live mcp`, spoken to by the `mcp` package's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.keys import KEY
from tests.ports import lasting_port
from tests.system.server import DEADLINE, ROOT, Server
from tests.system.sound_card import needs_pulseaudio

if TYPE_CHECKING:
    from mcp.client import Client

LONG = "This is one of many sentences that an agent says. " * 40


@asynccontextmanager
async def agent(port: int) -> AsyncIterator[Client]:
    # A second of imports, in the process that runs this file alone.
    from mcp import StdioServerParameters
    from mcp.client import Client

    variables = {"KOKORO_LIVE_URL": f"http://127.0.0.1:{port}", "KOKORO_LIVE_API_KEY": KEY}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "supervisor", "mcp"], env=variables, cwd=str(ROOT)
    )
    async with asyncio.timeout(DEADLINE), Client(command) as client:
        yield client


@asynccontextmanager
async def tools_here(port: int) -> AsyncIterator[Client]:
    """A client of the command's tools in this process: a process of theirs takes a second to import them."""
    from mcp.client import Client

    from supervisor.speaking.agent_tools import AgentTools

    async with asyncio.timeout(DEADLINE), Client(AgentTools(f"http://127.0.0.1:{port}").server()) as client:
        yield client


async def result(client: Client, tool: str, **arguments: object) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    found = answer.structured_content
    assert found is not None
    return found.get("result", found)


async def failure(client: Client, tool: str, **arguments: object) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return " ".join(getattr(part, "text", "") for part in answer.content)


@needs_pulseaudio
async def test_agents_never_talk_over_each_other(keyed: Server) -> None:
    async with agent(keyed.port) as one, agent(keyed.port) as two:
        tools = {tool.name: tool for tool in (await one.list_tools()).tools}
        assert set(tools) == {"speak", "stop", "status", "list_voices", "render"}
        assert all(tool.description for tool in tools.values())
        first = await result(one, "speak", text=LONG, voice="bf_emma")
        second = await result(two, "speak", text=LONG)
        third = await result(one, "speak", text=LONG, speed=1.5)
        assert [each["position_in_queue"] for each in (first, second, third)] == [0, 1, 2]
        status = await result(two, "status")
        assert status["ready"] and status["engine"] == "espeak-ng"
        assert (status["player"]["id"], status["player"]["waiting"]) == (first["id"], 2)
        state = await result(one, "stop")
        assert (state["id"], state["waiting"]) == (second["id"], 0), "another agent's text goes on"
        await result(one, "speak", text=LONG, on_busy="next")
        state = await result(two, "stop", everything=True)
        assert state == {"state": "idle", "waiting": 0}


async def test_voices_are_listed_files_are_written_and_mistakes_are_refused(keyed: Server, tmp_path: Path) -> None:
    file = tmp_path / "hello.wav"
    async with agent(keyed.port) as client:
        assert client.server_info.version == version("kokoro-live")
        voices = await result(client, "list_voices")
        assert {"id": "bf_emma", "language": "en-gb", "gender": "female"} in voices and len(voices) == 54
        assert {voice["language"] for voice in await result(client, "list_voices", language="ja")} == {"ja"}
        listed = {str(each.uri): each.name for each in (await client.list_resources()).resources}
        assert listed == {"kokoro-live://voices": "voices", "kokoro-live://status": "status"}
        (read,) = (await client.read_resource("kokoro-live://voices")).contents
        assert json.loads(read.text) == voices and read.mime_type == "application/json"
        (read,) = (await client.read_resource("kokoro-live://status")).contents
        assert json.loads(read.text)["engine"] == "espeak-ng"
        assert "nobody" in await failure(client, "speak", text="Hello.", voice="nobody")
        assert "blank" in await failure(client, "speak", text=" ")
        assert "speed" in await failure(client, "speak", text="Hello.", speed=9)
        made = await result(client, "render", text="Hello from an agent.", path=str(file))
        with wave.open(str(file)) as reader:
            assert made == {"path": str(file), "seconds": round(reader.getnframes() / 24_000, 2)}
        again = await failure(client, "render", text="Hello.", path=str(file))
        assert "overwrite" in again and "is there already" in again
        assert (await result(client, "render", text="Hi.", path=str(file), overwrite=True))["seconds"] < made["seconds"]
        assert "absolute" in await failure(client, "render", text="Hello.", path="hello.wav")
        assert ".mp3" in await failure(client, "render", text="Hello.", path=str(tmp_path / "hello.txt"))
        assert "nobody" in await failure(client, "render", text="Hi.", path=str(tmp_path / "x.wav"), voice="nobody")
        assert "can be spoken" in await failure(client, "render", text="...", path=str(tmp_path / "x.wav"))
    assert await asyncio.to_thread(os.listdir, tmp_path) == ["hello.wav"]


async def test_failures_say_what_to_do(keyed: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOKORO_LIVE_API_KEY", "wrong")
    async with tools_here(keyed.port) as client:
        for tool, arguments in (("speak", {"text": "Hello."}), ("stop", {}), ("status", {})):
            if tool != "status":  # the server's own machine may ask for it without a key
                assert "key" in await failure(client, tool, **arguments)
    async with tools_here(lasting_port()) as client:
        for tool, arguments in (("speak", {"text": "Hello."}), ("stop", {}), ("status", {}), ("list_voices", {})):
            assert "kokoro-live serve" in await failure(client, tool, **arguments)


def test_a_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['mcp'] = None; from supervisor.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp"], capture_output=True, text=True, cwd=ROOT, timeout=DEADLINE
    )
    assert done.returncode == 1 and "'mcp>=" in done.stderr and not done.stdout
