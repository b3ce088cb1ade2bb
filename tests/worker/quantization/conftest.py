"""Few sentences, and checksums that nobody else sees."""

import pytest

from tests.worker.quantization.making import SCRIPTS, Made
from worker import checksum_cache
from worker.hearing.opinion import OpinionScorer
from worker.hearing.recognizer import Recognizer
from worker.quantization import make, quality


@pytest.fixture(autouse=True)
def short(tmp_path, monkeypatch):
    monkeypatch.setattr(checksum_cache, "default_cache", lambda: tmp_path / "checksums.json")
    monkeypatch.setattr(make, "calibration", lambda: SCRIPTS)
    monkeypatch.setattr(quality, "evaluation_texts", lambda: [("words", script) for script in SCRIPTS])
    # Random weights make no speech: nobody could say what words it has.
    monkeypatch.setattr(Recognizer, "is_installed", lambda: False)
    monkeypatch.setattr(OpinionScorer, "is_installed", lambda: False)


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)
