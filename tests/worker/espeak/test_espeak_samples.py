"""One order always gives the same samples from espeak-ng, from any of them on, whatever was spoken before and where."""

import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import espeakng_loader
import numpy as np
import pytest

from shm.espeak.helper import EspeakLibrary
from shm.espeak.installation import EspeakData
from shm.espeak.messages import LIBRARY_RATE, EspeakRequest
from tests.worker.espeak_speech import FOX, digest, one, spoken
from worker.engine import Utterance
from worker.engines.espeak import EspeakEngine


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("voice", ["af_heart", "am_adam"])
def test_the_same_samples_whatever_was_spoken_before(engine, voice, speed):
    first = spoken(engine, FOX, voice, speed=speed)
    spoken(engine, "Something else, which leaves espeak-ng's pitch flutter at another phase.", "bm_lewis", "en-gb")
    assert np.array_equal(spoken(engine, FOX, voice, speed=speed), first)


def test_the_seed_governs_the_noise(engine):
    """Otherwise it would come from the clock, and another second would give other samples."""

    def seeded(seed):
        [block] = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0, seed))
        return digest(block.samples)

    assert len({seeded(seed) for seed in (0, 1, 2**31, 2**63, -5)}) == 5
    assert seeded(7) == seeded(7)


def test_the_same_samples_in_another_process(engine):
    """Samples from any place on are the same, so a worker continues where another died."""
    spoken(engine, "Something before.")
    program = (
        "import hashlib\n"
        "from worker.engine import Utterance\n"
        "from worker.engines.espeak import EspeakEngine\n"
        f"[block] = EspeakEngine().begin(Utterance({FOX!r}, 'en-us', (('af_heart', 1.0),), 1.0))\n"
        "print(hashlib.sha256(block.samples.tobytes()).hexdigest())\n"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(spoken(engine, FOX))


def test_others_may_have_the_library_loaded(engine):
    """Another copy of the library is loaded, as by kokoro-onnx's tokenizer, which never unloads it."""
    first = spoken(engine, FOX)
    ctypes.CDLL(espeakng_loader.get_library_path())
    spoken(engine, "Something between.")
    assert np.array_equal(spoken(engine, FOX), first)


def test_threads_dont_disturb_each_other(engine):
    texts = [f"{FOX} Number {i}." for i in range(12)]
    alone = [spoken(engine, text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: spoken(engine, text), texts))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's /proc")
def test_no_copy_of_the_library_stays_behind(engine):
    def copies():
        return sum(
            "libespeak-ng" in line and "memfd" in line for line in Path("/proc/self/maps").read_text().splitlines()
        )

    for _ in range(3):
        spoken(engine, "again")
    assert copies() == 0


def test_resampling_loses_nothing(engine):
    with EspeakLibrary(EspeakData(), private=True) as library:
        spoken_alone = EspeakRequest([FOX], "en-us+f2", words_per_minute=175, pitch=48, end_pause=True, seed=0)
        raw = np.frombuffer(library.speak(spoken_alone), np.int16)
    samples = spoken(engine, FOX, "af_heart")
    assert len(samples) == pytest.approx(len(raw) * 24_000 / LIBRARY_RATE, rel=0.01)
    raw_end = len(raw) - np.flatnonzero(np.abs(raw.astype(int)) > 50)[-1]
    end = len(samples) - np.flatnonzero(np.abs(samples.astype(int)) > 50)[-1]
    assert end / 24_000 == pytest.approx(raw_end / LIBRARY_RATE, abs=0.01)


@pytest.mark.parametrize("from_sample", [1, 12_345])
def test_from_sample_gives_the_tail(engine, from_sample):
    assert np.array_equal(spoken(engine, FOX, from_sample=from_sample), spoken(engine, FOX)[from_sample:])


def test_from_sample_at_the_end_gives_nothing(engine):
    assert not len(spoken(engine, FOX, from_sample=len(spoken(engine, FOX))))
