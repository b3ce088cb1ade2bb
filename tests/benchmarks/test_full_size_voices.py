"""The full-size model's own voices: what a server takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.training.full_size_model import ROWS, VOICES, make_statistics, make_voices
from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.kokoro import KokoroEngine
from worker.settings import WorkerSettings
from worker.voices.voice_bank import VoiceBank


def test_random_voices_are_voices(tmp_path: Path) -> None:
    """All of them load, and change slowly with the number of phonemes, as the published ones do."""
    make_voices(tmp_path / "voices.bin", seed=1)
    bank = VoiceBank.open(tmp_path / "voices.bin")
    assert bank.names == tuple(sorted(VOICES))
    styles = np.concatenate([bank.style((("af_heart", 1.0),), tokens) for tokens in range(1, ROWS + 1)])
    steps = np.abs(np.diff(styles, axis=0)).max()
    assert 0 < steps < styles.std() / 50


def test_the_same_seed_makes_the_same_voices(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_voices(tmp_path / name, seed)
    one, same, other = (VoiceBank.open(tmp_path / name).sha256 for name in "abc")
    assert one == same != other


def test_a_model_of_another_family_gets_statistics_beside_it(tmp_path: Path) -> None:
    """The engine takes the voices and speaks in windows."""
    model = make_split_model(tmp_path / "small.onnx")
    voices = make_split_voices(tmp_path / "voices.bin")
    (tmp_path / "small.statistics.npz").unlink()
    stages_of(model, tmp_path / "cache")
    made = make_statistics(model, voices, tmp_path / "cache")
    assert made == tmp_path / "small.statistics.npz"
    engine = KokoroEngine(model, voices, WorkerSettings(cache_dir=tmp_path / "cache", vocoder="windowed"))
    assert engine.info.first_block > 0
