"""Kokoro in windows, through the engine's own interface."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count, islice, pairwise

import numpy as np
import onnx
import pytest

from tests.miniature import make_miniature
from tests.split_model import make_split_model, make_split_voices
from tests.worker.split.splitting import SCRIPT, blocks_of, decibels, joined, make_engine, utterance
from worker.engine import Cancelled, EngineUnavailable
from worker.engines.kokoro import KokoroEngine
from worker.session import graph_name
from worker.settings import WorkerSettings
from worker.split import speech
from worker.split.rewrites.stage_files import (
    EXACT_GENERATOR,
    GENERATOR,
    SERVED,
    STAGES,
    WEIGHTED_GENERATOR,
    WHOLE_GENERATOR,
)
from worker.split.segments import stage
from worker.split.segments.statistics import SUFFIX, Predictor

ADAM = (("am_adam", 1.0),)


@pytest.fixture(scope="module")
def engine(folder):
    made = make_engine(folder)
    made.warm_up()
    return made


@pytest.fixture(scope="module")
def whole(folder):
    return make_engine(folder, vocoder="whole")


@pytest.fixture(scope="module")
def again(folder):
    """The first engine's like, with one thread."""
    return make_engine(folder, threads=1)


def test_what_it_says_of_itself(engine, whole):
    assert (engine.info.first_block, engine.info.marks, engine.info.model) == (0.3, True, "small.onnx")
    assert (whole.info.first_block, whole.info.marks) == (0.0, True)
    assert whole.info.rendering.startswith("whole")


def test_sessions_are_opened_side_by_side_after_the_first(engine, folder, monkeypatch):
    """The first one makes the arena that all share; onnxruntime takes one core to open each."""
    numbers, pair, opened, opening = count(), threading.Barrier(2, timeout=60), stage.open_session, []

    def open_session(*given, **settings):
        number = next(numbers)
        opening.append(number)
        if number in (1, 2):
            pair.wait()
        session = opened(*given, **settings)
        assert number or opening == [0]
        return session

    monkeypatch.setattr(stage, "open_session", open_session)
    monkeypatch.setattr(speech, "cores", lambda: 2)
    make_engine(folder)


@pytest.mark.parametrize("change", [{"first_window": 0.15}, {"window": 0.5}, {"window_growth": 1.1}])
def test_other_windows_are_another_rendering(engine, again, folder, change):
    """A cached segment is found by the windows and the statistics that made it."""
    other = make_engine(folder, **change)
    assert again.info.rendering == engine.info.rendering != other.info.rendering
    first = next(other.begin(utterance()))
    assert len(first.samples) == round(change.get("first_window", 0.3) * 24_000)


def test_other_statistics_are_another_rendering(tmp_path):
    """The engine's identity names the predictor: a retrained one isn't heard next to segments of the old one."""
    model = make_split_model(tmp_path / "small.onnx")
    file = model.with_name(f"{model.stem}{SUFFIX}")
    predictor = Predictor.load(file)
    moved = replace(predictor, offset=predictor.offset + 0.01)
    assert moved.digest != predictor.digest
    assert Predictor.load(file).digest == predictor.digest


def test_blocks_begin_small_and_grow(engine):
    sizes = [len(block.samples) for block in blocks_of(engine, SCRIPT * 2)]
    assert sizes[:5] == [7_200, 7_200, 9_600, 12_000, 14_400]
    assert set(sizes[5:-1]) == {14_400}


def test_the_same_job_gives_the_same_samples(engine, again):
    first = joined(blocks_of(engine, seed=4))
    assert np.array_equal(joined(blocks_of(engine, seed=4)), first)
    assert not np.array_equal(joined(blocks_of(engine, seed=5)), first)
    assert np.array_equal(joined(blocks_of(again, seed=4)), first), "another process"


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_sample(again, folder, threads):
    expected = joined(blocks_of(again))
    assert np.array_equal(joined(blocks_of(make_engine(folder, threads=threads))), expected)


def test_several_at_once_get_their_own_samples(engine):
    scripts = [SCRIPT[place:] for place in range(4)]
    alone = [joined(blocks_of(engine, script)) for script in scripts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda script: joined(blocks_of(engine, script)), scripts))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize("how", ["engine", "whole"])
def test_from_any_sample_on_it_is_the_tail(request, how):
    engine = request.getfixturevalue(how)
    whole = joined(blocks_of(engine))
    for sample in (1, 7_199, 7_200, 7_201, 40_000, len(whole) - 1):
        assert np.array_equal(joined(blocks_of(engine, from_sample=sample)), whole[sample:])
    assert not blocks_of(engine, from_sample=len(whole))


@pytest.mark.parametrize(
    ("settings", "generators"), [({}, ["generator", "generator-weighted"]), ({"vocoder": "whole"}, ["generator-whole"])]
)
def test_no_weights_are_loaded_twice(tmp_path, monkeypatch, settings, generators):
    """Whole runs load the generator that takes statistics never, and have one session of each stage, also side by side;
    only a window's generator and source have one for one thread too."""
    make_split_model(tmp_path / "small.onnx")  # its first making opens sessions of its own
    opened = []
    real = stage.open_session
    monkeypatch.setattr(
        stage,
        "open_session",
        lambda file, *given, **more: opened.append(graph_name(file)) or real(file, *given, **more),
    )
    engine = make_engine(tmp_path, threads=0, **settings)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: blocks_of(engine), range(3)))
    once = {name for name in opened if opened.count(name) == 1}
    assert sorted(name for name in {*opened} if name.startswith("generator")) == generators
    assert once >= {"prosody", "decoder", generators[-1]}
    assert settings == {} or sorted(opened) == ["decoder", "generator-whole", "prosody", "source"]


def test_no_stage_that_speaks_reports_statistics(folder, engine):
    """A generator that reports them keeps every norm's input until its end: 1,288 MB instead of 506 for a sentence of
    the published model, and an eighth more time."""
    [stages] = folder.glob("cache/split/*-*/")
    outputs = {name: len(onnx.load(stages / name, load_external_data=False).graph.output) for name in STAGES}
    assert [outputs[name] for name in (GENERATOR, WHOLE_GENERATOR, WEIGHTED_GENERATOR)] == [1, 1, 1]
    assert outputs[EXACT_GENERATOR] == 3 and EXACT_GENERATOR not in SERVED


def test_windows_with_predicted_statistics_are_close_to_the_whole(engine, whole):
    windows, exact = (joined(blocks_of(each)).astype(float) for each in (engine, whole))
    assert len(windows) == len(exact)
    assert 0 < np.abs(windows - exact).mean() < np.abs(exact).mean() / 2


def test_every_voice_and_blend_speaks_in_windows_at_once(engine):
    """None waits for a measurement: the statistics are predicted."""
    for voice in (ADAM, (("bf_emma", 1.0),), (("af_heart", 0.5), ("am_adam", 0.5))):
        blocks = islice(engine.begin(utterance(SCRIPT * 2, voice)), 3)
        assert [len(block.samples) for block in blocks] == [7_200, 7_200, 9_600]


def test_a_very_short_segment_is_made_in_one_run(engine, whole):
    """The statistics of segments under 1.7 s can't be predicted; this one has no silence that could be left out."""
    short, exact = (joined(blocks_of(each, SCRIPT[:3])) for each in (engine, whole))
    for each in (engine, whole):
        assert len(blocks_of(each, SCRIPT[:3])) == 1
    assert decibels(exact / 32_768, short / 32_768) > 60


@pytest.mark.parametrize("sample", [1, 5_000])
def test_a_very_short_segment_is_resumed_to_the_sample(engine, again, sample):
    complete = joined(blocks_of(engine, SCRIPT[:3]))
    for each in (engine, again):
        assert np.array_equal(joined(blocks_of(each, SCRIPT[:3], from_sample=sample)), complete[sample:])


def test_a_model_whose_statistics_cant_be_predicted_is_spoken_whole(tmp_path, caplog):
    """A model of no known family, without a statistics file alongside it, sounds exact, and the log says what would
    help."""
    assert make_engine(tmp_path).info.first_block > 0
    (tmp_path / "small.statistics.npz").unlink()
    with caplog.at_level(logging.WARNING):
        whole = without_statistics(tmp_path)
    assert (whole.info.first_block, whole.info.marks) == (0.0, True)
    assert "no statistics are known for its family" in caplog.text and "statistics_training" in caplog.text
    assert len(blocks_of(whole)) == 1


def test_windows_that_were_demanded_need_statistics(tmp_path):
    make_engine(tmp_path)
    (tmp_path / "small.statistics.npz").unlink()
    with pytest.raises(EngineUnavailable, match="no statistics are known for its family"):
        without_statistics(tmp_path, vocoder="windowed")


def without_statistics(folder, **settings):
    return KokoroEngine(
        folder / "small.onnx", folder / "voices.bin", WorkerSettings(cache_dir=folder / "cache", **settings)
    )


def test_marks_rise_and_end_with_the_sound(engine):
    blocks = blocks_of(engine, SCRIPT, marks=True)
    marks = [mark for block in blocks for mark in block.marks]
    places, samples = zip(*marks, strict=True)
    assert places == (*range(len(SCRIPT)), len(SCRIPT))
    assert list(samples) == sorted(set(samples))
    assert samples[0] < 10 * 600, "only the first pad precedes it"
    end = sum(len(block.samples) for block in blocks)
    assert end - 10 * 600 <= samples[-1] < end, "only the last pad's silence follows"
    assert list(blocks[0].marks) == marks and len(blocks) > 3, "words are told with the first block"


def test_marks_of_a_tail_are_those_that_sound_in_it(engine):
    marks = [mark for block in blocks_of(engine, marks=True) for mark in block.marks]
    tail = [mark for block in blocks_of(engine, marks=True, from_sample=20_000) for mark in block.marks]
    assert tail == [mark for mark in marks if mark[1] >= 20_000]
    assert not any(block.marks for block in blocks_of(engine))


@pytest.mark.parametrize("cuts", [(5,), (3, 9)])
def test_parts_of_a_script_are_its_sound_without_a_gap_or_a_repeat(engine, cuts):
    whole, places = joined(blocks_of(engine)), (0, *cuts, len(SCRIPT))
    parts = [blocks_of(engine, part=span, marks=True) for span in pairwise(places)]
    assert decibels(whole / 32_768, np.concatenate([joined(blocks) for blocks in parts]) / 32_768) > 40
    begins = [span[0] for span in pairwise(places)]
    assert [blocks[0].marks[0][0] for blocks in parts] == begins
    assert [blocks[0].marks[-1][0] for blocks in parts] == [*begins[1:], len(SCRIPT)]
    marks = dict(blocks_of(engine, marks=True)[0].marks)
    before = len(joined(parts[0]))
    assert abs(marks[cuts[0]] - before) <= 3 * 300, "a part ends near its border"
    samples = joined(parts[1])
    rest = joined(blocks_of(engine, part=(cuts[0], places[2]), from_sample=5000))
    assert np.array_equal(rest, samples[5000:]), "and can be resumed"


def test_prosody_is_timed_once(engine):
    seconds = [block.prosody_seconds for block in blocks_of(engine)]
    assert seconds[0] > 0
    assert not any(seconds[1:])


@pytest.mark.parametrize("before", [True, False])
def test_what_nobody_wants_ends(engine, before):
    asked = utterance()
    blocks = engine.begin(asked)
    if not before:
        next(blocks)
    asked.control.cancel()
    with pytest.raises(Cancelled):
        next(blocks)
    assert len(blocks_of(engine)) > 1, "and nobody else's"


def test_a_run_is_stopped_in_its_middle(tmp_path):
    """A run of several minutes: without being stopped it would take longer than a test may."""
    model = make_miniature(tmp_path / "mini.onnx", cost=20_000)
    voices = make_split_voices(tmp_path / "voices.bin")
    engine = KokoroEngine(model, voices, WorkerSettings(cache_dir=tmp_path / "cache"))
    asked = utterance()
    stopping = asked.control.stopping
    with ThreadPoolExecutor(1) as thread:

        def register(stop):
            thread.submit(asked.control.cancel)
            return stopping(stop)

        asked.control.stopping = register
        with pytest.raises(Cancelled):
            next(engine.begin(asked))


def test_a_run_that_is_paused_in_its_middle_is_made_again(engine):
    undisturbed, asked = blocks_of(engine), utterance()
    stopping, pauses = asked.control.stopping, []

    def register(stop):
        if len(pauses) < 6:  # runs of all stages
            asked.control.pause(time.monotonic() + 0.01)
        pauses.append(stop)
        return stopping(stop)

    asked.control.stopping = register
    again = list(engine.begin(asked))
    assert len(pauses) > 6 and asked.control.paused_seconds > 0
    assert [block.offset for block in again] == [block.offset for block in undisturbed]
    for block, before in zip(again, undisturbed, strict=True):
        np.testing.assert_array_equal(block.samples, before.samples)


def test_a_model_that_cant_be_split_runs_whole_and_says_so(tmp_path, caplog):
    engine = make_engine(tmp_path, {"random_in_generator": True})
    assert "small.onnx RUNS WHOLE" in caplog.text
    assert "draws random numbers" in caplog.text
    assert engine.info.first_block == 0
    engine.warm_up()
    assert len(blocks_of(engine)) == 1


def test_windows_that_were_demanded_are_not_replaced(tmp_path):
    with pytest.raises(EngineUnavailable, match=r"small\.onnx can't be vocoded in windows.*--vocoder"):
        make_engine(tmp_path, {"random_in_generator": True}, vocoder="windowed")


def test_without_a_cache_it_runs_whole(tmp_path, caplog):
    (tmp_path / "cache").write_text("a file where a folder should be")
    engine = make_engine(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert len(blocks_of(engine)) == 1
    assert "RUNS WHOLE" in caplog.text
    assert str(tmp_path / "cache") in caplog.text


def test_the_vocabulary_survives_the_cut(engine, folder, tmp_path):
    model = make_split_model(tmp_path / "whole.onnx", random_in_generator=True)
    whole = KokoroEngine(model, folder / "voices.bin", WorkerSettings(cache_dir=tmp_path / "cache"))
    assert engine.info.vocabulary == whole.info.vocabulary
