"""Tables of what is read right and of windows against whole runs, and the texts to fit with and to judge by."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from kokoro_onnx.config import DEFAULT_VOCAB, MAX_PHONEME_LENGTH

from benchmarks.measuring.evaluation.sentences import calibration, evaluation_texts, foreign, held_out
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.numbers_heard import Heard, Listener, lines, tables
from benchmarks.pauses import longest_silence
from benchmarks.pronunciation import homographs, normalisation
from benchmarks.quality.speaking import Speaker
from benchmarks.quality.ways import Way
from benchmarks.statistics_table import COLUMNS, judged, rows
from worker.voices.kokoro_voices import EMBEDDED


def test_every_case_is_counted() -> None:
    rows = normalisation().rows
    assert sum(int(str(row[3])) for row in rows) >= 800
    assert {"en-us", "en-gb", "es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn"} == {row[0] for row in rows}
    assert all(row[2] == row[3] for row in rows)


def test_homographs_are_counted_by_set() -> None:
    found = {row[0]: (row[1], row[2]) for row in homographs().rows}
    assert found["held"][1] == 50
    assert all(int(str(right)) / int(str(total)) > 0.8 for right, total in found.values())


def test_each_language_has_sixty_cases_and_english_four_hundred_hard_ones() -> None:
    of: Counter[str] = Counter()
    for row in normalisation().rows:
        of[str(row[0])] += int(str(row[3]))
    assert all(of[language] >= 60 for language in ("es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn"))
    assert of["en-us"] >= 400


def test_a_line_agrees_if_the_written_form_is_understood_as_well_as_its_words() -> None:
    said = "The train number seventeen left at three thirty P M in twenty nineteen, for twelve dollars."
    right = Heard("time", "", said, "The train number 17 left at 3:30 p.m. in 2019 for $12.", said)
    wrong = Heard("time", "", said, "The train number 70 left at 3:30 p.m. in 2019 for $12.", said)
    deaf = Heard("time", "", said, wrong.of_written, wrong.of_written)
    assert (right.errors, right.floor, right.agrees) == (0, 0, True)
    assert (wrong.errors, wrong.agrees, wrong.cause) == (1, False, "reader")
    assert deaf.agrees and deaf.floor == 1
    counts, disagree = tables([right, wrong, deaf])
    assert counts.rows == [("time", 3, 2, 1, 2, 0), ("all", 3, 2, 1, 2, 0)]
    assert len(disagree.rows) == 1


def test_three_hundred_lines_of_thirty_classes_are_heard() -> None:
    of = Counter(kind for kind, _, _ in lines())
    assert sum(of.values()) >= 300 and len(of) >= 30 and min(of.values()) >= 10


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_a_sample_of_lines_is_heard(real_model: Path, tmp_path: Path) -> None:
    speaker = Speaker(Way("heard", real_model), EMBEDDED, 1)
    listener = Listener(speaker, Recognizer(1), "af_heart", tmp_path / "kept")
    heard = [listener.heard(*line) for line in random.Random(1).sample(lines(), 12)]
    assert sum(each.agrees for each in heard) >= 9, tables(heard)[1].as_markdown()


def test_the_longest_silence_is_the_one_inside() -> None:
    tone = (10_000 * np.sin(np.arange(12_000))).astype(np.int16)
    quiet = np.zeros(7_200, np.int16)
    assert longest_silence(np.concatenate([quiet, quiet, tone, quiet, tone, quiet, quiet])) == pytest.approx(
        0.3, abs=0.02
    )


evaluation = tuple(script for _, script in evaluation_texts())


@pytest.mark.parametrize("scripts", [calibration(), evaluation], ids=["calibration", "evaluation"])
def test_they_are_of_all_kinds_in_kokoros_phonemes(scripts):
    assert len(set(scripts)) == len(scripts) >= 40
    assert not {phoneme for script in scripts for phoneme in script} - DEFAULT_VOCAB.keys()
    lengths = sorted(map(len, scripts))
    assert lengths[0] < 15 and 100 < lengths[-1] <= MAX_PHONEME_LENGTH
    for end in ".?!":
        assert any(script.endswith(end) for script in scripts)


def test_no_text_is_for_two_purposes():
    """Texts to which a predictor was fitted can't judge it."""
    scripts = [*calibration(), *evaluation, *held_out(), *(script for each in foreign().values() for script in each)]
    assert len(scripts) == len(set(scripts))
    assert not {phoneme for script in scripts for phoneme in script} - DEFAULT_VOCAB.keys()


TIME = np.arange(24_000) / 24_000
SPEECH = (9_000 * np.sin(2 * np.pi * 300 * TIME) * (TIME < 0.7) + 4 * np.sin(2 * np.pi * 90 * TIME)).astype(np.int16)
"""0.7 s of a tone, and 0.3 s of a pause with some hum."""


def test_louder_sound_and_louder_pauses_are_told_apart():
    louder = judged(4, SPEECH, SPEECH * 2, SPEECH, False)
    assert 5.9 < louder.level < 6.1 and louder.pauses is not None and 5 < louder.pauses < 7
    assert louder.distance == louder.to_floats > 2 and louder.whole_to_floats == 0
    noisy = judged(4, SPEECH, SPEECH + np.where(TIME < 0.7, 0, SPEECH * 2).astype(np.int16), None, False)
    assert abs(noisy.level) < 0.1 and noisy.pauses is not None and noisy.pauses > 8


def test_a_row_has_the_mean_and_the_worst_of_its_length():
    found = [judged(10, SPEECH, SPEECH, None, False), judged(10, SPEECH, SPEECH * 2, None, True)]
    [row] = rows(found)
    cells = dict(zip(enumerate(COLUMNS), row, strict=True))
    assert cells[0, "words"] == 10 and cells[1, "texts"] == 2 and cells[2, "in one run"] == 1
    assert float(str(cells[4, "worst"])) > 5.9 > 3.1 > float(str(cells[3, "level"]))
    assert cells[7, "to floats"] == "–"


def test_what_is_beyond_a_limit_is_told():
    assert not judged(4, SPEECH, SPEECH, SPEECH, False).is_beyond
    assert judged(4, SPEECH, (SPEECH * 1.2).astype(np.int16), None, False).is_beyond, "1.6 dB louder"
    noisy = SPEECH + np.where(TIME < 0.7, 0, SPEECH * 2).astype(np.int16)
    assert judged(4, SPEECH, noisy, SPEECH, False).is_beyond, "louder where it pauses"
