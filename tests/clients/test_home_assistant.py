"""Home Assistant: its Wyoming integration's own files on the Wyoming port, and requests as wyoming_openai does."""

import asyncio
import io
import json
import subprocess
import sys
import wave
import zipfile
from pathlib import Path

import pytest

from tests.clients.keys import KEY
from tests.lazy import Lazy
from tests.system.oracle import sentences
from tests.system.server import Server, server

openai = Lazy("openai")
SENTENCES = [f"{sentence}." for sentence in sentences(6).split(". ")]


async def test_each_sentences_wav_is_its_own_and_whole(keyed: Server) -> None:
    async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{keyed.port}/v1", api_key=KEY) as client:

        async def spoken(sentence: str, name: str) -> bytes:
            streaming = client.audio.speech.with_streaming_response
            asked = {"model": "kokoro", "voice": "af_heart", "input": sentence, "response_format": name}
            async with streaming.create(**asked) as response:
                return b"".join([chunk async for chunk in response.iter_bytes(2048)])

        files = await asyncio.gather(*(spoken(sentence, "wav") for sentence in SENTENCES))
        samples = [await spoken(sentence, "pcm") for sentence in SENTENCES]
    for file, wanted in zip(files, samples, strict=True):
        with wave.open(io.BytesIO(file)) as reader:
            assert (reader.getframerate(), reader.getsampwidth(), reader.getnchannels()) == (24_000, 2, 1)
            assert reader.readframes(reader.getnframes()) == wanted
    assert len({*samples}) == len(SENTENCES)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_home_assistants_own_integration_speaks(tmp_path: Path) -> None:
    """Home Assistant's wheel needs a newer Python to be installed; four files of it are run here, the rest is stubs."""
    download = ["download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.14", "-d", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", *download, "homeassistant==2026.2.3"], check=True, timeout=300)
    [wheel] = tmp_path.glob("homeassistant-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("homeassistant/components/wyoming/")]
        archive.extractall(tmp_path, names)
    script = Path(__file__).parent / "agents" / "home_assistant_speaks.py"
    with server("--engine", "espeak", "--wyoming-port", "0") as started:
        port = started.logs(r"answered on tcp://127\.0\.0\.1:(\d+)")[1]
        done = subprocess.run(
            [sys.executable, script, str(tmp_path), "127.0.0.1", port], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
        assert {"en-US", "en-GB", "zh-CN"} <= found["voices"].keys() and "bf_emma" in found["voices"]["en-GB"]
        assert sum(map(len, found["voices"].values())) == 54
        assert found["same"] and found["whole"] > 4 * 48_000, "spoken alike whole and in pieces"
        assert started.get("/status")[1]["contexts"] == 0
