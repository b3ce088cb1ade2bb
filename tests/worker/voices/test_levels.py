"""Voices are brought to one loudness."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.split.splitting import SCRIPT, blocks_of, joined, make_engine
from worker.split.gain import CEILING, Gain
from worker.voices import kokoro_voices
from worker.voices.kokoro_voices import EMBEDDED, LEVELS, levelling
from worker.voices.voice_bank import VoiceBank

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
