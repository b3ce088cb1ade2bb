"""IPA as dictionaries write it, in the model's alphabet."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text.espeak import misaki
from text.espeak.ipa import ALPHABET, UnknownSymbols, from_ipa


@pytest.mark.parametrize(
    ("language", "ipa", "phonemes"),
    [
        ("en-us", "/təˈmeɪtoʊ/", "təmˈAtO"),
        ("en-us", "[təˈmɑː.təʊ]", "təmˈɑtO"),
        ("en-us", "ˈstrɛŋθ", "stɹˈɛŋθ"),
        ("en-us", "bed", "bɛd"),
        ("en-us", "ˈt͡ʃɝtʃ", "ʧˈɜɹʧ"),
        ("en-us", "ˈlɪtl̩", "lˈɪtᵊl"),
        ("en-us", "lɒx", "lɑk"),
        ("en-us", "tʰeɪkˠ", "tAk"),
        ("en-us", "kˈOkəɹO", "kˈOkəɹO"),
        ("en-us", "nu ˈjɔɹk", "nu jˈɔɹk"),
        ("en-gb", "təˈmɑːtəʊ", "təmˈɑːtQ"),
        ("en-gb", "goʊ beə", "ɡQ bɛː"),
        ("fr-fr", "bɔ̃ʒuʁ", "bɔ\u0303ʒuʁ"),
        ("es", "ˈtʃuro", "ʧˈuro"),
        ("it", "ˈpittsa", "pˈitʦa"),
        ("cmn", "ni↓xau↓", "ni↓xau↓"),
    ],
)
def test_sounds_are_the_models(language: str, ipa: str, phonemes: str) -> None:
    assert from_ipa(ipa, language) == phonemes


@pytest.mark.parametrize(("ipa", "symbols"), [("k5t%5", "5%"), ("b(ə)", "()"), ("", ""), ("/ ˈ/", ""), ("ʰ", "")])
def test_what_has_no_sound_is_named(ipa: str, symbols: str) -> None:
    with pytest.raises(UnknownSymbols) as refusal:
        from_ipa(ipa, "en-us")
    assert refusal.value.symbols == symbols


@settings(max_examples=120, deadline=None)
@given(
    st.text("təˈmeɪtoʊ͡ʃdʒɝ̩ː./ gaɑ5ç̃œ", max_size=12) | st.text(max_size=4), st.sampled_from(["en-us", "en-gb", "fr-fr"])
)
def test_any_text_is_sounds_of_the_alphabet_or_refused(ipa: str, language: str) -> None:
    en = misaki.english()
    alphabet = {"en-us": en.US_VOCAB | {"T"}, "en-gb": en.GB_VOCAB}.get(language, ALPHABET)
    try:
        phonemes = from_ipa(ipa, language)
    except UnknownSymbols:
        return
    assert phonemes.strip() == phonemes != ""
    assert set(phonemes) <= alphabet | {" "}
