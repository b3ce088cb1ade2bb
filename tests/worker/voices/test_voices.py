"""Voice files of every published form, blends, and files that are damaged."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.miniature import STYLE_STEP, make_voice_folder, make_voices, style_offset
from worker.engine import EngineError, EngineUnavailable
from worker.voices.kokoro_voices import KOKORO_NAMES
from worker.voices.voice_bank import VoiceBank

NAMES = ("af_heart", "am_adam", "bf_emma")
REAL = Path(
    os.environ.get("KOKORO_LIVE_TEST_VOICES", Path(__file__).parents[4] / "shared" / "models" / "voices-v1.0.bin")
)


def one(name):
    return ((name, 1.0),)


@pytest.fixture(params=["npz", "folder"])
def bank(request, tmp_path):
    path = tmp_path / "voices"
    make_voices(path, NAMES) if request.param == "npz" else make_voice_folder(path, NAMES)
    return VoiceBank.open(path)


def test_names_and_styles(bank):
    assert bank.names == NAMES
    style = bank.style(one("am_adam"), 12)
    assert (style.shape, style.dtype) == ((1, 256), np.float32)
    assert style[0, 0] == style_offset(1, 12)


def test_a_single_voice_file(tmp_path):
    folder = make_voice_folder(tmp_path / "voices", NAMES)
    bank = VoiceBank.open(folder / "bf_emma.bin")
    assert bank.names == ("bf_emma",)
    assert bank.style(one("bf_emma"), 1)[0, 0] == style_offset(2, 1)


@pytest.mark.parametrize(("tokens", "row"), [(1, 0), (2, 1), (510, 509), (511, 509), (2000, 509)])
def test_n_phonemes_take_row_n_minus_1(tmp_path, tokens, row):
    table = np.arange(510, dtype=np.float32).reshape(510, 1, 1).repeat(256, axis=2)
    np.savez(tmp_path / "v.npz", af_heart=table)
    assert VoiceBank.open(tmp_path / "v.npz").style(one("af_heart"), tokens)[0, 0] == row


def test_a_blend_is_the_weighted_mean(bank):
    blend = (("af_heart", 0.25), ("am_adam", 0.25), ("bf_emma", 0.5))
    assert bank.style(blend, 1)[0, 0] == pytest.approx(0.25 * STYLE_STEP + 0.5 * 2 * STYLE_STEP)
    assert np.array_equal(bank.style((("af_heart", 0.5), ("af_heart", 0.5)), 9), bank.style(one("af_heart"), 9))


def test_an_unknown_voice_is_the_utterances_fault(bank):
    with pytest.raises(EngineError, match="af_nobody"):
        bank.style((("af_heart", 0.5), ("af_nobody", 0.5)), 5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_no_number(tmp_path, bad):
    table = np.zeros((510, 1, 256), dtype=np.float32)
    table[300, 0, 7] = bad
    np.savez(tmp_path / "v.npz", af_heart=np.zeros_like(table), af_sick=table)
    with pytest.raises(EngineUnavailable, match=r"v\.npz: voice af_sick has values that are no numbers"):
        VoiceBank.open(tmp_path / "v.npz")


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((510, 256), dtype=np.float32),
        np.zeros((509, 1, 256), dtype=np.float32),
        np.zeros((510, 1, 128), dtype=np.float32),
        np.zeros((510, 1, 256), dtype=np.int32),
    ],
    ids=["no middle axis", "rows missing", "half a style", "integers"],
)
def test_a_wrong_shape(tmp_path, table):
    np.savez(tmp_path / "v.npz", af_odd=table)
    with pytest.raises(EngineUnavailable, match=r"v\.npz: voice af_odd is .*models fetch"):
        VoiceBank.open(tmp_path / "v.npz")


@pytest.mark.parametrize("keep", [0, 1, 100, 3000, -1])
def test_a_truncated_archive(tmp_path, keep):
    whole = make_voices(tmp_path / "v.npz", NAMES).read_bytes()
    (tmp_path / "v.npz").write_bytes(whole[:keep])
    with pytest.raises(EngineUnavailable, match=r"v\.npz"):
        VoiceBank.open(tmp_path / "v.npz")


def test_a_damaged_archive(tmp_path):
    """A flipped byte inside the data: the archive's own checksums tell."""
    whole = bytearray(make_voices(tmp_path / "v.npz", NAMES).read_bytes())
    whole[1500] ^= 0xFF
    (tmp_path / "v.npz").write_bytes(whole)
    with pytest.raises(EngineUnavailable, match=r"v\.npz"):
        VoiceBank.open(tmp_path / "v.npz")


def test_a_truncated_single_voice(tmp_path):
    file = make_voice_folder(tmp_path / "voices", NAMES) / "af_heart.bin"
    whole = file.read_bytes()
    for keep in (1000, 1024 * 100):
        file.write_bytes(whole[:keep])
        with pytest.raises(EngineUnavailable, match="af_heart"):
            VoiceBank.open(tmp_path / "voices")


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "v.npz", af_heart=np.array([object()], dtype=object))
    with pytest.raises(EngineUnavailable, match=r"v\.npz"):
        VoiceBank.open(tmp_path / "v.npz")


def test_nothing_there(tmp_path):
    with pytest.raises(EngineUnavailable, match=r"missing.*models fetch"):
        VoiceBank.open(tmp_path / "missing.bin")
    with pytest.raises(EngineUnavailable, match="no voices in"):
        VoiceBank.open(tmp_path)


@pytest.mark.skipif(not REAL.exists(), reason="the published voices aren't here")
def test_the_published_archive():
    bank = VoiceBank.open(REAL)
    assert bank.names == KOKORO_NAMES
    heart = bank.style(one("af_heart"), 40)
    with np.load(REAL) as archive:
        assert np.array_equal(heart, archive["af_heart"][39])
    assert 0.01 < np.abs(heart).mean() < 1
