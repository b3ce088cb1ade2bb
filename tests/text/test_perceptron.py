"""The perceptron's features, its file, and the tagger that learns from another one."""

from pathlib import Path

import numpy as np

from benchmarks.training.tagger_training import Example, agreement, train
from text.english.perceptron import BITS, MODEL, Perceptron, fixed_rows, tag_code, tag_rows


def test_features_hang_on_the_words_around_and_on_the_tags_before() -> None:
    rows = fixed_rows(["The", "cat", "sat"])
    assert rows.shape == (3, 17) and rows.min() >= 0 and rows.max() < 1 << BITS
    assert (fixed_rows(["The", "cat", "ran"])[1] != rows[1]).any()
    assert (fixed_rows(["the", "cat", "sat"])[0] != rows[0]).any()
    noun, verb = tag_code("NN"), tag_code("VB")
    assert tag_rows(noun, verb, ["a", "b"], 1) != tag_rows(verb, noun, ["a", "b"], 1)


def test_the_shipped_model_is_small_and_tags_common_words() -> None:
    assert MODEL.stat().st_size < 2_000_000
    texts = ["She", "will", "record", "the", "new", "record", "."]
    given = ["", "", "", "", "", "", "."]
    assert Perceptron.load().tags(texts, given) == ["PRP", "MD", "VB", "DT", "JJ", "NN", "."]
    assert Perceptron.load().tags([], []) == []


def test_a_given_tag_is_kept_and_seen_by_the_next_word() -> None:
    model = Perceptron.load()
    assert model.tags(["to", "use"], ["TO", ""])[0] == "TO"
    assert model.tags(["the", "use"], ["", ""]) == ["DT", "NN"]


def test_training_learns_what_the_teacher_says_and_the_file_keeps_it(tmp_path: Path) -> None:
    verb = [Example(["to", "use", noun], ["", "", ""], ["TO", "VB", "NN"]) for noun in ("it", "salt", "wood")]
    noun = [Example(["the", "use", word], ["", "", ""], ["DT", "NN", "IN"]) for word in ("of", "by", "in")]
    model = train([*verb, *noun] * 5, rounds=3)
    assert agreement(model, [*verb, *noun]) == 1.0
    model.save(tmp_path / "model.npz")
    again = Perceptron.load(tmp_path / "model.npz")
    assert again.tags(["to", "use", "salt"], ["", "", ""]) == ["TO", "VB", "NN"]
    assert np.load(tmp_path / "model.npz")["weights"].dtype == np.int8
