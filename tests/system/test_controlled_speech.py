"""Speech controlled from its text and by settings, on a whole server: pauses, phonemes, a lexicon, words' times."""

import base64
import json
import signal
from pathlib import Path

import numpy as np
import pytest

from shm.audio import SAMPLE_RATE
from tests.miniature import token_at, vocabulary
from tests.system.conftest import CommonServer
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, awaited, server


def spoken(started: Server, **fields: object) -> np.ndarray:
    return np.frombuffer(started.hear(response_format="pcm", **fields), "<i2")


def phonemes_in(samples: np.ndarray) -> str:
    """The phonemes of which a sample is there, in order, each once where it follows itself."""
    names = {number: phoneme for phoneme, number in vocabulary.items()}
    loud = token_at(samples[np.abs(samples.astype(int)) > 64])
    return "".join(names.get(int(token), "") for token in loud[np.flatnonzero(np.diff(loud, prepend=-1))])


def longest_silence(samples: np.ndarray) -> float:
    sound = np.flatnonzero(np.abs(samples.astype(int)) > 64)
    return float(np.diff(sound).max()) / SAMPLE_RATE


def test_a_pause_lasts_as_long_as_the_text_says(miniature: Server) -> None:
    text = "Wait for it. [pause:1.5s] Now it comes, as it was said."
    assert longest_silence(spoken(miniature, input=text, markup="tags")) == pytest.approx(1.5, abs=0.05)
    assert longest_silence(spoken(miniature, input="Wait for it. Now it comes, as it was said.")) < 0.5


def test_ssml_is_read_and_what_is_wrong_with_it_is_said(miniature: Server) -> None:
    ssml = '<speak>Wait for it. <break time="900ms"/> Now it comes.</speak>'
    assert longest_silence(spoken(miniature, input=ssml, markup="ssml")) == pytest.approx(0.9, abs=0.05)
    response = miniature.speak(input="<speak>Wait <break/>", markup="ssml")
    error = json.loads(response.read())["error"]
    assert (response.status, error["code"], error["param"]) == (400, "invalid_markup", "input")
    assert "line 1" in error["message"]


def test_phonemes_can_be_shown_and_spoken_in_place_of_the_text(miniature: Server) -> None:
    status, shown = miniature.post("/dev/phonemize", {"input": "Hello, world."})
    assert status == 200
    assert shown["tokens"] == [0, *(vocabulary[phoneme] for phoneme in shown["phonemes"]), 0]
    assert [word["word"] for word in shown["words"]] == ["Hello,", "world."]
    by_phonemes = spoken(miniature, phonemes=shown["phonemes"])
    assert np.array_equal(by_phonemes, spoken(miniature, input="Hello, world."))


def test_a_pronunciation_in_the_text_is_the_one_that_is_heard(miniature: Server) -> None:
    assert "təmˈɑtO" in phonemes_in(spoken(miniature, input="A [tomato](/təmˈɑtoʊ/) a day.", markup="tags"))
    assert "təmˈɑtO" not in phonemes_in(spoken(miniature, input="A tomato a day."))


def test_the_user_s_lexicon_is_followed_as_it_changes(miniature: Server, common: CommonServer) -> None:
    before = phonemes_in(spoken(miniature, input="Ask Zyxel about it."))
    common.lexicon.write_text("Zyxel\t/kˈæt/\n")
    after = phonemes_in(spoken(miniature, input="Ask Zyxel about it."))
    assert before != after
    assert "kˈæt" in after


def test_words_have_their_times_in_the_audio_that_was_sent(espeak: Server) -> None:
    response = espeak.speak(
        input="One hundred cars. $42 today!", response_format="pcm", stream=False, timestamps="word", speed=0.8
    )
    clip = json.loads(response.read())
    audio = np.frombuffer(base64.b64decode(clip["audio"]), "<i2").astype(float)
    words = clip["words"]
    assert [word["word"] for word in words] == ["One", "hundred", "cars.", "$42", "today!"]
    assert words[3]["said"] == "forty-two dollars"
    assert clip["duration"] == pytest.approx(len(audio) / SAMPLE_RATE, abs=0.001)
    for word, following in zip(words, [*words[1:], None], strict=True):
        assert 0 <= word["start"] < word["end"] <= (following["start"] if following else clip["duration"]) + 1e-6
        part = audio[int(word["start"] * SAMPLE_RATE) : int(word["end"] * SAMPLE_RATE)]
        assert np.sqrt(np.mean(part**2)) > 300, f"{word['word']} is silent"
    between = audio[int(words[2]["end"] * SAMPLE_RATE) + 1200 : int(words[3]["start"] * SAMPLE_RATE) - 1200]
    assert np.abs(between).max() < 600, "between two sentences nothing is said"


def test_an_engine_that_reads_text_takes_no_phonemes(espeak: Server) -> None:
    response = espeak.speak(phonemes="həlˈO")
    error = json.loads(response.read())["error"]
    assert (response.status, error["code"]) == (400, "phonemes_unavailable")


PHRASE = "Good morning."
PAUSE = 2.0


def was_cached(of: Server, text: str) -> bool:
    response = of.speak(input=text, response_format="pcm")
    response.read()
    return response.getheader("X-Cache") == "hit"


def silence_of(audio: bytes) -> float:
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
        assert silence_of(heard) >= PAUSE * 0.9
        _, named = started.post("/dev/phonemize", {"input": "It is nice \N{ROCKET}"})
        assert "ɹˈɑkət" in named["phonemes"]
        _, read = started.post("/dev/phonemize", {"input": "El software es nuevo.", "lang": "es"})
        assert read["phonemes"] and "sˈoftwˌɛɾ" not in read["phonemes"]
        configured(started, config, "")
        assert was_cached(started, PHRASE)
