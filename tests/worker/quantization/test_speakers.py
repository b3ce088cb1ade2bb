"""Whose voices calibrate, and whose judge."""

from worker.quantization.speakers import CALIBRATED, JUDGED, calibrated, judged, spread_out

MANY = [f"voice_{number:02}" for number in range(54)]


def test_none_judges_that_was_calibrated_with():
    assert len(calibrated(MANY)) == CALIBRATED and len(judged(MANY)) == JUDGED
    assert not set(calibrated(MANY)) & set(judged(MANY))
    assert not set(calibrated(MANY[:12])) & set(judged(MANY[:12]))


def test_of_few_voices_all_do_both():
    assert calibrated(MANY[:3]) == judged(MANY[:3]) == MANY[:3]
    assert len(judged(MANY[:9])) == JUDGED


def test_they_are_taken_from_all_of_the_list():
    assert spread_out(["af_a", "af_b", "am_a", "bf_a", "bm_a"], 3) == ["af_a", "am_a", "bm_a"]
    assert spread_out(["one", "two"], 4) == ["one", "two"]
