"""The module as Speech Dispatcher sees it: each command's answer, and what becomes of an utterance."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from supervisor.speechd.config import ModuleConfig
from tests.ports import lasting_port
from tests.supervisor.speechd.dispatcher import (
    Answer,
    Dispatcher,
    Scripted,
    Sender,
    dispatcher,
    scripted,
    summed,
    whole,
)

SECOND = b"\x01\x02" * 24_000
SETTINGS: dict[str, object] = {
    "pitch": 0,
    "pitch_range": 0,
    "rate": 0,
    "volume": 100,
    "punctuation_mode": "none",
    "spelling_mode": "off",
    "cap_let_recogn": "none",
    "voice": "male1",
    "language": "c",
    "synthesis_voice": "NULL",
}
"""The settings that Speech Dispatcher 0.11.4 sends for a client that has set nothing."""

LONG = "This has more words than espeak-ng speaks at once"


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with scripted() as found:
        yield found


@pytest.fixture(scope="module")
def shared(server: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with dispatcher(tmp_path_factory.mktemp("module"), ModuleConfig(server.url)) as found:
        yield found


@pytest.fixture
def module(shared: Dispatcher, server: Scripted) -> Dispatcher:
    assert shared.set(**SETTINGS) == "203 OK SETTINGS RECEIVED"
    server.answer = whole()
    server.asked.clear()
    return shared


def ssml(text: str) -> str:
    return f"<speak>{text}</speak>"


def until_gone(pcm: bytes, left: threading.Event | None = None) -> Answer:
    """An answer that has some audio and no end; `left` is set when the client has left."""

    def answer(sender: Sender, _: dict[str, Any]) -> None:
        sender.audio(pcm)
        if sender.gone() and left:
            left.set()

    return answer


def test_settings_of_audio_and_log(module: Dispatcher) -> None:
    module.send("AUDIO", "audio_output_method=server", ".")
    assert module.until("2.. OK AUDIO.*") == ["207 OK RECEIVING AUDIO SETTINGS", "203 OK AUDIO INITIALIZED"]
    module.send("AUDIO", "audio_output_method=pulse", "audio_pulse_device=default", ".")
    assert module.until("300 .*")[-1] == "300 MODULE ERROR"
    module.send("LOGLEVEL", "log_level=5", ".")
    assert module.until("203 .*")[-1] == "203 OK LOG LEVEL SET"
    module.send("DEBUG ON /tmp/x", "DEBUG OFF")
    assert module.until("200 OK DEBUGGING OFF") == ["200 OK DEBUGGING ON", "200 OK DEBUGGING OFF"]


def test_voices_are_the_servers(module: Dispatcher) -> None:
    module.send("LIST VOICES")
    assert module.until("200 OK VOICE LIST SENT") == [
        "200-af_heart\ten-US\tnone",
        "200-am_michael\ten-US\tnone",
        "200-bf_emma\ten-GB\tnone",
        "200-ef_dora\tes\tnone",
        "200 OK VOICE LIST SENT",
    ]


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        (["HELLO"], ["300 ERR UNKNOWN COMMAND"]),
        ([""], ["300 ERR UNKNOWN COMMAND"]),
        (["SET", "rate=fast", "."], ["203 OK RECEIVING SETTINGS", "303 ERROR INVALID PARAMETER OR VALUE"]),
        (["SET", "rate=101", "."], ["203 OK RECEIVING SETTINGS", "303 ERROR INVALID PARAMETER OR VALUE"]),
        (["SET", "colour=red", "."], ["203 OK RECEIVING SETTINGS", "303 ERROR INVALID PARAMETER OR VALUE"]),
        (["SET", "rate", "."], ["203 OK RECEIVING SETTINGS", "302 ERROR BAD SYNTAX"]),
        (["LOGLEVEL", "x", "."], ["207 OK RECEIVING LOGLEVEL SETTINGS", "302 ERROR BAD SYNTAX"]),
        (["AUDIO", "x", "."], ["207 OK RECEIVING AUDIO SETTINGS", "302 ERROR BAD SYNTAX"]),
        (["SPEAK", "."], ["202 OK RECEIVING MESSAGE", "301 ERROR CANT SPEAK"]),
        (["CHAR", "a", "b", "."], ["202 OK RECEIVING MESSAGE", "305 DATA MORE THAN ONE LINE"]),
    ],
)
def test_bad_input_is_answered(module: Dispatcher, lines: list[str], answers: list[str]) -> None:
    module.send(*lines)
    assert module.until(answers[-1]) == answers
    assert module.set(rate=10) == "203 OK SETTINGS RECEIVED"


def test_stop_and_pause_without_speech_have_no_answer(module: Dispatcher) -> None:
    module.send("STOP", "PAUSE", "LIST VOICES")
    assert module.until("200 OK VOICE LIST SENT")[0].startswith("200-")


def test_an_utterance_with_its_marks_at_their_samples(module: Dispatcher, server: Scripted) -> None:
    def answer(sender: Sender, _: dict[str, Any]) -> None:
        sender.marks(a=0.0, b=0.5, c=0.5)
        sender.audio(SECOND)
        sender.marks(end=1.0)
        sender.done()

    server.answer = answer
    marks = '<mark name="a"/>One two three<mark name="b"/><mark name="c"/> four five.<mark name="end"/>'
    assert module.spoken("SPEAK", ssml(marks)) == [
        "701 BEGIN",
        "mark a",
        "audio 12000 24000",
        "mark b",
        "mark c",
        "audio 12000 24000",
        "mark end",
        "702 END",
    ]
    assert module.audio.endswith(SECOND)
    (asked,) = server.asked
    assert (asked["input"], asked["markup"], asked["timestamps"]) == (ssml(marks), "ssml", "word")


def test_every_byte_of_audio_arrives(module: Dispatcher, server: Scripted) -> None:
    """Line ends and braces too, which are escaped."""
    module.audio = b""
    module.spoken("SPEAK", ssml(LONG))
    assert module.audio == bytes(range(256)) * 38


def test_dots_at_the_beginning_of_lines_are_undone(module: Dispatcher, server: Scripted) -> None:
    module.spoken("SPEAK", "<speak>one two three four", "..five", ".. six</speak>")
    assert server.asked[0]["input"] == ssml("one two three four\n.five\n. six")


def test_settings_reach_the_server(module: Dispatcher, server: Scripted) -> None:
    module.set(rate=50, volume=0, voice="female1", language="en-GB")
    module.spoken("SPEAK", ssml(LONG))
    module.set(rate=-100, volume=-100, synthesis_voice="af_heart", pitch=100, pitch_range=100)
    module.spoken("SPEAK", ssml(LONG))
    names = ("voice", "speed", "volume_multiplier", "pitch", "pitch_range")
    fields = [tuple(asked[name] for name in names) for asked in server.asked]
    assert fields == [("bf_emma", 2.0, 0.5, 0.0, 1.0), ("af_heart", 0.25, 0.0, 6.0, 2.0)]


def test_spelling_and_punctuation_reach_the_server(module: Dispatcher, server: Scripted) -> None:
    module.set(spelling_mode="on")
    module.spoken("SPEAK", ssml("abc def ghi jkl"))
    module.set(spelling_mode="off", punctuation_mode="all")
    module.spoken("SPEAK", ssml("It is f(x), I say."))
    spelled, named = (asked["input"] for asked in server.asked)
    assert spelled == ssml('<say-as interpret-as="characters">abc def ghi jkl</say-as>')
    assert named == ssml("It is f left paren x right paren  comma, I say dot.")


@pytest.mark.parametrize(
    ("command", "message", "settings"),
    [
        ("CHAR", "A", {}),
        ("CHAR", "space", {}),
        ("CHAR", ",", {}),
        ("KEY", "control_a", {}),
        ("SOUND_ICON", "bell", {}),
        ("SPEAK", ssml("Up to three"), {}),
        ("SPEAK", ssml("Ein Satz in einer Sprache ohne Stimme."), {"language": "de"}),
        ("SPEAK", ssml("Una frase, con (signos)."), {"language": "es", "punctuation_mode": "all"}),
    ],
)
def test_espeak_speaks_at_once(
    module: Dispatcher, server: Scripted, command: str, message: str, settings: dict[str, object]
) -> None:
    module.set(**settings)
    begin, audio, end = module.spoken(command, message)
    assert (begin, end) == ("701 BEGIN", "702 END")
    assert audio.endswith(" 22050") and int(audio.split()[1]) > 2000
    assert not server.asked


def test_the_server_speaks_everything_if_the_user_says_so(server: Scripted, tmp_path: Path) -> None:
    server.answer = whole()
    server.asked.clear()
    config = ModuleConfig(server.url, voice="af_heart", instant_words=0, instant_characters=False)
    with dispatcher(tmp_path, config) as module:
        for command, message in (("CHAR", "A"), ("KEY", "control_a"), ("SPEAK", ssml("Yes"))):
            assert module.spoken(command, message)[1].endswith(" 24000")
    assert [asked["input"] for asked in server.asked] == [
        ssml('<say-as interpret-as="characters">A</say-as>'),
        ssml("control a"),
        ssml("Yes"),
    ]
    assert {asked["voice"] for asked in server.asked} == {"af_heart"}


@pytest.mark.parametrize("command", ["STOP", "PAUSE"])
def test_an_end_within_a_block(module: Dispatcher, server: Scripted, command: str) -> None:
    """After a stop, at most the block that was being written follows, and the server is told at once."""
    left = threading.Event()

    server.answer = until_gone(SECOND * 10, left)
    module.say("SPEAK", ssml(f'{LONG}<mark name="a"/> and more.'))
    module.until("audio .*")
    with module.playing_slowly():
        module.skip()
        module.send(command)
        assert left.wait(30)
    rest = summed(module.until("70[234] .*"))
    assert rest[-1] == "703 STOP"
    # Samples that were in the pipe, and at most one block more.
    assert sum(int(line.split()[1]) for line in rest[:-1]) < 24_000 / 2
    server.answer = whole()
    assert module.spoken("SPEAK", ssml(LONG))[-1] == "702 END"


def test_an_end_before_the_first_audio(module: Dispatcher, server: Scripted) -> None:
    asked = threading.Event()

    def answer(sender: Sender, _: dict[str, Any]) -> None:
        asked.set()
        sender.gone()

    server.answer = answer
    module.say("SPEAK", ssml(LONG))
    assert asked.wait(30)
    module.send("STOP")
    assert summed(module.until("703 STOP")) == ["701 BEGIN", "703 STOP"]


def test_a_second_utterance_waits_for_the_first_ones_end(module: Dispatcher, server: Scripted) -> None:
    server.answer = until_gone(SECOND)
    module.say("SPEAK", ssml(LONG))
    module.send("SPEAK", ssml("another one"), ".")
    assert "301 ERROR CANT SPEAK" in module.until("301 .*")
    module.send("STOP")
    module.until("703 STOP")


def test_a_server_that_is_lost_within_an_utterance(module: Dispatcher, server: Scripted) -> None:
    """espeak-ng goes on from the last mark."""

    def answer(sender: Sender, _: dict[str, Any]) -> None:
        sender.marks(a=0.5)
        sender.audio(SECOND)

    server.answer = answer
    text = 'One two three four.<mark name="a"/> Five six.<mark name="b"/> Seven.'
    module.say("SPEAK", ssml(text))
    heard = module.until("702 END")
    places = [heard.index(line) for line in ("701 BEGIN", "700-a", "700-b", "702 END")]
    assert places == sorted(places)
    rates = [[line.split()[2] for line in heard[x:y] if line.startswith("audio")] for x, y in pairwise(places)]
    assert set(rates[0]) == {"24000"}
    assert rates[1][0] == "24000" and rates[1][-1] == "22050"
    assert set(rates[2]) == {"22050"}


@pytest.mark.parametrize("status", [400, 429, 500, 503])
def test_a_server_that_refuses(module: Dispatcher, server: Scripted, status: int) -> None:
    server.answer = lambda sender, _: sender.refuse(status, "whatever")
    text = 'One two three <break time="soon"/>four.<mark name="a"/>'
    assert [line for line in module.spoken("SPEAK", ssml(text)) if "audio" not in line] == [
        "701 BEGIN",
        "mark a",
        "702 END",
    ]


def test_tags_that_the_server_refuses_are_left_out(module: Dispatcher, server: Scripted) -> None:
    def answer(sender: Sender, asked: dict[str, Any]) -> None:
        if "break" in asked["input"]:
            sender.refuse(400, "invalid_markup")
        else:
            whole()(sender, asked)

    server.answer = answer
    text = 'One two three <break time="soon"/>four.<mark name="a"/>'
    assert module.spoken("SPEAK", ssml(text))[1].endswith(" 24000")
    assert server.asked[-1]["input"] == ssml('One two three four.<mark name="a"/>')


def test_an_engine_that_cannot_tell_times(module: Dispatcher, server: Scripted) -> None:
    """Its marks come at the end, in order."""

    def answer(sender: Sender, asked: dict[str, Any]) -> None:
        if "timestamps" in asked:
            sender.refuse(400, "timestamps_unavailable")
        else:
            whole()(sender, asked)

    server.answer = answer
    text = 'One<mark name="a"/> two three<mark name="b"/> four.'
    assert module.spoken("SPEAK", ssml(text))[2:] == ["mark a", "mark b", "702 END"]


def test_without_a_server_espeak_speaks_and_the_log_says_so_once(tmp_path: Path) -> None:
    with dispatcher(tmp_path, ModuleConfig(f"http://127.0.0.1:{lasting_port()}")) as module:
        for _ in range(3):
            begin, audio, end = module.spoken("SPEAK", ssml(LONG))
            assert (begin, audio.split()[2], end) == ("701 BEGIN", "22050", "702 END")
        module.send("LIST VOICES")
        assert "200-af_heart\ten-US\tnone" in module.until("200 OK VOICE LIST SENT")
        module.send("QUIT")
        assert module.until("210 OK QUIT")
        assert module.wait() == 0
        module.until(r"\(end\)")
        module.logs("espeak-ng speaks until it does")
        assert sum("espeak-ng speaks until it does" in line for line in module.log) == 1


def test_the_key_comes_from_the_environment(server: Scripted, tmp_path: Path) -> None:
    keys: list[str | None] = []

    def answer(sender: Sender, asked: dict[str, Any]) -> None:
        keys.append(sender.authorization)
        whole()(sender, asked)

    server.answer = answer
    with dispatcher(tmp_path, ModuleConfig(server.url), KOKORO_LIVE_API_KEY="sk-spd") as module:
        module.spoken("SPEAK", ssml(LONG))
    assert keys == ["Bearer sk-spd"]


def test_the_end_of_the_pipe_ends_the_module_in_mid_utterance(server: Scripted, tmp_path: Path) -> None:
    left = threading.Event()
    server.answer = until_gone(SECOND * 10, left)
    with dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        module.say("SPEAK", ssml(LONG))
        module.until("audio .*")
        module.close_pipe()
        assert module.wait() == 0
    assert left.wait(30)


def test_the_module_starts_without_the_heavy_packages() -> None:
    """A screen reader waits for it at login."""
    program = "import sys; own = set(sys.modules); import supervisor.speechd.__main__; print(*sys.modules.keys() - own)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "onnxruntime", "aiohttp", "click", "urllib.request", "espeakng_loader", "ctypes"} & set(
        done.stdout.split()
    )
