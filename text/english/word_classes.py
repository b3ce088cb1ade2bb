"""Common English words by class, by which rules for heteronyms examine a word's context."""

from __future__ import annotations

from text.locales.tables import table, word_list

_CLASSES = {name: word_list(words) for name, words in table("en", "word_classes").items()}

SUBJECTS = _CLASSES["subjects"]
PRONOUNS = SUBJECTS | _CLASSES["pronouns"]
POSSESSIVES = _CLASSES["possessives"]
DETERMINERS = _CLASSES["determiners"]
MODALS = _CLASSES["modals"]
DO = _CLASSES["do"]
BE = _CLASSES["be"]
HAVE = _CLASSES["have"]
SEEM = _CLASSES["seem"]
PREPOSITIONS = _CLASSES["prepositions"]
SUBORDINATORS = _CLASSES["subordinators"]
CONJUNCTIONS = _CLASSES["conjunctions"]
ADVERBS = _CLASSES["adverbs"]
ADJECTIVES = _CLASSES["adjectives"]
PAST_VERBS = _CLASSES["past_verbs"]
BASE_VERBS = _CLASSES["base_verbs"]
PLURALS = _CLASSES["plurals"]
BEFORE_CLAUSES = _CLASSES["before_clauses"]
POINTED = _CLASSES["pointed"]
STATES = _CLASSES["states"]
