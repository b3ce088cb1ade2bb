"""The real espeak-ng library: every language and voice, speeds, plain text, and bit-exactness."""

import ctypes
import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import espeakng_loader
import numpy as np
import pytest

from worker import espeak_library
from worker.engine import Cancelled, EngineError, EngineUnavailable, Utterance
from worker.espeak import EspeakEngine
from worker.espeak_library import LIBRARY_RATE, EspeakLibrary
from worker.kokoro_voices import KOKORO_VOICES

FOX = "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun."
TEXTS = {
    "en-us": FOX,
    "en-gb": FOX,
    "es": "El perro duerme al sol y el zorro salta por encima.",
    "fr-fr": "Le chien dort au soleil et le renard saute par-dessus.",
    "hi": "कुत्ता धूप में सोता है और लोमड़ी उसके ऊपर से कूदती है।",
    "it": "Il cane dorme al sole e la volpe gli salta sopra.",
    "ja": "いぬはひなたでねていて、きつねがそのうえをとびこえます。",
    "pt-br": "O cachorro dorme ao sol e a raposa pula por cima dele.",
    "cmn": "狗在阳光下睡觉，狐狸从它身上跳过去。",
}


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def one(name):
    return ((name, 1.0),)


def spoken(engine, text, voice="af_heart", language="en-us", speed=1.0, from_sample=0):
    """The one block's samples; empty if there is none."""
    blocks = list(engine.begin(Utterance(text, language, one(voice), speed, 0, from_sample)))
    assert [(block.offset, block.last) for block in blocks] in ([], [(from_sample, True)])
    return blocks[0].samples if blocks else np.zeros(0, np.int16)


def loudness(samples):
    return np.sqrt(np.mean(samples.astype(float) ** 2))


def longest_silence(samples):
    """In seconds."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 50)
    return np.diff(np.concatenate([[0], loud, [len(samples)]])).max() / 24_000


def digest(samples):
    return hashlib.sha256(samples.tobytes()).hexdigest()


def test_what_it_says_of_itself(engine):
    assert engine.info.name == "espeak-ng"
    assert engine.info.model.startswith("espeak-ng 1.")
    assert (engine.info.speaks, engine.info.provider, engine.info.model_sha256) == ("text", "native", "")
    assert (engine.info.max_tokens, engine.info.concurrency, engine.info.marks) == (1000, 1, True)
    assert len(engine.info.voices) == len(set(engine.info.voices)) == 54
    assert list(engine.info.voices) == sorted(engine.info.voices)


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
    made = {voice: spoken(engine, "Good morning.", voice) for voice in KOKORO_VOICES}
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


@pytest.mark.parametrize("speed", [0.25, 0.3, 0.45, 0.5, 0.75, 1.25, 1.5, 2.0, 2.5, 2.6, 3.0, 4.0])
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


def test_resampling_loses_nothing(engine):
    with EspeakLibrary() as library:
        raw = library.speak([FOX], voice="en-us+f2", words_per_minute=175, pitch=48, end_pause=True, seed=0)
    samples = spoken(engine, FOX, "af_heart")
    assert len(samples) == pytest.approx(len(raw) * 24_000 / LIBRARY_RATE, rel=0.01)
    raw_end = len(raw) - np.flatnonzero(np.abs(raw.astype(int)) > 50)[-1]
    end = len(samples) - np.flatnonzero(np.abs(samples.astype(int)) > 50)[-1]
    assert end / 24_000 == pytest.approx(raw_end / LIBRARY_RATE, abs=0.01)


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
    """So a worker can go on where one died."""
    spoken(engine, "Something before.")
    program = (
        "import hashlib\n"
        "from worker.engine import Utterance\n"
        "from worker.espeak import EspeakEngine\n"
        f"[block] = EspeakEngine().begin(Utterance({FOX!r}, 'en-us', (('af_heart', 1.0),), 1.0))\n"
        "print(hashlib.sha256(block.samples.tobytes()).hexdigest())\n"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(spoken(engine, FOX))


def test_others_may_have_the_library_loaded(engine):
    """As kokoro-onnx's tokenizer has, which never unloads it."""
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


@pytest.mark.parametrize("from_sample", [1, 12_345])
def test_from_sample_gives_the_tail(engine, from_sample):
    assert np.array_equal(spoken(engine, FOX, from_sample=from_sample), spoken(engine, FOX)[from_sample:])


def test_from_sample_at_the_end_gives_nothing(engine):
    assert not len(spoken(engine, FOX, from_sample=len(spoken(engine, FOX))))


# -- marks


def marked(engine, script, language="en-us", speed=1.0, from_sample=0):
    """The marks, and the samples from the utterance's start."""
    asked = Utterance(script, language, one("af_heart"), speed, 0, from_sample, marks=True)
    [block] = engine.begin(asked)
    return list(block.marks), np.concatenate([np.zeros(from_sample, np.int16), block.samples])


def level(samples):
    return np.abs(samples.astype(int)).max()


@pytest.mark.parametrize("speed", [0.25, 0.4, 1.0, 1.7, 2.6, 4.0])
def test_words_are_marked_where_they_sound(engine, speed):
    """At the usual pace and slower there is silence between "stop" and "Now", and its borders are marked."""
    script = "Please stop, Now let it go."
    marks, samples = marked(engine, script, speed=speed)
    where = dict(marks)
    pause = [12] if speed <= 1 else []
    assert [place for place, _ in marks] == [0, 7, *pause, 13, 17, 21, 24, 27]
    assert level(samples[where[27] :]) <= 64 < level(samples[where[24] : where[27]])
    if pause:
        assert level(samples[where[12] : where[13]]) < 300 < level(samples[where[7] : where[12]])
        assert where[13] - where[12] > 0.05 * 24_000
    for place, word in ((7, "stop"), (17, "let"), (24, "go")):
        following = min(sample for at, sample in marks if at > place)
        alone = len(spoken(engine, word, speed=speed))
        assert 0.3 * alone < following - where[place] < 1.7 * alone, word


def test_without_being_asked_it_marks_nothing(engine):
    [block] = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    assert block.marks == ()


def test_marks_are_whole_wherever_the_samples_begin(engine):
    assert marked(engine, FOX, from_sample=30_000)[0] == marked(engine, FOX)[0]


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
@pytest.mark.parametrize(
    ("language", "script"),
    [
        *TEXTS.items(),
        ("en-us", '"It costs $5," he said in 2026 (of the year).'),
        ("en-us", "★ ✓"),
        ("en-us", ""),
        ("en-us", " leading and trailing  "),
        ("en-us", "wonderful " * 100),
        ("en-us", "---हह (कुछ)-हह 😀👍🏽 U.S.A. naïve \x00 www.a-b.com/c?d=e"),
    ],
)
def test_marks_rise_and_end_with_the_script(engine, language, script, speed):
    marks, samples = marked(engine, script, language, speed)
    places, at = zip(*marks, strict=True)
    assert list(places) == sorted(set(places)) and list(at) == sorted(at)
    assert marks[-1][0] == len(script) and 0 < marks[-1][1] <= len(samples)
    assert places[0] >= 0 and at[0] >= 0


def test_what_is_read_as_several_words_is_one_written_word(engine):
    marks, _ = marked(engine, "in 2026 a lot")
    assert [place for place, _ in marks] == [0, 3, 4, 8, 10, 13]
    assert marks[3][1] - marks[1][1] > 4 * (marks[1][1] - marks[0][1]), "the whole number"


def test_a_text_that_is_cut_into_pieces_is_marked_through(engine):
    script = "wonderful " * 100
    marks, samples = marked(engine, script)
    begun = [sample for place, sample in marks if place % 10 == 0 and place < len(script)]
    assert len(begun) == 100
    assert np.allclose(np.diff(begun), len(samples) / 100, rtol=0.35)


def test_what_was_rewritten_is_marked_in_the_script(engine):
    """The hyphen beside the bracket is taken out before espeak-ng counts, and a long word gets spaces."""
    script = "say (it)-well " + "x" * 50 + " then"
    marks, _ = marked(engine, script)
    assert {0, script.index("it"), script.index("then"), len(script)} <= {place for place, _ in marks}


# -- ending early


def test_an_utterance_that_was_cancelled_before_it_began(engine):
    utterance = Utterance(FOX, "en-us", one("af_heart"), 1.0)
    utterance.cancellation.set()
    with pytest.raises(Cancelled):
        next(engine.begin(utterance))
    assert len(spoken(engine, FOX)) > 24_000, "the next one is spoken"


def test_an_utterance_is_cancelled_while_it_is_spoken(engine, monkeypatch):
    """As from another thread, when the library has given 3 of its buffers."""
    utterance = Utterance("wonderful " * 100, "en-us", one("af_heart"), 1.0)
    taken = []
    original = EspeakLibrary._take

    def take(self, samples, count, events):
        taken.append(count)
        if len(taken) == 3:
            utterance.cancellation.set()
        return original(self, samples, count, events)

    monkeypatch.setattr(EspeakLibrary, "_take", take)
    with pytest.raises(Cancelled):
        next(engine.begin(utterance))
    assert len(taken) < 6


def test_closing_early(engine):
    never_begun = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    never_begun.close()
    after_one = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    next(after_one)
    after_one.close()
    assert list(never_begun) == list(after_one) == []


def test_a_blend_is_its_heaviest_voice(engine):
    [block] = engine.begin(Utterance(FOX, "en-us", (("af_sky", 0.3), ("am_adam", 0.7)), 1.0))
    assert np.array_equal(block.samples, spoken(engine, FOX, "am_adam"))


@pytest.mark.parametrize(
    ("voice", "language", "named"), [("af_nobody", "en-us", "af_nobody"), ("af_sky", "tlh", "tlh")]
)
def test_unknown_voices_and_languages_are_named(engine, voice, language, named):
    with pytest.raises(EngineError, match=named):
        spoken(engine, "hello", voice, language)


def test_a_library_that_cant_be_loaded(tmp_path, monkeypatch):
    (tmp_path / "libespeak-ng.so").write_bytes(b"\x7fELF nonsense")
    for path in (tmp_path / "absent.so", tmp_path / "libespeak-ng.so"):
        monkeypatch.setattr(espeak_library.espeakng_loader, "get_library_path", lambda path=path: str(path))
        with pytest.raises(EngineUnavailable, match=path.name):
            EspeakEngine()


def test_data_that_is_missing(tmp_path):
    """In a process of its own, so that no library that knows better data is around."""
    program = (
        "import espeakng_loader\n"
        f"espeakng_loader.get_data_path = lambda: {str(tmp_path)!r}\n"
        "from worker.engine import EngineUnavailable\n"
        "from worker.espeak import EspeakEngine\n"
        "try: EspeakEngine()\n"
        "except EngineUnavailable as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert str(tmp_path) in run.stdout
    assert "reinstall espeakng-loader" in run.stdout
