"""Our own commands against a server that wants a key."""

import os
import subprocess
import sys
import wave
from pathlib import Path

from tests.clients.keys import KEY
from tests.system.server import ROOT, Server
from tests.system.sound_card import SoundCard, audible, needs_pulseaudio


def command(port: int, folder: Path, *arguments: str, key: str | None) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("KOKORO_LIVE_")}
    variables |= {"XDG_CONFIG_HOME": str(folder), "KOKORO_LIVE_URL": f"http://127.0.0.1:{port}"}
    variables |= {"KOKORO_LIVE_API_KEY": key} if key else {}
    run = [sys.executable, "-m", "supervisor", *arguments]
    return subprocess.run(run, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)


def test_say_has_its_key_from_a_variable(keyed: Server, tmp_path: Path) -> None:
    out = tmp_path / "said.wav"
    refused = command(keyed.port, tmp_path, "say", "Hello.", "-o", str(out), key=None)
    assert refused.returncode == 1 and "KOKORO_LIVE_API_KEY" in refused.stderr
    assert not out.exists()
    done = command(keyed.port, tmp_path, "say", "Hello.", "-o", str(out), key=KEY)
    assert done.returncode == 0, done.stderr
    listed = command(keyed.port, tmp_path, "voices", key=None)
    assert listed.returncode == 0, "lists need none on this machine"
    with wave.open(str(out)) as reader:
        assert reader.getnframes() > 5_000


@needs_pulseaudio
def test_play_and_the_player_itself_have_their_keys(keyed: Server, card: SoundCard, tmp_path: Path) -> None:
    refused = command(keyed.port, tmp_path, "play", "Hello.", key=None)
    assert refused.returncode == 1 and "KOKORO_LIVE_API_KEY" in refused.stderr
    recording = card.record()
    done = command(keyed.port, tmp_path, "play", "Hello.", key=KEY)
    assert done.returncode == 0, done.stderr
    assert audible(recording.samples).size > 5_000
