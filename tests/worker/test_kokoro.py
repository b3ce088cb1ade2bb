"""Kokoro on real onnxruntime sessions of miniature models, whose every sample is known."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import msgspec
import numpy as np
import onnxruntime
import pytest
from kokoro_onnx import Kokoro

from shm.messages import BootFailure, ChildReady, Load
from tests.miniature import (
    expected,
    make_miniature,
    make_voice_folder,
    make_voices,
    style_offset,
    tokens_of,
    vocabulary,
)
from worker.engine import EngineError, EngineUnavailable, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.loop import process
from worker.models import sources
from worker.settings import WorkerSettings

HELLO = "həlˈO wˈɜɹld"
HEART = (("af_heart", 1.0),)


@pytest.fixture(autouse=True)
def own_checksums(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def make_engine(folder: Path, settings=None, **model):
    made = make_miniature(folder / "mini.onnx", **model)
    return KokoroEngine(made, make_voices(folder / "voices.bin"), settings or WorkerSettings())


def spoken(engine, script=HELLO, voice=HEART, speed=1.0, from_sample=0):
    """The blocks joined; checks that they are without a gap, and that the last one says so."""
    position = from_sample
    blocks = list(engine.begin(Utterance(script, "en-us", voice, speed, 0, from_sample)))
    for block in blocks:
        assert block.offset == position
        assert block.samples.dtype == np.int16
        assert len(block.samples)
        position += len(block.samples)
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True] * bool(blocks)
    return np.concatenate([block.samples for block in blocks]) if blocks else np.zeros(0, np.int16)


@pytest.mark.parametrize("name", ["tokens", "input_ids"])
@pytest.mark.parametrize("duration", [False, True])
@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 1.37, 2.0, 5.0])
def test_every_sample_of_every_export(tmp_path, name, duration, speed):
    engine = make_engine(tmp_path, tokens_name=name, duration=duration)
    assert np.array_equal(spoken(engine, speed=speed), expected(tokens_of(HELLO), speed))


def test_a_scripts_style_is_that_of_its_own_length_or_of_the_text_of_which_it_is_a_part(tmp_path):
    engine = make_engine(tmp_path, style=True)
    utterances = [Utterance(HELLO, "en-us", HEART, 1.0, styled=styled) for styled in (0, len(HELLO), 65)]
    own, same, other = (engine.begin(each) for each in utterances)
    own, same, other = (np.concatenate([block.samples for block in blocks]) for blocks in (own, same, other))
    assert np.array_equal(own, same)
    assert not np.array_equal(own, other)


@pytest.mark.parametrize("voice", ["af_heart", "bf_emma"])
def test_same_audio_as_kokoro_onnx_itself(tmp_path, voice):
    engine = make_engine(tmp_path, style=True)
    session = onnxruntime.InferenceSession(str(tmp_path / "mini.onnx"), providers=["CPUExecutionProvider"])
    reference = Kokoro.from_session(session, str(tmp_path / "voices.bin"))
    audio, rate = reference.create(HELLO, voice, speed=1.5, is_phonemes=True, trim=False)
    assert rate == 24_000
    assert np.array_equal(spoken(engine, voice=((voice, 1.0),), speed=1.5), np.rint(audio * 32_767))


def test_the_longest_segment(tmp_path):
    engine = make_engine(tmp_path)
    script = "".join(list(vocabulary) * 5)[: engine.info.max_tokens]
    assert np.array_equal(spoken(engine, script), expected(tokens_of(script)))


@pytest.mark.parametrize(("asked", "made"), [(0.25, 1), (1.0, 1), (1.4, 1), (1.6, 2), (4.0, 4)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_an_integer_speed_is_rounded(tmp_path, dtype, asked, made):
    engine = make_engine(tmp_path, speed_dtype=dtype)
    assert np.array_equal(spoken(engine, speed=asked), expected(tokens_of(HELLO), made))


def test_what_it_says_of_itself(tmp_path):
    info = make_engine(tmp_path, WorkerSettings(concurrency=3)).info
    assert (info.name, info.provider, info.model, info.speaks) == (
        "kokoro",
        "CPUExecutionProvider",
        "mini.onnx",
        "phonemes",
    )
    assert info.model_sha256 == hashlib.sha256((tmp_path / "mini.onnx").read_bytes()).hexdigest()
    assert set(info.vocabulary) == set(vocabulary)
    assert (info.max_tokens, info.concurrency) == (510, 3)
    assert info.voice_names == ("af_heart", "am_adam", "bf_emma")


def test_marks_of_a_model_that_tells_durations(tmp_path):
    """One for each phoneme and one for the end of the last; a token lasts 600 samples here, the first pad too."""
    engine = make_engine(tmp_path, duration=True)
    assert engine.info.marks
    marks = tuple((place, 600 * (place + 1)) for place in range(len(HELLO) + 1))
    [block] = engine.begin(Utterance(HELLO, "en-us", HEART, 1.0, marks=True))
    assert block.marks == marks
    [tail] = engine.begin(Utterance(HELLO, "en-us", HEART, 1.0, from_sample=1_300, marks=True))
    assert tail.marks == marks[2:]


def test_a_model_that_tells_no_durations_has_no_marks(tmp_path):
    engine = make_engine(tmp_path)
    assert not engine.info.marks
    [block] = engine.begin(Utterance(HELLO, "en-us", HEART, 1.0, marks=True))
    assert block.marks == ()


def test_voices_are_known_by_their_numbers(tmp_path):
    archive = make_engine(tmp_path).info.voices_sha256
    folder = KokoroEngine(tmp_path / "mini.onnx", make_voice_folder(tmp_path / "voices"), WorkerSettings()).info
    other = make_voices(tmp_path / "other.bin", ["af_heart", "bf_emma", "am_adam"])
    assert folder.voices_sha256 == archive
    assert KokoroEngine(tmp_path / "mini.onnx", other, WorkerSettings()).info.voices_sha256 != archive


def test_one_run_per_core_unless_told_otherwise(tmp_path):
    engine = make_engine(tmp_path)
    assert engine.concurrency == engine.info.concurrency
    assert 1 <= engine.concurrency <= (os.cpu_count() or 1)


def test_the_vocabulary_that_the_model_carries(tmp_path):
    engine = make_engine(tmp_path, embedded_vocabulary={"a": 3, "b": 170})
    assert sorted(engine.info.vocabulary) == ["a", "b"]
    assert np.array_equal(spoken(engine, "abba"), expected([3, 170, 170, 3]))
    engine.warm_up()


@pytest.mark.parametrize("from_sample", [1, 599, 600, 4321])
def test_from_sample_gives_the_tail(tmp_path, from_sample):
    engine = make_engine(tmp_path)
    assert np.array_equal(spoken(engine, from_sample=from_sample), expected(tokens_of(HELLO))[from_sample:])


def test_from_sample_at_the_end_gives_nothing(tmp_path):
    engine = make_engine(tmp_path)
    assert not len(spoken(engine, from_sample=len(expected(tokens_of(HELLO)))))


def test_closing_early(tmp_path):
    engine = make_engine(tmp_path)
    never_begun = engine.begin(Utterance(HELLO, "en-us", HEART, 1.0))
    never_begun.close()
    after_one = engine.begin(Utterance(HELLO, "en-us", HEART, 1.0))
    next(after_one)
    after_one.close()
    assert list(never_begun) == list(after_one) == []
    assert np.array_equal(spoken(engine), expected(tokens_of(HELLO)))


def test_a_voices_style_for_the_number_of_phonemes(tmp_path):
    engine = make_engine(tmp_path, style=True)
    for script in ("a", "həlˈO", HELLO * 4):
        tokens = tokens_of(script)
        wanted = expected(tokens, offset=style_offset(1, len(tokens)))
        assert np.array_equal(spoken(engine, script, (("am_adam", 1.0),)), wanted)


def test_a_blends_weights(tmp_path):
    engine = make_engine(tmp_path, style=True)
    tokens = tokens_of("həlˈO")
    offset = style_offset(0, 5) * 0.25 + style_offset(2, 5) * 0.75
    assert offset == int(offset)
    blend = (("af_heart", 0.25), ("bf_emma", 0.75))
    assert np.array_equal(spoken(engine, "həlˈO", blend), expected(tokens, offset=int(offset)))


def test_voices_of_a_folder(tmp_path):
    model = make_miniature(tmp_path / "mini.onnx", style=True)
    engine = KokoroEngine(model, make_voice_folder(tmp_path / "voices"), WorkerSettings())
    assert np.array_equal(spoken(engine, "a", (("am_adam", 1.0),)), expected(tokens_of("a"), offset=style_offset(1, 1)))


@pytest.mark.parametrize(
    ("script", "voice", "reason"),
    [
        ("hə☃l", HEART, "☃"),
        ("", HEART, "not 0"),
        ("a" * 511, HEART, "not 511"),
        ("a", (("af_nobody", 1.0),), "af_nobody"),
    ],
)
def test_what_cant_be_spoken_is_refused_with_the_reason(tmp_path, script, voice, reason):
    engine = make_engine(tmp_path)
    with pytest.raises(EngineError, match=reason):
        spoken(engine, script, voice)


def test_a_failed_run_is_that_utterances_alone(tmp_path):
    engine = make_engine(tmp_path, fails_at=vocabulary["z"])
    with pytest.raises(EngineError, match="the model failed"):
        spoken(engine, "azb")
    assert np.array_equal(spoken(engine), expected(tokens_of(HELLO)))


def test_noise_is_never_spoken(tmp_path):
    engine = make_engine(tmp_path, nan_at=vocabulary["z"])
    with pytest.raises(EngineError, match="no numbers"):
        spoken(engine, "azb")


def test_a_model_that_loads_but_doesnt_work(tmp_path):
    engine = make_engine(tmp_path, fails_at=0)
    with pytest.raises(EngineUnavailable, match=r"mini\.onnx .*models fetch"):
        engine.warm_up()


@pytest.mark.parametrize(
    ("dead", "said"), [({}, ChildReady), ({"rendering": "other windows"}, BootFailure), (None, BootFailure)]
)
def test_an_engine_that_has_spoken_for_a_dead_worker_speaks_without_warming_up(tmp_path, monkeypatch, dead, said):
    """The model can't speak, which only warming up shows."""
    engine, control = make_engine(tmp_path, fails_at=0), Mock()
    monkeypatch.setattr(process, "choose", lambda *_: engine)
    monkeypatch.setattr(process, "_end", Mock(side_effect=SystemExit))
    worker = process.Worker(1, control, WorkerSettings(), process.WorkerMetrics())
    worker._place = Mock(take=lambda settings, _: settings)
    with suppress(SystemExit):
        worker._load(Load(proven=None if dead is None else msgspec.structs.replace(engine.info, **dead)))
    assert isinstance(control.send.call_args.args[0], said)


def test_threads_on_one_session(tmp_path):
    """40 segments by 4 threads at once, with runs of some milliseconds: each gets its own samples."""
    engine = make_engine(tmp_path, cost=1, style=True)
    letters = [phoneme for phoneme in vocabulary if phoneme.isalpha()]
    scripts = ["".join(letters[i : i + 3 + i % 9]) for i in range(40)]
    voices = [engine.info.voice_names[i % 3] for i in range(40)]
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda s, v: spoken(engine, s, ((v, 1.0),)), scripts, voices))
    for script, voice, samples in zip(scripts, voices, made, strict=True):
        offset = style_offset(engine.info.voice_names.index(voice), len(script))
        assert np.array_equal(samples, expected(tokens_of(script), offset=offset))


def test_damaged_files_are_named(tmp_path):
    model, voices = make_miniature(tmp_path / "mini.onnx"), make_voices(tmp_path / "voices.bin")
    whole = model.read_bytes()
    model.write_bytes(whole[:-20])
    with pytest.raises(EngineUnavailable, match=r"mini\.onnx"):
        KokoroEngine(model, voices, WorkerSettings())
    model.write_bytes(whole)
    voices.write_bytes(b"PK nonsense")
    with pytest.raises(EngineUnavailable, match=r"voices\.bin"):
        KokoroEngine(model, voices, WorkerSettings())


def test_the_engine_tells_what_changes_its_samples(tmp_path):
    """Cached segments are found by it."""
    usual = make_engine(tmp_path).info.rendering
    assert make_engine(tmp_path).info.rendering == usual
    assert make_engine(tmp_path, WorkerSettings(vocoder="whole")).info.rendering.startswith("whole, ")
    assert make_engine(tmp_path, WorkerSettings(loudness=-20)).info.rendering != usual
