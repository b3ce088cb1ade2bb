"""The sentences to calibrate and to judge with."""

import pytest
from kokoro_onnx.config import DEFAULT_VOCAB, MAX_PHONEME_LENGTH

from worker.quantization.sentences import calibration, evaluation


@pytest.mark.parametrize("sentences", [calibration(), evaluation()], ids=["calibration", "evaluation"])
def test_they_are_forty_of_all_kinds_in_kokoros_phonemes(sentences):
    assert len(set(sentences)) == len(sentences) >= 40
    assert not {phoneme for sentence in sentences for phoneme in sentence} - DEFAULT_VOCAB.keys()
    lengths = sorted(map(len, sentences))
    assert lengths[0] < 15 and 100 < lengths[-1] <= MAX_PHONEME_LENGTH
    for end in ".?!":
        assert any(sentence.endswith(end) for sentence in sentences)


def test_none_is_judged_that_was_calibrated_on():
    assert not set(calibration()) & set(evaluation())
