"""Every damage to every part of espeak-ng's installation: one line with the cure, and the rest goes on."""

import logging
import re
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from shm.espeak.installation import cure
from shm.espeak.messages import PRONOUNCING
from shm.expendable import Expendable
from tests.espeak_copies import DATA, LIBRARY, PARTS, copied, damage, damages
from text.espeak import espeak
from text.g2p import G2P
from text.words.segment import PhonemeSource
from worker.engine import Block, EngineUnavailable, Utterance
from worker.engines.espeak import EspeakEngine

EVERY = [(part, how) for part in PARTS for how in damages(part)]
SHORT = [(part, damages(part)[place % len(damages(part))]) for place, part in enumerate(PARTS)]
SHORT.append((f"{DATA}/en_dict", "noise"))
"""One damage of each part, all damages among them, and one of which only the silence tells."""

_LIKELY_HARMLESS = {f"{DATA}/intonations", f"{DATA}/voices/!v"}
"""Parts without which there is another melody, or another voice."""


@pytest.fixture(params=SHORT + [pytest.param(case, marks=pytest.mark.slow) for case in EVERY if case not in SHORT])
def damaged(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A damaged copy is the one that helper processes find."""
    part, how = request.param
    damage(copied(tmp_path / "site", part), how)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return part, how


def test_the_engine_refuses_with_one_line_or_speaks(damaged: tuple[str, str]) -> None:
    part, how = damaged
    try:
        engine = EspeakEngine()
        engine.warm_up()
    except EngineUnavailable as error:
        assert cure() in str(error) and "\n" not in str(error)
        # the end of a halved library may be found when the system loads it: SIGBUS names no file
        assert how == "noise" or part.rpartition("/")[2] in str(error) or (part == LIBRARY and "SIGBUS" in str(error))
        return
    assert part in _LIKELY_HARMLESS
    blocks = engine.begin(Utterance("Good morning.", "en-us", (("af_heart", 1.0),), 1.0))
    assert any(block.samples.any() for block in blocks)
    engine._helper.close()


def test_an_engine_without_a_sound_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise in place of a dictionary is silence on one processor, and a crash on another."""
    engine = EspeakEngine()
    monkeypatch.setattr(engine, "begin", lambda *_: iter([Block(0, np.zeros(2400, np.int16))]))
    with pytest.raises(EngineUnavailable, match="no sound") as refusal:
        engine.warm_up()
    assert cure() in str(refusal.value)


def test_english_is_pronounced_and_it_is_said_once(
    damaged: tuple[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    helper = Expendable(PRONOUNCING, "kokoro-live: g2p")
    monkeypatch.setattr(espeak, "_helper", helper)
    monkeypatch.setattr(espeak, "_unavailable", [])
    monkeypatch.setattr(espeak, "_memory", OrderedDict())
    g2p = G2P()
    hello, *names = g2p.words("Hello Kbrntz Kbrntzel.", "en-us")
    assert hello.source is PhonemeSource.LEXICON
    assert all(name.phonemes and name.source in (PhonemeSource.LETTERS, PhonemeSource.ESPEAK) for name in names)
    assert g2p.fallbacks.total() == 3
    helper.close()
    assert not any(record.exc_info for record in caplog.records)
    told = [record for record in caplog.records if record.levelno >= logging.ERROR]
    part, how = damaged
    if part not in _LIKELY_HARMLESS and how != "noise":
        assert [name.source for name in names] == [PhonemeSource.LETTERS] * 2
        assert len(told) == 1 and cure() in told[0].message


def test_a_language_whose_data_is_whole_is_pronounced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(copied(tmp_path / "site", f"{DATA}/fr_dict"), "halved")
    monkeypatch.syspath_prepend(tmp_path / "site")
    helper = Expendable(PRONOUNCING, "kokoro-live: g2p")
    monkeypatch.setattr(espeak, "_helper", helper)
    monkeypatch.setattr(espeak, "_unavailable", [])
    monkeypatch.setattr(espeak, "_memory", OrderedDict())
    assert espeak.phonemes("hola", "es")
    with pytest.raises(espeak.EspeakUnavailable, match=f"fr_dict.*{re.escape(cure())}"):
        espeak.phonemes("bonjour", "fr")
    assert espeak.phonemes("hello", "en-us")
    helper.close()
