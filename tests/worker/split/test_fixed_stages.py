"""An engine whose stages were compiled for windows of one length says the same as any other."""

import numpy as np
import pytest

from tests.worker.split.splitting import SCRIPT, blocks_of, joined, make_engine
from worker.engine import ProviderUnavailable
from worker.split.prepared import Unprepared
from worker.split.static import static_windows
from worker.targets import Assignment, StageTarget

FIXED = StageTarget(window=75)
ASSIGNED = Assignment(generator=FIXED)


@pytest.fixture(scope="module")
def fixed(folder):
    return make_engine(folder, assigned=ASSIGNED)


def test_it_says_the_same(folder, fixed):
    """Samples agree to the last bit or the one before it, from any sample on, also if too short for any window."""
    engine = make_engine(folder)
    for script in ("h", SCRIPT):
        expected, made = (joined(blocks_of(each, script)).astype(int) for each in (engine, fixed))
        assert len(made) == len(expected)
        assert np.abs(made - expected).max() <= 1
    for sample in (1, 7_200, 40_000, len(made) - 1):
        assert np.array_equal(joined(blocks_of(fixed, from_sample=sample)), made[sample:])


def test_the_first_window_has_a_length_of_its_own(folder, fixed):
    """Its 24 frames with 5 on each side; the longest has what the record says."""
    [made] = (folder / "cache" / "split").glob("*-*")
    assert sorted(path.name for path in made.glob("*-[0-9]*.onnx")) == ["generator-34.onnx", "generator-75.onnx"]


def test_whole_segments_run_on_the_cpu(folder):
    """Stages compiled for a window aren't used for a segment."""
    accelerated = Assignment(generator=StageTarget("NoSuchProvider", window=75))
    engine = make_engine(folder, assigned=accelerated, vocoder="whole")
    assert len(blocks_of(engine)) == 1


def test_what_cant_be_of_one_length_gives_the_provider_up(tmp_path, monkeypatch):
    def fail(*_):
        raise Unprepared("the length isn't known")

    monkeypatch.setattr(static_windows, "_make", fail)
    with pytest.raises(ProviderUnavailable, match="the length isn't known"):
        make_engine(tmp_path, assigned=ASSIGNED)
