"""Make the English part-of-speech model: python -m benchmarks.training.tagger_training --root DIR --out FILE.

spaCy's tagger (`en_core_web_sm` or a republished one, MIT licence) tags texts that anyone may use
(`training/tagger_texts.py`), and an averaged perceptron learns its tags in about ten minutes of one core's time. A
tenth of the sentences is held back; the command prints how many words of that tenth get spaCy's tag.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.tagger_texts import texts
from text.english.perceptron import BITS, Perceptron, fixed_rows, hashes, tag_code, tag_rows
from text.english.tagger import aligned, load_spacy, spacy_model
from text.english.tokenizer import tokens
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize

_LONGEST = 60
"""Most words of a sentence to learn from."""

_HELD_BACK = 10
_SEED = 20

_MERGED = {"NNPS": "NNP", "JJR": "JJ", "JJS": "JJ", "RBR": "RB", "RBS": "RB"} | dict.fromkeys(
    ("AFX", "ADD", "FW", "LS", "XX", "SYM", "NFP", "HYPH", "GW", "$", "_SP", ",", ".", ":", "``", "''"), "NN"
)
"""Tags that misaki doesn't tell apart, and those that no word has."""

_PLAIN = re.compile(r"[A-Za-z][a-z]*(?:[,;:]? [A-Za-z][a-z']*)*[.!?]?")
"""Sentences that normalisation leaves as they are."""

_ENGLISH = re.compile(r"[\x20-\x7e’‘“”—–…éèêëïöüñç]+")


@dataclass(slots=True)
class Example:
    """A sentence's tokens."""

    texts: list[str]
    given: list[str]
    """Tags by the tokenizer; "" for words."""
    tags: list[str]
    """Tags to learn."""


def examples(root: Path, share: float) -> list[Example]:
    """Sentences of the texts with spaCy's tags, in a fixed random order.

    Args:
        share: the part of the sentences that is used, from 0 to 1.
    """
    chosen = random.Random(_SEED)
    lines = list(_sentences([text for text in texts(root) if chosen.random() < share and _ENGLISH.fullmatch(text)]))
    chosen.shuffle(lines)
    lines = [" ".join(line.split()) for line in dict.fromkeys(lines)]
    documents = load_spacy(spacy_model()).pipe(lines, batch_size=256)
    found = [_example(line, document) for line, document in zip(lines, documents, strict=True)]
    return [example for example in found if example.tags]


def _sentences(chosen: Iterable[str]) -> Iterator[str]:
    for text in chosen:
        for sentence in sentences(sanitize(text), "en-us"):
            if len(sentence.split()) <= _LONGEST:
                plain = _PLAIN.fullmatch(sentence)
                yield sentence if plain else normalize(sentence, "en-us", Normalization())


def _example(line: str, document: Any) -> Example:
    words = line.split()
    found = list(tokens(words))
    tags = [_MERGED.get(tag, tag) for tag in aligned(document, words, found)]
    return Example([token.text for token in found], [token.tag for token in found], tags)


def train(learned: Sequence[Example], rounds: int) -> Perceptron:
    """The averaged perceptron after so many rounds over the sentences, with weights of eight bits."""
    classes = sorted({tag for each in learned for tag, given in zip(each.tags, each.given, strict=True) if not given})
    number = {name: place for place, name in enumerate(classes)}
    weights = np.zeros((1 << BITS, len(classes)), dtype=np.float32)
    totals = np.zeros_like(weights)
    step = 1
    order = random.Random(_SEED)
    rows = [fixed_rows(hashes(each.texts)) for each in learned]
    for turn in range(rounds):
        places = list(range(len(learned)))
        order.shuffle(places)
        wrong = seen = 0
        for place in places:
            before, missed = step, _learn(learned[place], rows[place], weights, totals, number, classes, step)
            step += len(learned[place].texts)
            wrong, seen = wrong + missed, seen + step - before
        print(f"round {turn + 1}: {100 * wrong / seen:.2f} % of tokens wrong", flush=True)
    averaged = weights - totals / step
    scale = 127 / float(np.quantile(np.abs(averaged[averaged != 0]), 0.9999))
    return Perceptron(np.clip(np.round(averaged * scale), -127, 127).astype(np.int8), classes)


def _learn(
    example: Example,
    fixed: NDArray[np.int64],
    weights: NDArray[np.float32],
    totals: NDArray[np.float32],
    number: dict[str, int],
    classes: Sequence[str],
    step: int,
) -> int:
    scores, around = weights[fixed].sum(axis=1), hashes(example.texts)
    before = second = np.array([tag_code("")], dtype=np.uint32)
    wrong = 0
    for place, tag in enumerate(example.tags):
        if not example.given[place]:
            rows = tag_rows(before, second, around[place : place + 1])[0]
            best = int((scores[place] + weights[rows].sum(axis=0)).argmax())
            if best != (right := number[tag]):
                every = [*fixed[place], *rows]
                weights[every, right] += 1
                weights[every, best] -= 1
                totals[every, right] += step + place
                totals[every, best] -= step + place
                wrong += 1
                tag = classes[best]
        second, before = before, np.array([tag_code(tag)], dtype=np.uint32)
    return wrong


def agreement(model: Perceptron, held: Sequence[Example]) -> float:
    """Share of the words of these sentences that get the teacher's tag."""
    right = words = 0
    for each in held:
        for tag, wanted, given in zip(model.tags(each.texts, each.given), each.tags, each.given, strict=True):
            if not given:
                right, words = right + (tag == wanted), words + 1
    return right / words


def main() -> None:
    """Read texts, learn, measure, and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, required=True, help="where Debian's packages are unpacked")
    parser.add_argument("--out", type=Path, required=True, help="the model file (.npz)")
    parser.add_argument("--share", type=float, default=1.0, help="part of the sentences to use")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = examples(options.root, options.share)
    cut = len(found) // _HELD_BACK
    model = train(found[cut:], options.rounds)
    model.save(options.out)
    print(f"{len(found)} sentences; {100 * agreement(model, found[:cut]):.2f} % of unseen words get spaCy's tag")


if __name__ == "__main__":
    main()
