"""A model cut into stages says what it says whole."""

import numpy as np
import pytest

from tests.small_kokoro import HARMONICS
from tests.split_model import make_split_model
from tests.worker.split.splitting import Parts, run_model
from worker.pcm import to_pcm
from worker.split.segments.segment import draw_all
from worker.split.segments.windows import Window, WindowShape, windows


@pytest.fixture(scope="module")
def prosody(parts):
    return parts.prosody(tokens=24)


@pytest.fixture(scope="module")
def told(parts):
    """Statistics of another segment."""
    _, statistics = parts.whole(parts.prosody(tokens=16))
    return statistics


@pytest.fixture(scope="module")
def in_one_window(parts, prosody, told):
    return vocode(parts, prosody, told, [Window(0, prosody.frames)])


@pytest.mark.parametrize("name", ["tokens", "input_ids"])
def test_stages_together_are_the_whole_to_the_bit(tmp_path, name):
    parts = Parts(tmp_path, rewrites=(), tokens_name=name)
    prosody = parts.prosody()
    made, _ = parts.whole(prosody)
    reference = make_split_model(
        tmp_path / "reference.onnx", noise_inputs=True, durations_output=True, tokens_name=name, predicted=False
    )
    tokens, style, speed = parts.inputs()
    uniform, normal = draw_all(parts.prepared.manifest.noise, 1, prosody.frames)
    audio, durations = run_model(reference, **{name: tokens}, style=style, speed=speed, uniform=uniform, normal=normal)
    assert np.array_equal(made, audio)
    assert np.array_equal(prosody.durations, durations)
    assert len(audio) == 600 * durations.sum()
    assert 500 < to_pcm(audio).std() < 10_000


@pytest.mark.parametrize("folded", [True, False])
def test_given_its_own_statistics_a_segment_is_the_same(tmp_path, parts, folded):
    """Those that one form of the norms tells are those that the other form takes, channel by channel."""
    parts = parts if folded else Parts(tmp_path, folded=False)
    prosody = parts.prosody()
    exact, told = parts.whole(prosody)
    given = vocode(parts, prosody, told, [Window(0, prosody.frames)])
    assert np.abs(exact - given).max() < 2e-4 * np.abs(exact).max()


def vocode(parts, prosody, statistics, plan):
    segment = parts.windowed(prosody, statistics)
    return np.concatenate([segment.samples(window, 1) for window in plan])


@pytest.mark.parametrize("longest", [24, 48, 160])
@pytest.mark.parametrize("begin", [0, 14])
def test_windows_join_without_a_seam(parts, prosody, told, in_one_window, longest, begin):
    """Against the same segment in one window: nowhere more than one step of 16 bits apart, and that by rounding alone:
    what the contexts leave out is less than a hundred-thousandth of the loudest sample."""
    whole = in_one_window[begin * 300 :]
    plan = list(windows(begin, prosody.frames, WindowShape(24, 1.3, longest)))
    assert len(plan) > 3
    made = vocode(parts, prosody, told, plan)
    assert np.abs(made - whole).max() < 1e-5 * np.abs(whole).max()
    assert np.abs(to_pcm(made).astype(int) - to_pcm(whole)).max() <= 1


def test_a_window_is_the_same_whatever_was_made_before_it(parts, prosody, told):
    plan = list(windows(0, prosody.frames, WindowShape(24, 1.3, 48)))
    in_order = vocode(parts, prosody, told, plan)
    for window in plan:
        alone = parts.windowed(prosody, told).samples(window, 1)
        assert np.array_equal(alone, in_order[window.begin * 300 : window.end * 300])


def test_harmonics_are_the_same_however_far_they_are_made(parts, prosody):
    source, at_once = parts.source(prosody, first=20), parts.source(prosody, first=prosody.frames)
    for begin in range(0, prosody.frames - 16, 16):
        made, expected = (each.harmonics(begin, begin + 16, 1) for each in (source, at_once))
        assert made.shape == (1, 22, 961)
        assert np.abs(made - expected).max() < 1e-4


def test_noise_is_that_of_the_seed(parts):
    noise = parts.prepared.manifest.noise
    assert [n.kind for n in noise] == ["uniform", "normal"]
    one, same, other = (draw_all(noise, seed, 50) for seed in (1, 1, 2))
    uniform, normal = draw_all(noise, 1, 20)
    assert np.array_equal(uniform, one[0])
    assert np.array_equal(normal, one[1][:, :6_000]), "the beginning of a longer segment"
    assert [array.shape for array in one] == [(1, HARMONICS), (1, 15_000, HARMONICS)]
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert one[0].min() >= 0 and one[0].max() < 1
    assert abs(one[1].mean()) < 0.02 and abs(one[1].std() - 1) < 0.02
