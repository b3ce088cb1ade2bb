"""Texts, voices and signs as the module makes them; short texts: spoken before, or said by espeak-ng at first."""

import io
import re
import socket
import string
from pathlib import Path
from queue import Queue
from typing import Any
from unittest.mock import Mock

import pytest

from shm.audio import SAMPLE_RATE
from supervisor.speechd import speaking as speaking_module
from supervisor.speechd.at_once import Vocabulary, named
from supervisor.speechd.config import ModuleConfig
from supervisor.speechd.document import Mark, SpokenText, Text, marked_up
from supervisor.speechd.manner import Manner, VoiceList
from supervisor.speechd.speaking import Speaking
from supervisor.speechd.wire import Wire, escaped
from tests.supervisor.speechd.dispatcher import Scripted, Sender, dispatcher, scripted
from tests.system.server import Server, server

SILENCE, SOUND = bytes(SAMPLE_RATE), b"\x40\x40" * 6000


def make(sender: Sender, _: dict[str, Any]) -> None:
    sender.clip(SILENCE + SOUND + SILENCE)


def text_of(asked: dict[str, Any]) -> str:
    return re.sub("<[^>]*>", "", asked["input"])


@pytest.mark.parametrize(
    ("command", "message", "said"),
    [
        ("CHAR", "b", "b"),
        ("KEY", "Return", "Return"),
        ("SPEAK", '<speak>Save file<mark name="m"/></speak>', "Save file"),
    ],
)
def test_what_was_said_once_has_the_servers_voice_from_then_on(
    tmp_path: Path, command: str, message: str, said: str
) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        server.make = make
        by_espeak = module.spoken(command, message)
        made = text_of(server.made.get(timeout=60))
        if made == "a":  # the first that is made ahead, begun before the message came
            made = text_of(server.made.get(timeout=60))
        assert made == said, "what was missed comes next"
        server.make = lambda sender, asked: sender.refuse(429, "listeners_first")
        server.made.get(timeout=60)
        audio, *marks = module.spoken(command, message)[1:-1]
        count, rate = map(int, audio.split()[1:])
        assert (rate, SAMPLE_RATE * 0.25 <= count <= SAMPLE_RATE * 0.35) == (SAMPLE_RATE, True), "without its silence"
        assert marks == [each for each in by_espeak if each.startswith("mark")]
        assert not server.asked


def test_letters_digits_and_common_words_are_made_ahead_for_each_manner(tmp_path: Path) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        server.make = make
        for rate in (0, 50):

            def made(speed: float = 2.0 ** (rate / 50)) -> str:
                while (asked := server.made.get(timeout=60))["speed"] != speed:
                    pass
                return text_of(asked)

            module.set(rate=rate)
            module.spoken("CHAR", "q")
            assert {made() for _ in range(36)} == set(string.ascii_lowercase + string.digits)
        assert [made() for _ in range(3)] == ["space", "return", "tab"]
        assert module.spoken("KEY", "space")[1].split()[2] == str(SAMPLE_RATE)


def test_what_a_new_manner_needs_comes_before_what_an_earlier_one_did() -> None:
    asked: Queue[str] = Queue()
    server = Mock(whole=lambda _, fields: asked.put(fields["input"]) or b"")
    busy = True
    vocabulary = Vocabulary(server, lambda: busy)
    for words in ("ab", "cb"):
        vocabulary.expect([(("input", each),) for each in words])
    busy = False
    assert [asked.get(timeout=60) for _ in range(3)] == ["c", "b", "a"]
    vocabulary.stop_making()


@pytest.mark.parametrize("settings", [{"punctuation_mode": "all", "language": "es"}, {"cap_let_recogn": "spell"}])
def test_signs_and_capitals_that_are_named_stay_with_espeak(tmp_path: Path, settings: dict[str, str]) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        server.make = make
        module.set(**settings)
        for message in (",", "B"):
            module.spoken("CHAR", message)
        module.set(punctuation_mode="none", cap_let_recogn="none", language="en-US")
        module.spoken("CHAR", "z")
        made = [text_of(server.made.get(timeout=60)) for _ in range(36)]
        assert "," not in made and "B" not in made


def test_a_server_that_is_gone_is_asked_when_somebody_speaks_again(tmp_path: Path) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        lost: list[Scripted] = []

        def cut(sender: Sender, _: dict[str, Any]) -> None:
            lost.append(server)
            raise ConnectionError

        server.make = cut
        module.spoken("KEY", "space")
        server.made.get(timeout=60)
        server.make = make
        module.spoken("KEY", "space")
        assert text_of(server.made.get(timeout=60)) == "space"
        assert len(lost) == 1


def test_a_document_comes_back_as_it_was() -> None:
    ssml = '<speak>a &amp; b <mark name="x&quot;y"/><prosody rate="80%">c</prosody> &lt;</speak>'
    document = SpokenText.of(ssml)
    assert document.ssml(marked_up) == ssml
    assert document.ssml(marked_up, tags=False).count("prosody") == 0
    assert (document.text, document.marks) == ("a & b c <", ['x"y'])


@pytest.mark.parametrize(
    "ssml", ['<speak>a <b>& <mark name="m"/>c', "<!DOCTYPE x><speak>a <mark name='m'/>c</speak>", '<mark name="m"/>c']
)
def test_no_fault_of_a_client_silences_its_text(ssml: str) -> None:
    document = SpokenText.of(ssml)
    assert document.marks == ["m"]
    assert document.text.endswith("c") and "mark" not in document.text


def test_the_rest_after_a_mark() -> None:
    document = SpokenText.of('<speak>a<mark name="1"/><b>b</b><mark name="2"/></speak>')
    assert document.after(0).parts == (Text("a"), Mark("1"), Text("b"), Mark("2"))
    assert document.after(1).parts == (Text("b"), Mark("2"))
    assert document.after(2).parts == ()


def test_plain_text_has_single_spaces_and_places_of_marks() -> None:
    document = SpokenText.of('<speak>  One\n two.<mark name="a"/>  Three <mark name="b"/> four</speak>')
    text, marks = document.plain()
    assert text == "One two. Three four"
    assert marks == [(8, "a"), (15, "b")]


@pytest.mark.parametrize(
    ("manner", "voice"),
    [
        (Manner(), "am_michael"),
        (Manner(voice_type="female2"), "af_bella"),
        (Manner(voice_type="child_female"), "af_heart"),
        (Manner(language="en-GB", voice_type="female1"), "bf_emma"),
        (Manner(language="fr", voice_type="male1"), "ff_siwis"),
        (Manner(language="pt_BR", voice_type="female9"), "pf_dora"),
        (Manner(language="de"), None),
        (Manner(language="de", voice="AF_SKY"), "af_sky"),
        (Manner(language="en", voice="nobody"), "am_michael"),
    ],
)
def test_voices(manner: Manner, voice: str | None) -> None:
    assert VoiceList().chosen(manner) == voice


def test_the_users_voice_is_that_of_clients_that_choose_none() -> None:
    voices = VoiceList(preferred="bf_emma")
    assert voices.chosen(Manner(language="en-GB")) == "bf_emma"
    assert voices.chosen(Manner(language="en-GB", voice_type="male2")) == "bm_fable"
    assert voices.chosen(Manner(language="es")) == "em_alex"


def test_signs_by_level() -> None:
    text = "Mail a@b.c (now)!"
    assert named(text, "none") == text
    assert named(text, "some") == "Mail a at b.c (now)!"
    assert named(text, "most") == "Mail a at b.c  left paren now right paren !"
    assert named(text, "all") == "Mail a at b dot c  left paren now right paren  exclamation mark!"
    assert named("An Apple", "none", capitals=True) == "capital An capital Apple"


def test_numbers_of_a_manner() -> None:
    assert (Manner(rate=100).speed, Manner(rate=50).speed, Manner(rate=-100).speed) == (4.0, 2.0, 0.25)
    assert (Manner(pitch=-100).semitones, Manner(pitch=50).semitones) == (-6.0, 3.0)
    assert (Manner(pitch_range=-100).range_factor, Manner(pitch_range=100).range_factor) == (0.5, 2.0)
    assert (Manner(pitch=-100).espeak_pitch, Manner().espeak_pitch, Manner(pitch=100).espeak_pitch) == (0, 50, 99)


def test_escaped_audio_has_no_line_end() -> None:
    assert escaped(b"a\n}b") == b"a}\x2a}\x5db"


def test_a_server_that_is_silent_is_asked_for_its_voices_once_for_all_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its socket takes connections while the front is being restarted: each key would wait a second."""
    monkeypatch.setattr(speaking_module, "_LIST_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, Path("/dev/null").open("wb") as answers:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        speaking = Speaking(Wire(io.BytesIO(), answers), ModuleConfig(url))
        for _ in range(3):
            assert ("af_heart", "en-US") in speaking.voices().listed()
        silent.settimeout(0)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


def counted(target: Server, name: str) -> int:
    found = re.search(rf"^kokoro_live_{name} (\S+)$", target.get("/metrics")[1], re.MULTILINE)
    return int(float(found[1])) if found else 0


def test_a_short_utterance_is_made_once(tmp_path: Path) -> None:
    """A repeated utterance comes from the memory, whatever its marks' names and loudness: a screen reader repeats the
    names of menus all day."""
    with (
        server("--engine", "espeak") as target,
        dispatcher(tmp_path, ModuleConfig(f"http://127.0.0.1:{target.port}", instant_words=0)) as module,
    ):
        spoken = []
        for number, volume in enumerate((100, 100, 50)):
            assert module.set(volume=volume) == "203 OK SETTINGS RECEIVED"
            before = len(module.audio)
            module.send("SPEAK", f'<speak>Yes <mark name="__spd_{number}"/>indeed</speak>', ".")
            heard = module.until("702 END")
            assert f"700-__spd_{number}" in heard
            spoken.append(len(module.audio) - before)
            assert (counted(target, "cache_misses_total"), counted(target, "cache_hits_total")) == (1, number)
        assert len(set(spoken)) == 1
