"""Rule-based part-of-speech tagger, precise enough for misaki's dictionaries to choose between a word's pronunciations.

The tagger uses word lists, suffixes and the words around, in one pass from left to right, in linear time. It is less
accurate than a trained tagger in general, and tuned on words whose pronunciation depends on their part of speech
(`tests/frontend/text/homographs.tsv`).
"""

from __future__ import annotations

from collections.abc import Sequence

from frontend.text import word_classes as known
from frontend.text.heteronyms import RULES, Context
from frontend.text.tokenizer import Token

_CLOSED = (
    dict.fromkeys(known.ADVERBS, "RB")
    | dict.fromkeys(known.ADJECTIVES, "JJ")
    | dict.fromkeys(known.PAST_VERBS, "VBD")
    | dict.fromkeys(known.NUMBERS, "CD")
    | dict.fromkeys(known.PREPOSITIONS | known.SUBORDINATORS, "IN")
    | dict.fromkeys(known.PRONOUNS, "PRP")
    | dict.fromkeys(known.DETERMINERS, "DT")
    | dict.fromkeys(known.POSSESSIVES, "PRP$")
    | dict.fromkeys(known.CONJUNCTIONS, "CC")
    | dict.fromkeys(known.HAVE | known.BE | known.DO, "VB")
    | dict.fromkeys(known.MODALS, "MD")
    | {"to": "TO", "who": "WP", "what": "WP", "which": "WDT", "been": "VBN", "was": "VBD", "were": "VBD", "had": "VBD"}
)
_ADJECTIVE_ENDINGS = ("ous", "ful", "less", "able", "ible", "ive", "ical", "ary", "ish", "ic", "al")
_PAST_ALIKE = frozenset(("read", "wound", "reread"))
"""Verbs whose past tense is spelled as their present, or as another verb, with another pronunciation."""

_PAST_MARKS = frozenset(["yesterday", "ago", "last", "earlier", "once", "was", "were", "had", "did"])
_COMPLEMENTS = known.DETERMINERS | known.POSSESSIVES | known.PRONOUNS | known.NUMBERS
_ENDING = frozenset(".,;:!?)”")
_LETTERED = frozenset(
    (
        *(
            "plan",
            "grade",
            "vitamin",
            "hepatitis",
            "option",
            "team",
            "group",
            "section",
            "class",
            "type",
            "side",
            "level",
        ),
        *("cell", "gate", "exit", "row", "part", "letter", "point", "figure", "table", "appendix", "building", "block"),
        *("student", "company", "answer", "choice", "channel", "series", "influenza", "unit", "line", "platform"),
    )
)
"""Nouns that a letter may follow as a name ("plan A")."""

_VERBS_SURELY = known.BE | known.HAVE | known.MODALS | known.DO | known.PAST_VERBS | known.BASE_VERBS


class RuleTagger:
    """Adds tags to the tokens that the tokenizer left without one."""

    def tags(self, words: Sequence[str], tokens: Sequence[Token]) -> list[str]:
        """Penn tags, one for each of the sentence's tokens."""
        return _Sentence(tokens).tags


class _Sentence:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._texts = [token.text for token in tokens]
        self._joined = [
            not token.space and place + 1 < len(tokens) and tokens[place + 1].text[:1].isdecimal()
            for place, token in enumerate(tokens)
        ]
        self._lower = [token.text.lower().replace("’", "'") for token in tokens]
        self._all = frozenset(self._lower)
        self._has_verb = False
        self._past = bool(self._all & _PAST_MARKS)
        self.tags = [token.tag for token in tokens]
        for place, token in enumerate(tokens):
            if not token.tag:
                self.tags[place] = self._tag(place)
            self._follow(place)

    def _follow(self, place: int) -> None:
        """Update the clause's state: whether it has its verb yet, and whether it is in the past tense."""
        tag, word = self.tags[place], self._lower[place]
        if tag in (".", ",", ":", "CC", "WP", "WDT") or (tag == "IN" and word in known.SUBORDINATORS):
            self._has_verb = False
        elif tag in ("VB", "VBD", "VBZ", "MD"):
            self._has_verb = True
            self._past = self._past or tag == "VBD"

    def _neighbour(self, place: int) -> str:
        """Word at a place, in lower case; empty beyond the sentence's ends and for punctuation."""
        if 0 <= place < len(self._lower) and self._lower[place][:1].isalnum():
            return self._lower[place]
        return ""

    def _tag(self, place: int) -> str:
        word = self._lower[place]
        tag = self._general(place, word)
        if word not in RULES:
            return tag
        before = self._skipped(place)
        context = Context(
            second_before=self._neighbour(before - 1),
            before=self._neighbour(before),
            after=self._neighbour(place + 1),
            second_after=self._neighbour(place + 2),
            tag_before=self.tags[place - 1] if place else "",
            tag=tag,
            text=self._all,
            past=self._past and self._has_verb,
        )
        return RULES[word](context)

    def _general(self, place: int, word: str) -> str:
        text = self._texts[place]
        if word == "a":
            return self._article_or_letter(place, text)
        if word == "am" and place and self.tags[place - 1] == "CD":
            return "NN"
        if text == "I":
            return "PRP"
        if text.isupper() and len(text) > 1 and word in ("us", "it", "who") and not self._shouted():
            return "NNP"
        if word == "her" and not self._neighbour(place + 1):
            return "PRP"
        if word in _CLOSED and not (word in RULES and word not in ("that", "in")):
            return _CLOSED[word]
        if text[:1].isupper() and place and self.tags[place - 1] not in (".", "``") and not self._shouted():
            return "NNP"
        if word.endswith("ly") and len(word) > 4:
            return "RB"
        if word.endswith("ing") and len(word) > 4:
            return "VBG"
        if word.endswith("ed") and len(word) > 3:
            return self._past_or_participle(place)
        if word.endswith(_ADJECTIVE_ENDINGS) and len(word) > 5:
            return "JJ"
        if word.endswith(("tion", "ness", "ment", "ity", "ism", "ship", "ance", "ence")) and word not in RULES:
            return "VB" if self._wants_verb(place) else "NN"
        if word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and len(word) > 3:
            return "VBZ" if self._wants_third_person(place) else "NNS"
        if word in _PAST_ALIKE:
            return self._past_alike(place, word)
        if self._wants_verb(place):
            return "VB"
        if word in known.BASE_VERBS and self._can_begin_predicate(place):
            return "VB"
        return "NN"

    def _article_or_letter(self, place: int, text: str) -> str:
        """Tag of "a", NN for the letter, DT for the article. "A" is the letter at the end, joined to a number, and as a
        capital in the middle of a sentence: "plan A is".
        """
        following = self._texts[place + 1] if place + 1 < len(self._texts) else ""
        if not following or following in _ENDING or self._joined[place]:
            return "NN"
        if text == "a" or place == 0 or self.tags[place - 1] in (".", "``", ":") or self._shouted():
            return "DT"
        before = self._lower[place - 1]
        is_letter = before in _LETTERED or (
            self._lower[place + 1] in _VERBS_SURELY | known.CONJUNCTIONS | {"to", "too"}
        )
        return "NN" if is_letter or (before == "and" and len(self._texts[place - 2]) == 1) else "DT"

    def _shouted(self) -> bool:
        return not any(any(map(str.islower, text)) for text in self._texts)

    def _skipped(self, place: int) -> int:
        """Nearest place to the left that isn't an adverb, or -1."""
        place -= 1
        while place >= 0 and self.tags[place] == "RB" and self._lower[place] != "please":
            place -= 1
        return place

    def _helped(self, subject: int) -> bool:
        """True if a subject follows its modal or do: "can you", "did they"."""
        before = self._neighbour(self._skipped(subject))
        return before in known.MODALS or before in known.DO

    def _past_or_participle(self, place: int) -> str:
        before = self._skipped(place)
        passive = self._neighbour(before) in known.BE | known.HAVE or (before >= 0 and self.tags[before] == "DT")
        return "VBN" if passive else "VBD"

    def _past_alike(self, place: int, word: str) -> str:
        base = "NN" if word == "wound" else "VB"
        j = self._skipped(place)
        before = self._neighbour(j)
        if not before:
            return base
        tag = self.tags[j]
        if before in known.BE | known.HAVE:
            return "VBN"
        if before == "please" or tag in ("TO", "MD") or before in known.DO:
            return "VB"
        if tag == "PRP":
            if self._neighbour(j - 1) in known.HAVE:
                return "VBN"
            if self._helped(j):
                return "VB"
            return "VBD" if before in known.THIRD_PERSON or self._past or word == "wound" else "VB"
        if tag in ("DT", "PRP$", "JJ", "IN", "CD"):
            return "NN"
        if tag in ("NN", "NNP", "VBG"):
            return "VBD" if not self._has_verb else "VBN" if self._past else base
        return "VBD" if self._past or word == "wound" else "VB"

    def _wants_verb(self, place: int) -> bool:
        """True if a verb in its base form fits here."""
        j = self._skipped(place)
        before, after = self._neighbour(j), self._neighbour(place + 1)
        if not before:
            return after in _COMPLEMENTS
        tag = self.tags[j]
        if before == "please" or tag in ("TO", "MD") or before in known.DO:
            return True
        if tag == "PRP":
            return (
                self._helped(j)
                or self._neighbour(j - 1) in known.LET
                or (before in known.SUBJECTS - {"what", "there"} and not self._has_verb)
            )
        if before in known.RELATIVES:
            return before == "who" or after in _COMPLEMENTS
        if tag == "NNS" or before in known.PLURALS:
            return not self._has_verb and after not in _VERBS_SURELY and after != "of"
        if tag == "CC":
            return after in _COMPLEMENTS and self.tags[j - 1 : j] != ["JJ"]
        return False

    def _wants_third_person(self, place: int) -> bool:
        """True if a third-person verb ending in s fits here, rather than a plural."""
        j = self._skipped(place)
        before, after = self._neighbour(j), self._neighbour(place + 1)
        if not before or self._has_verb:
            return False
        if before in known.THIRD_PERSON or before in known.RELATIVES:
            return True
        if self.tags[j] in ("NN", "NNP", "VBG"):
            return after not in _VERBS_SURELY and after != "of"
        return self.tags[j] == "CC" and after in _COMPLEMENTS

    def _can_begin_predicate(self, place: int) -> bool:
        j = self._skipped(place)
        return not self._has_verb and (j < 0 or self.tags[j] not in ("DT", "PRP$", "JJ", "IN"))
