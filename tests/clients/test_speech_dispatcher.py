"""Debian's Speech Dispatcher with `spd-say`: our module, a real server, and a sound card that records."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from shm.audio import SAMPLE_RATE, Pcm
from tests.clients.desktop import Desktop
from tests.ports import lasting_port
from tests.system.server import DEADLINE, Server, server
from tests.system.sound_card import SoundCard, audible, needs_pulseaudio, sound_card

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    needs_pulseaudio,
    pytest.mark.skipif(
        not (shutil.which("speech-dispatcher") and shutil.which("spd-say")),
        reason="Speech Dispatcher isn't installed (apt-get install speech-dispatcher)",
    ),
]

TEXT = "The kettle sang a long while. Nobody heard it but the old grey cat. Then it was quiet again."


@pytest.fixture(scope="module")
def card() -> Iterator[SoundCard]:
    with sound_card() as found:
        yield found


@pytest.fixture(scope="module")
def speaking() -> Iterator[Server]:
    with server("--engine", "espeak") as found:
        yield found


@pytest.fixture(scope="module")
def desktop(card: SoundCard, speaking: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    found = Desktop(tmp_path_factory.mktemp("desktop"), card, f"http://127.0.0.1:{speaking.port}")
    yield found
    found.close()


def heard(card: SoundCard, say) -> Pcm:  # type: ignore[no-untyped-def]
    """All samples of what is said, but for those that are 0.

    Speech Dispatcher plays with a buffer of 10 ms. On a busy machine it comes late: there are gaps, and PulseAudio
    drops what came too late for its place.
    """
    recording = card.record()
    say()
    samples = recording.quiet()
    recording.close()
    return samples[samples != 0]


def seconds(samples: Pcm) -> float:
    return len(samples) / SAMPLE_RATE


def made(speaking: Server, text: str = TEXT) -> Pcm:
    """The text's samples as the server makes them, but for those that are 0."""
    fields = {"model": "kokoro", "input": text, "voice": "am_michael", "response_format": "pcm"}
    samples = np.frombuffer(speaking.hear(**fields), np.int16)
    return samples[samples != 0]


def requests(speaking: Server) -> int:
    metrics = speaking.get("/metrics")[1]
    lines = (line for line in metrics.splitlines() if line.startswith("kokoro_live_requests_total{"))
    return sum(int(float(line.split()[-1])) for line in lines if "/v1/audio/speech" in line)


def test_the_module_is_found_and_lists_the_servers_voices(desktop: Desktop) -> None:
    assert "kokoro" in desktop.say("-O", wait=False).split()
    listed = desktop.say("-L", wait=False)
    assert "af_heart" in listed and "zm_yunyang" in listed


def test_a_text_is_heard_as_the_server_makes_it(desktop: Desktop, speaking: Server) -> None:
    """The server's own samples, at their rate and loudness, and none twice."""
    wanted = made(speaking)
    before = requests(speaking)
    found = heard(desktop.card, lambda: desktop.say(TEXT))
    assert requests(speaking) == before + 1
    assert np.array_equal(found[:100], wanted[:100])
    assert abs(found).max() <= abs(wanted).max()
    assert 0.6 * len(wanted) < len(found) <= len(wanted)


def test_rate_and_pitch(desktop: Desktop) -> None:
    plain, fast, high = (
        seconds(heard(desktop.card, lambda options=options: desktop.say(*options, TEXT)))  # type: ignore[misc]
        for options in ((), ("-r", "50"), ("-p", "60"))
    )
    # A busy machine drops up to 40 % of each; tests/supervisor/speechd has the exact speeds.
    assert 0.25 * plain < fast < 0.85 * plain
    assert 0.6 * plain < high < 1.7 * plain


@pytest.mark.parametrize("arguments", [("-c", "A"), ("-k", "ctrl_a"), ("Yes indeed",), ("-I", "bell")])
def test_characters_keys_and_short_texts_need_no_server(
    desktop: Desktop, speaking: Server, arguments: tuple[str, ...]
) -> None:
    stopped = [psutil.Process(speaking.process.pid), *psutil.Process(speaking.process.pid).children(recursive=True)]
    for process in stopped:
        process.suspend()
    try:
        assert seconds(heard(desktop.card, lambda: desktop.say(*arguments))) > 0.1
    finally:
        for process in stopped:
            process.resume()


def test_marks_come_to_the_client_in_order(desktop: Desktop) -> None:
    marked = '<speak>The kettle <mark name="here"/>sang a long while. <mark name="there"/>It was quiet.</speak>'
    with desktop.client() as client:
        client.send("SET SELF SSML_MODE ON", "SPEAK", marked, ".")
        events = client.until("702 END")
    assert [line[4:] for line in events if line in ("700-here", "700-there")] == ["here", "there"]
    assert events.index("701 BEGIN") < events.index("700 INDEX MARK") < events.index("702 END")


def test_a_stop_is_heard_at_once(desktop: Desktop) -> None:
    recording = desktop.card.record()
    desktop.say(" ".join([TEXT] * 5), wait=False)
    recording.wait_for(lambda samples: len(audible(samples)) > SAMPLE_RATE // 4)
    desktop.say("-S", wait=False)
    at = len(recording)
    samples = recording.quiet()
    recording.close()
    one = seconds(heard(desktop.card, lambda: desktop.say(TEXT)))
    assert one > 2 and audible(samples)[-1] - at < one * SAMPLE_RATE, "more than three texts were still to come"


def test_a_pause_goes_on_at_the_sentence(desktop: Desktop, speaking: Server) -> None:
    """Nothing of the text is lost: both halves together are the text, and at most a sentence more."""
    text = " ".join([TEXT] * 4)  # however late the pause is, much is left
    whole = len(made(speaking, text))
    recording = desktop.card.record()
    with desktop.client() as client:
        client.send("SPEAK", text, ".")
        client.until("701 BEGIN")
        recording.wait_for(lambda samples: np.count_nonzero(samples) > 0.15 * whole)
        client.send("PAUSE SELF")
        client.until("703 CANCELED")
        client.send("RESUME SELF")
        client.until("702 END")
    samples = recording.quiet()
    recording.close()
    assert 0.6 * whole < np.count_nonzero(samples) < 1.2 * whole


def test_a_server_that_is_killed_in_mid_utterance_and_stays_away(card: SoundCard, tmp_path: Path) -> None:
    """The rest is heard from espeak-ng, the utterance ends, and so do all later ones."""
    with server("--engine", "espeak") as own:
        desktop = Desktop(tmp_path, card, f"http://127.0.0.1:{own.port}")
        try:
            recording = card.record()
            saying = subprocess.Popen(["spd-say", "--wait", " ".join([TEXT] * 2)], env=desktop.environment)
            recording.wait_for(lambda samples: len(audible(samples)) > SAMPLE_RATE // 2)
            own.process.kill()
            assert saying.wait(DEADLINE) == 0
            recording.close()
            assert seconds(heard(card, lambda: desktop.say(TEXT))) > 2
            assert desktop.log.read_text().count("espeak-ng speaks until it does") == 1
        finally:
            desktop.close()


def test_without_a_server_espeak_is_heard(card: SoundCard, tmp_path: Path) -> None:
    desktop = Desktop(tmp_path, card, f"http://127.0.0.1:{lasting_port()}")
    try:
        assert seconds(heard(card, lambda: desktop.say(TEXT))) > 2
        assert desktop.log.read_text().count("espeak-ng speaks until it does") == 1
    finally:
        desktop.close()
