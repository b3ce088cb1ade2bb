"""The texts to fit with and to judge by."""

import pytest
from kokoro_onnx.config import DEFAULT_VOCAB, MAX_PHONEME_LENGTH

from benchmarks.measuring.evaluation.sentences import calibration, evaluation_texts, foreign, held_out

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
