"""Kokoro's voices by their names: language, gender, and the names under which other services' clients know them."""

from __future__ import annotations

import pytest

from frontend.speech.body import OPENAI_VOICES
from worker.voices.kokoro_voices import KOKORO_VOICES, OTHER_NAMES, default_among, kokoro_voice


@pytest.mark.parametrize(
    ("name", "language", "gender"),
    [
        ("af_heart", "en-us", "female"),
        ("bm_george", "en-gb", "male"),
        ("ef_dora", "es", "female"),
        ("ff_siwis", "fr-fr", "female"),
        ("hm_omega", "hi", "male"),
        ("if_sara", "it", "female"),
        ("jf_alpha", "ja", "female"),
        ("pm_alex", "pt-br", "male"),
        ("zf_xiaobei", "cmn", "female"),
        ("xf_nobody", "en-us", None),
        ("espeak", "en-us", None),
        ("french", "en-us", None),
    ],
)
def test_a_name_of_kokoros_form_tells_language_and_gender(name: str, language: str, gender: str | None) -> None:
    voice = kokoro_voice(name)
    assert (voice.name, voice.language, voice.gender) == (name, language, gender)


def test_each_name_of_other_services_is_an_alias_of_one_voice() -> None:
    aliases = [alias for voice in KOKORO_VOICES for alias in voice.aliases]
    rows = [line.split("\t") for line in OTHER_NAMES.read_text().splitlines()]
    assert {name.lower() for service, name, *_ in rows if service == "OpenAI"} == set(OPENAI_VOICES.split(", "))
    assert sorted(aliases) == sorted({name.lower() for _, name, *_ in rows}), "each once, and no other"
    assert {voice for *_, voice in rows} <= {voice.name for voice in KOKORO_VOICES}


def test_the_default_voice_is_one_that_there_is() -> None:
    assert default_among([voice.name for voice in KOKORO_VOICES]) == "af_heart"
    assert default_among(["mine", "yours"]) == "mine"
