"""Settings of reading and of the cache reach the front of a real server, and do there what they say."""

import signal
from pathlib import Path

import numpy as np

from tests.system.oracle import miniature_arguments
from tests.system.server import Server, awaited, server

PHRASE = "Good morning."
PAUSE = 2.0


def was_cached(of: Server, text: str) -> bool:
    response = of.speak(input=text, response_format="pcm")
    response.read()
    return response.getheader("X-Cache") == "hit"


def longest_silence(audio: bytes) -> float:
    """Seconds of zeros in a row."""
    sounds = np.flatnonzero(np.frombuffer(audio, "<i2"))
    return float(np.diff(sounds).max()) / 24_000


def configured(of: Server, config: Path, settings: str) -> None:
    """Give it other settings, and wait until the front that had the former ones is gone."""
    config.write_text(settings)
    start = len(of.log)
    of.process.send_signal(signal.SIGHUP)
    of.logs(r"front\[\d+\] has finished", start)


def test_flags_of_reading_and_of_the_cache_are_obeyed(tmp_path: Path) -> None:
    """1. a phrase is spoken ahead; 2. a dash pauses; 3. an emoji has a name; 4. a foreign word is read as the text's
    language has it; 5. another front finds the phrase in the folder."""
    config = tmp_path / "config.toml"
    config.write_text(f'prewarm = ["{PHRASE}"]\n')
    kept = ("--cache-bytes", "10000000", "--disk-cache", str(tmp_path / "spoken"), "--config", str(config))
    reading = ("--pauses", f"dash={PAUSE:g}", "--normalize-emoji-names", "--no-mixed-languages")
    with server(*miniature_arguments(tmp_path), *kept, *reading) as started:
        awaited(lambda: started.get("/status")[1]["cache"]["segments"])  # the phrase is being spoken
        assert was_cached(started, PHRASE)
        heard = started.hear(input="We waited for an hour — and then for another one.", response_format="pcm")
        assert longest_silence(heard) >= PAUSE * 0.9
        _, named = started.post("/dev/phonemize", {"input": "It is nice \N{ROCKET}"})
        assert "ɹˈɑkət" in named["phonemes"]
        _, read = started.post("/dev/phonemize", {"input": "El software es nuevo.", "lang": "es"})
        assert read["phonemes"] and "sˈoftwˌɛɾ" not in read["phonemes"]
        configured(started, config, "")
        assert was_cached(started, PHRASE)
