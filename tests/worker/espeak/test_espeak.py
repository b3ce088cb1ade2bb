"""The real espeak-ng library: every language and voice, speeds, plain text, and what can't be."""

import ctypes
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import espeakng_loader
import numpy as np
import pytest

from benchmarks.inflections.sounds import level, seconds, semitones, widened
from shm.espeak.helper import EspeakLibrary
from shm.espeak.installation import EspeakData
from shm.espeak.messages import LIBRARY_RATE, EspeakRequest
from shm.inflection import InflectedSpan, Inflection
from tests.worker.espeak_speech import FOX, TEXTS, digest, longest_silence, loudness, one, spoken
from worker.engine import Block, Cancelled, EngineError, RunControl, Utterance
from worker.engines.espeak import EspeakEngine
from worker.voices.kokoro_voices import KOKORO_VOICES


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def test_what_it_says_of_itself(engine):
    assert engine.info.name == "espeak-ng"
    assert engine.info.model.startswith("espeak-ng 1.")
    assert (engine.info.speaks, engine.info.provider, engine.info.model_sha256) == ("text", "native", "")
    assert (engine.info.max_tokens, engine.info.concurrency, engine.info.marks) == (1000, 1, True)
    assert len(engine.info.voices) == len(set(engine.info.voice_names)) == 54
    assert list(engine.info.voice_names) == sorted(engine.info.voice_names)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("voice", ["af_heart", "am_adam"])
def test_every_language_is_speech(engine, language, voice):
    samples = spoken(engine, TEXTS[language], voice, language)
    assert samples.dtype == np.int16
    assert 2 < len(samples) / 24_000 < 9
    assert 1_000 < loudness(samples) < 10_000
    assert longest_silence(samples) < 0.6
    assert np.abs(samples.astype(int)).max() < 30_000


def test_languages_are_not_one_and_the_same(engine):
    spellings = {language: digest(spoken(engine, "animal total nation", language=language)) for language in TEXTS}
    assert len(set(spellings.values())) == len(TEXTS)


def test_every_voice_speaks(engine):
    made = {voice.name: spoken(engine, "Good morning.", voice.name) for voice in KOKORO_VOICES}
    assert all(loudness(samples) > 500 for samples in made.values())
    for kind in ("af", "am", "bf", "bm", "zf", "zm"):
        same_kind = [samples for voice, samples in made.items() if voice[:2] == kind]
        assert all(not np.array_equal(a, b) for a, b in combinations(same_kind, 2))


def test_women_are_higher_than_men(engine):
    def pitch(samples):
        """Hz: the median over frames of 50 ms of the autocorrelation's peak, below 300 Hz."""
        low = np.convolve(samples.astype(float), np.ones(80) / 80, "valid")
        frames = [low[i : i + 1200] for i in range(0, len(low) - 1200, 600)]
        voiced = [frame for frame in frames if loudness(frame) > 0.5 * loudness(low)]
        lags = [80 + np.argmax(np.correlate(frame, frame, "full")[1199 + 80 : 1199 + 400]) for frame in voiced]
        return 24_000 / np.median(lags)

    assert pitch(spoken(engine, FOX, "af_heart")) > 1.3 * pitch(spoken(engine, FOX, "am_adam")) > 1.3 * 75


@pytest.mark.parametrize("speed", [0.25, 0.3, 0.45, 0.5, 0.75, 1.25, 1.5, 2.0, 2.5, 2.6, 3.0, 4.0, 5.0])
@pytest.mark.parametrize("voice", ["af_heart", "am_adam"])
def test_speed_is_kept_over_its_whole_range(engine, voice, speed):
    normal = spoken(engine, FOX, voice)
    samples = spoken(engine, FOX, voice, speed=speed)
    assert len(samples) / len(normal) * speed == pytest.approx(1, abs=0.12)
    assert loudness(samples) == pytest.approx(loudness(normal), rel=0.35)


def test_slow_speech_keeps_its_pitch(engine):
    """Stretched, not played slower: most of the energy stays where it was."""

    def centre(samples):
        power = np.abs(np.fft.rfft(samples.astype(float))) ** 2
        frequencies = np.fft.rfftfreq(len(samples), 1 / 24_000)
        return (power * frequencies).sum() / power.sum()

    assert centre(spoken(engine, FOX, speed=0.25)) == pytest.approx(centre(spoken(engine, FOX)), rel=0.2)


def test_markup_is_text(engine):
    assert longest_silence(spoken(engine, "one <break time='9s'/> two")) < 1
    read_out = spoken(engine, "<b>bold</b>")
    assert len(read_out) > 1.5 * len(spoken(engine, "bold"))


def test_phonemes_in_brackets_are_text(engine):
    assert len(spoken(engine, "[[h@l'oU]]")) > 1.5 * len(spoken(engine, "hello"))


def test_control_characters_are_spaces(engine):
    """NUL would end the text, and \\x01 begins a command: here, to speak at 400 words per minute."""
    assert np.array_equal(spoken(engine, "one\x00two"), spoken(engine, "one two"))
    assert np.array_equal(spoken(engine, "one \x01400S two"), spoken(engine, "one  400S two"))


def test_a_lone_surrogate_does_no_harm(engine):
    assert np.array_equal(spoken(engine, "one\ud800two"), spoken(engine, "one two"))


@pytest.mark.parametrize("text", ["", " ", "...", "—", "(", "\u200b", "\x00", "★ ✓"])
def test_what_has_no_sound_is_a_short_silence(engine, text):
    """An error would end the stream of the text around it."""
    samples = spoken(engine, text, speed=0.25)
    assert len(samples) == 2_400
    assert not samples.any()
    assert len(spoken(engine, text, from_sample=2_000)) == 400


@pytest.mark.parametrize("text", ["a", "1", "$", "😀", "日本", "ﬁ", "§"])
def test_what_can_be_spoken_is(engine, text):
    assert loudness(spoken(engine, text)) > 300


def test_the_longest_text_is_spoken_whole(engine):
    """1,000 characters without a mark, which is longer than espeak-ng's clause buffer."""
    text = ("wonderful " * 100).strip()
    assert len(text) <= engine.info.max_tokens
    assert len(spoken(engine, text)) == pytest.approx(10 * len(spoken(engine, ("wonderful " * 10).strip())), rel=0.1)


def test_a_pause_follows_a_mark_and_not_a_word(engine):
    def pause(text):
        samples = spoken(engine, text)
        return (len(samples) - np.flatnonzero(np.abs(samples.astype(int)) > 50)[-1]) / 24_000

    assert pause("Hello there") < 0.02
    assert 0.1 < pause("Hello there.") < 0.5


def test_a_blend_is_its_heaviest_voice(engine):
    [block] = engine.begin(Utterance(FOX, "en-us", (("af_sky", 0.3), ("am_adam", 0.7)), 1.0))
    assert np.array_equal(block.samples, spoken(engine, FOX, "am_adam"))


@pytest.mark.parametrize(
    ("voice", "language", "named"), [("af_nobody", "en-us", "af_nobody"), ("af_sky", "tlh", "tlh")]
)
def test_unknown_voices_and_languages_are_named(engine, voice, language, named):
    with pytest.raises(EngineError, match=named):
        spoken(engine, "hello", voice, language)


def test_an_utterance_that_was_cancelled_before_it_began(engine):
    utterance = Utterance(FOX, "en-us", one("af_heart"), 1.0)
    utterance.control.cancel()
    with pytest.raises(Cancelled):
        next(engine.begin(utterance))
    assert len(spoken(engine, FOX)) > 24_000, "the next one is spoken"


def test_an_utterance_is_cancelled_while_it_is_spoken(engine):
    """Cancel as from another thread, as soon as the library speaks."""

    class SetWhenStoppable(RunControl):
        @contextmanager
        def stopping(self, stop):
            with super().stopping(stop):
                listener_leaves = threading.Thread(target=self.cancel)
                listener_leaves.start()
                yield
                listener_leaves.join()

    control = SetWhenStoppable()
    with pytest.raises(Cancelled):
        next(engine.begin(Utterance("wonderful " * 100, "en-us", one("af_heart"), 1.0, control=control)))
    assert len(spoken(engine, FOX)) > 24_000, "the next one is spoken"


def test_closing_early(engine):
    never_begun = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    never_begun.close()
    after_one = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    next(after_one)
    after_one.close()
    assert list(never_begun) == list(after_one) == []


def said(engine: EspeakEngine, *spans: InflectedSpan, text: str = FOX, voice: str = "af_heart") -> Block:
    [block] = engine.begin(Utterance(text, "en-us", one(voice), 1.0, inflected=spans, marks=True))
    return block


def whole(**inflection) -> InflectedSpan:
    return InflectedSpan(0, len(FOX), Inflection(**inflection))


@pytest.mark.parametrize("voice", ["af_heart", "am_michael"])
def test_pitch_range_volume_and_stretch_are_heard(engine, voice: str) -> None:
    plain = said(engine, voice=voice).samples
    found = {shift: semitones(plain, said(engine, whole(pitch=shift), voice=voice).samples) for shift in (-4, -2, 2, 4)}
    assert found == pytest.approx({shift: shift for shift in found}, abs=0.8)
    flatter = said(engine, whole(range=0.5), voice=voice).samples
    assert widened(plain, flatter) == pytest.approx(0.5, abs=0.15) and abs(semitones(plain, flatter)) < 0.8
    for decibels, within in ((-12, 1), (-6, 1), (3, 1), (6, 2)):  # a limiter keeps the loudest from clipping
        changed = said(engine, whole(volume=decibels), voice=voice).samples
        assert level(changed) - level(plain) == pytest.approx(decibels, abs=within)
        assert np.abs(changed.astype(int)).max() < 30_000
    for factor in (0.8, 1.25):
        slower = said(engine, whole(stretch=factor), voice=voice).samples
        assert seconds(slower) / seconds(plain) == pytest.approx(factor, rel=0.1)


def test_a_word_is_inflected_alone_and_signs_of_ssml_are_text(engine) -> None:
    text = "The brown fox & the <lazy> dog sleep."
    place = text.index("dog")
    plain = said(engine, text=text)
    quiet = said(engine, InflectedSpan(place, place + 3, Inflection(volume=-15)), text=text)
    assert [at for at, _ in quiet.marks] == [at for at, _ in plain.marks]
    begin, end = dict(quiet.marks)[place], dict(quiet.marks)[text.index("sleep")]
    assert level(quiet.samples[begin + 1200 : end - 1200]) < level(plain.samples[begin + 1200 : end - 1200]) - 10
    assert level(quiet.samples[: begin - 1200]) == pytest.approx(level(plain.samples[: begin - 1200]), abs=1)


def test_what_it_cannot_follow_changes_nothing(engine) -> None:
    plain = said(engine)
    same = said(engine, whole(rise=10.0, contour=((0.0, 0.0), (1.0, 4.0))))
    assert np.array_equal(plain.samples, same.samples)
    assert (engine.info.inflects, engine.info.scores) == (True, False)


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0, 5.0])
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
