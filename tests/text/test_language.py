"""The language that is spoken: the one asked for, else the voice's own."""

import time

import pytest

from shm.engine_info import VoiceInfo
from tests.engine_infos import voices
from text.words.language import UnknownLanguage, language_code, language_of

VOICES = (*voices("af_heart", "af_bella", "bf_emma", "ff_siwis"), VoiceInfo("beep", language="x-tone"))


@pytest.mark.parametrize(
    ("lang", "language"),
    [
        ("en", "en-us"),
        ("en-US", "en-us"),
        ("en_GB", "en-gb"),
        ("EN-gb", "en-gb"),
        ("fr", "fr-fr"),
        ("fr-fr", "fr-fr"),
        ("fr-CA", "fr-fr"),
        ("pt", "pt-br"),
        ("pt-BR", "pt-br"),
        ("zh", "cmn"),
        ("zh-cn", "cmn"),
        ("zh-Hans-CN", "cmn"),
        ("cmn", "cmn"),
        ("ja", "ja"),
        ("ja-JP", "ja"),
        ("es", "es"),
        ("es-ES", "es"),
        ("hi", "hi"),
        ("it", "it"),
        (" IT ", "it"),
        ("a", "en-us"),
        ("B", "en-gb"),
        ("e", "es"),
        ("f", "fr-fr"),
        ("h", "hi"),
        ("i", "it"),
        ("j", "ja"),
        ("p", "pt-br"),
        ("z", "cmn"),
    ],
)
def test_the_language_asked_for_comes_before_the_voices(lang: str, language: str) -> None:
    voice = "ff_siwis" if language == "en-us" else "af_heart"
    assert language_of(((voice, 1.0),), VOICES, lang) == language


@pytest.mark.parametrize("lang", ["klingon", "de", "xx-YY", "i-klingon", "a-x", "-", "nn-us\n\nx", "é" * 300])
def test_an_unknown_language_is_refused_with_the_list_of_those_known(lang: str) -> None:
    with pytest.raises(UnknownLanguage) as refusal:
        language_code(lang, VOICES)
    message = str(refusal.value)
    assert isinstance(refusal.value, ValueError)
    assert all(code in message for code in ("en-us", "en-gb", "es", "fr-fr", "hi", "it", "ja", "pt-br", "cmn", "zh"))
    assert len(message) < 400
    assert "\n" not in message


@pytest.mark.parametrize("lang", [None, "", "  "])
def test_no_language_leaves_it_to_the_voice(lang: str | None) -> None:
    assert language_of((("ff_siwis", 1.0),), VOICES, lang) == "fr-fr"


def test_the_heaviest_voice_of_a_blend_decides_and_the_first_of_equals() -> None:
    assert language_of((("af_heart", 0.3), ("ff_siwis", 0.4), ("af_bella", 0.3)), VOICES) == "fr-fr"
    assert language_of((("bf_emma", 0.5), ("ff_siwis", 0.5)), VOICES) == "en-gb"
    assert language_of((), VOICES) == "en-us"


def test_a_language_that_only_a_voice_speaks_can_be_asked_for() -> None:
    assert language_of((("beep", 1.0),), VOICES) == "x-tone"
    assert language_code("X_Tone", VOICES) == "x-tone"
    with pytest.raises(UnknownLanguage):
        language_code("x-tone")


def test_a_tag_of_a_million_subtags_is_looked_up_at_once() -> None:
    """A request's field may be as long as its body; the front's event loop looks it up."""
    took = time.process_time()
    with pytest.raises(UnknownLanguage):
        language_code("x" + "_x" * 1_000_000)
    assert language_code("en-AU" + "-x" * 1_000_000) == "en-us"
    assert time.process_time() - took < 5
