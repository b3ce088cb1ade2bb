"""Voice files of every published form, blends, and files that are damaged."""

import os
from pathlib import Path

import numpy as np
import pytest

from frontend.speech.body import OPENAI_VOICES
from tests.miniature import STYLE_STEP, make_voice_folder, make_voices, style_offset
from tests.worker.split.splitting import SCRIPT, blocks_of, joined, make_engine
from worker.engine import EngineError, EngineUnavailable
from worker.split.gain import CEILING, Gain
from worker.voices import kokoro_voices
from worker.voices.kokoro_voices import (
    EMBEDDED,
    KOKORO_NAMES,
    KOKORO_VOICES,
    LEVELS,
    OTHER_NAMES,
    default_among,
    kokoro_voice,
    levelling,
)
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


@pytest.mark.parametrize("keep", [0, 1, 100, 3000, -1, None])
def test_a_damaged_archive(tmp_path, keep):
    """Cut, or with a flipped byte inside the data: the archive's own checksums tell."""
    whole = bytearray(make_voices(tmp_path / "v.npz", NAMES).read_bytes())
    whole[1500] ^= 0xFF * (keep is None)
    (tmp_path / "v.npz").write_bytes(whole[:keep])
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


@pytest.mark.parametrize(
    ("name", "language", "gender"),
    [
        ("af_heart", "en-us", "female"),
        ("bm_george", "en-gb", "male"),
        ("ef_dora", "es", "female"),
        ("ff_siwis", "fr-fr", "female"),
        ("hm_omega", "hi", "male"),
        ("if_sara", "it", "female"),
        ("jf_alpha", "ja", "female"),
        ("pm_alex", "pt-br", "male"),
        ("zf_xiaobei", "cmn", "female"),
        ("xf_nobody", "en-us", None),
        ("espeak", "en-us", None),
        ("french", "en-us", None),
    ],
)
def test_a_name_of_kokoros_form_tells_language_and_gender(name: str, language: str, gender: str | None) -> None:
    voice = kokoro_voice(name)
    assert (voice.name, voice.language, voice.gender) == (name, language, gender)


def test_each_name_of_other_services_is_an_alias_of_one_voice() -> None:
    aliases = [alias for voice in KOKORO_VOICES for alias in voice.aliases]
    rows = [line.split("\t") for line in OTHER_NAMES.read_text().splitlines()]
    assert {name.lower() for service, name, *_ in rows if service == "OpenAI"} == set(OPENAI_VOICES.split(", "))
    assert sorted(aliases) == sorted({name.lower() for _, name, *_ in rows}), "each once, and no other"
    assert {voice for *_, voice in rows} <= {voice.name for voice in KOKORO_VOICES}


def test_the_default_voice_is_one_that_there_is() -> None:
    assert default_among([voice.name for voice in KOKORO_VOICES]) == "af_heart"
    assert default_among(["mine", "yours"]) == "mine"


_OWN = {row[0]: float(row[1]) for row in (line.split("\t") for line in LEVELS.read_text().splitlines())}
_BANK = VoiceBank.open(EMBEDDED)


def decibels(*voice: tuple[str, float], to: float = -23.0) -> float:
    return float(20 * np.log10(levelling(voice, _BANK.checksums, to)))


def test_the_table_has_all_published_voices() -> None:
    assert sorted(_OWN) == sorted(_BANK.names)
    assert all(-40 < level < -10 for level in _OWN.values())


def test_a_factor_makes_up_for_a_voices_own_level() -> None:
    loud, quiet = max(_OWN, key=lambda name: _OWN[name]), min(_OWN, key=lambda name: _OWN[name])
    assert decibels((loud, 1.0)) == pytest.approx(-23 - _OWN[loud])
    assert decibels((quiet, 1.0), to=-20) == pytest.approx(-20 - _OWN[quiet])
    assert decibels((loud, 1.0), (quiet, 3.0)) == pytest.approx(-23 - (_OWN[loud] + 3 * _OWN[quiet]) / 4)


def test_another_voice_of_a_published_ones_name_stays_as_it_is() -> None:
    assert decibels(("a_users_own", 1.0)) == 0
    assert levelling((("af_heart", 1.0),), {"af_heart": "0" * 64}, -23.0) == 1


def test_an_engine_applies_it_and_says_so(tmp_path, monkeypatch) -> None:
    def said(loudness: float):
        engine = make_engine(tmp_path, loudness=loudness)
        return joined(blocks_of(engine, SCRIPT * 6)).astype(float), engine

    plain, without = said(0.0)
    monkeypatch.setattr(kokoro_voices, "_levels", lambda: {without._voices.checksums["af_heart"]: -20.0})
    levelled, with_it = said(-26.0)
    assert (plain @ levelled) / (plain @ plain) == pytest.approx(10 ** (-6 / 20), rel=0.01)
    assert without.info.rendering != with_it.info.rendering, "kept sound of another loudness isn't taken for it"


@pytest.mark.parametrize("factor", [3.0, 1.01, 0.9])
def test_no_changed_sample_passes_the_ceiling(factor: float) -> None:
    """The model's own samples may lie above full scale, and a voice that is lowered still peaks."""
    loud = np.linspace(-1.3, 1.3, 999, dtype=np.float32)
    changed = Gain(None, factor).applied(loud, 0)
    assert np.abs(changed).max() <= CEILING + 1e-6
    assert np.all(np.diff(changed) >= 0)
    assert Gain(None).applied(loud, 0) is loud


def test_a_peak_lowers_what_is_around_it_and_nothing_else() -> None:
    sibilant = (0.2 * np.sin(2.1 * np.arange(4800))).astype(np.float32)
    sibilant[2400:2430] *= 6
    changed = Gain(None, 0.9).applied(sibilant, 0)
    ratios = changed[np.abs(sibilant) > 0.01] / sibilant[np.abs(sibilant) > 0.01]
    places = np.flatnonzero(np.abs(sibilant) > 0.01)
    far = np.abs(places - 2415) > 150
    assert np.allclose(ratios[far], 0.9, atol=1e-4)
    assert np.abs(changed).max() <= 0.7 + 1e-4
    assert np.abs(np.diff(ratios)).max() < 0.02, "the level falls and rises without a step"
