"""The embedded voices against the published ones: values sampled from every voice, and all of them where they are."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.training.voice_tables import main, write_low_rank
from tests.miniature import make_voices
from tests.worker.voices.test_voices import REAL
from worker.engine import EngineUnavailable
from worker.voices.kokoro_voices import EMBEDDED, KOKORO_NAMES
from worker.voices.voice_bank import VoiceBank

SAMPLES = Path(__file__).with_name("published_voice_values.npy")
"""float32 [54, ROWS, COLUMNS]: values of `voices-v1.0.bin`, voices in alphabetical order."""
ROWS = [0, 1, 20, 100, 300, 509]
COLUMNS = [0, 31, 77, 127, 128, 160, 222, 255]


@pytest.fixture(scope="module")
def embedded() -> VoiceBank:
    return VoiceBank.open(EMBEDDED)


def test_every_published_voice_is_there_in_two_megabytes(embedded: VoiceBank) -> None:
    assert embedded.names == KOKORO_NAMES
    assert EMBEDDED.stat().st_size < 2_000_000


def test_sampled_values_are_the_published_ones(embedded: VoiceBank) -> None:
    """Within 1e-4; rank 8 leaves ten times that."""
    published = np.load(SAMPLES)
    for name, values in zip(KOKORO_NAMES, published, strict=True):
        rows = np.stack([embedded.style(((name, 1.0),), row + 1)[0, COLUMNS] for row in ROWS])
        assert np.abs(rows - values).max() < 1e-4, name
        assert np.abs(values).max() > 0.1, "the voice isn't silent"


def test_a_style_is_a_row_of_the_right_shape(embedded: VoiceBank) -> None:
    style = embedded.style((("af_heart", 1.0),), 40)
    assert (style.shape, style.dtype) == ((1, 256), np.float32)
    assert np.array_equal(style, embedded.style((("af_heart", 1.0),), 40)), "the same digits each time"
    assert np.array_equal(embedded.style((("af_heart", 1.0),), 2000), embedded.style((("af_heart", 1.0),), 510))


def test_tables_stay_small_in_memory() -> None:
    """The 28 MB that they stand for are never made."""
    tracemalloc.start()
    bank = VoiceBank.open(EMBEDDED)
    for tokens in range(1, 511):
        bank.style((("af_heart", 0.5), ("bf_emma", 0.5)), tokens)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000


def test_each_voice_has_a_checksum_of_its_own(embedded: VoiceBank) -> None:
    assert len(set(embedded.checksums.values())) == 54
    assert VoiceBank.open(EMBEDDED).sha256 == embedded.sha256


@pytest.fixture(scope="module")
def two_voices() -> bytes:
    random = np.random.default_rng(1)
    left, right = random.standard_normal((510, 12)), random.standard_normal((12, 256))
    tables = {"af_one": (left @ right)[:, None].astype("f4"), "am_two": (left[::-1] @ right)[:, None].astype("f4")}
    write_low_rank(tables, file := io.BytesIO())
    return file.getvalue()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"left": np.zeros((2, 510, 11), "f4")}, "don't fit each other"),
        ({"left": np.zeros((3, 510, 12), "f4")}, "don't fit each other"),
        ({"left": np.zeros((2, 510, 12), "f8")}, "don't fit each other"),
        ({"left": np.zeros((2, 100, 12), "f4")}, "has 100 styles of 256 values"),
        ({"right": np.zeros((2, 12, 100), "f4")}, "has 510 styles of 100 values"),
        ({"right": np.full((2, 12, 256), np.nan, "f4")}, "values that are no numbers"),
    ],
)
def test_tables_that_cannot_be_voices(
    tmp_path: Path, two_voices: bytes, change: dict[str, np.ndarray], says: str
) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(two_voices)
    assert VoiceBank.open(path).names == ("af_one", "am_two")
    with np.load(path) as archive:
        np.savez(path, **({name: archive[name] for name in archive.files} | change))
    with pytest.raises(EngineUnavailable, match=says):
        VoiceBank.open(path)


def test_the_command_refuses_another_file(tmp_path: Path) -> None:
    other = make_voices(tmp_path / "voices-v1.0.bin")
    result = CliRunner().invoke(main, [str(other), "--output", str(tmp_path / "out.npz")])
    assert result.exit_code == 1 and "expected sha256" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["voices-v1.0.bin"]


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="the published voices aren't here, and no package has them")
def test_the_command_makes_the_embedded_voices_from_the_published_ones(tmp_path: Path, embedded: VoiceBank) -> None:
    again = tmp_path / "again.npz"
    result = CliRunner().invoke(main, [str(REAL), "--output", str(again)])
    assert result.exit_code == 0 and "54 voices of rank 12, 1,989,026 bytes" in result.stdout
    assert "relative error of a voice 1.1e-05" in result.stdout, "of all values, not only those below"
    published, made = VoiceBank.open(REAL), VoiceBank.open(again)
    for name in KOKORO_NAMES:
        rows = [
            np.concatenate([bank.style(((name, 1.0),), count) for count in range(1, 511, 9)])
            for bank in (published, embedded, made)
        ]
        assert np.abs(rows[1] - rows[0]).max() < 1e-4
        assert np.linalg.norm(rows[1] - rows[0]) < 2e-5 * np.linalg.norm(rows[0])
        assert np.abs(rows[2] - rows[1]).max() < 1e-5
