"""The cache of split models: there, not there, damaged, made by two at once."""

import contextlib
import errno
import logging
import queue
import resource
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest

from tests.miniature import make_miniature
from tests.split_model import make_split_model, make_split_voices, stages_of
from tests.worker.split.splitting import SCRIPT, blocks_of, cut_before, joined, make_engine
from worker.engine import ProviderUnavailable
from worker.engines import kokoro
from worker.engines.kokoro import KokoroEngine
from worker.settings import WorkerSettings
from worker.split import optimized
from worker.split import prepared as module
from worker.split.prepared import Unprepared, prepare
from worker.split.rewrites import stage_files
from worker.split.rewrites.stage_files import GENERATOR, SERVED, STAGES, WEIGHTS, WHOLE_GENERATOR
from worker.split.segments.stage import LoadedStage, optimized_name
from worker.targets import Assignment, StageTarget

OPTIMIZE = optimized.optimize_stages


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def test_everything_is_there_and_named(model, cache):
    prepared = stages_of(model, cache)
    assert set(prepared.manifest.files) == {*STAGES, *map(optimized_name, SERVED), WEIGHTS}
    assert {file.name for file in prepared.folder.iterdir()} == {*prepared.manifest.files, "manifest.json"}
    assert len([*prepared.folder.parent.iterdir()]) == 2, "the lock, and nothing unfinished"


def test_weights_are_stored_once(model, cache):
    prepared = stages_of(model, cache)
    stages = sum((prepared.folder / name).stat().st_size for name in STAGES if name != WEIGHTS)
    for name in STAGES:
        stage = onnx.load(prepared.folder / name, load_external_data=False)
        inside = sum(len(tensor.raw_data) for tensor in stage.graph.initializer)
        assert inside < 0.5 * (prepared.folder / WEIGHTS).stat().st_size, (name, stages)


def test_a_second_time_nothing_is_made(model, cache, monkeypatch):
    first = stages_of(model, cache)
    monkeypatch.setattr(module, "_split", lambda *_: pytest.fail("made again"))
    assert prepare(model, cache) == first


@pytest.fixture(scope="module")
def samples(folder):
    """Number of samples that the model speaks from undamaged stages."""
    return len(joined(blocks_of(make_engine(folder), SCRIPT)))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("prosody.onnx", "shorter"),
        ("weights.bin", "other"),
        ("manifest.json", "gone"),
        pytest.param("prosody.onnx", "gone", marks=pytest.mark.slow),
        pytest.param("weights.bin", "shorter", marks=pytest.mark.slow),
        pytest.param("manifest.json", "other", marks=pytest.mark.slow),
    ],
)
def test_what_is_damaged_is_made_again(tmp_path, model, cut, cache, samples, name, damage, caplog):
    file = stages_of(model, cache).folder / name
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(whole[:-20] if damage == "shorter" else b"\x00" * len(whole))
    with caplog.at_level(logging.WARNING):
        engine = make_engine(tmp_path)
    assert "made again" in caplog.text
    assert file.stat().st_size >= len(whole) - 100
    caplog.clear()
    prepare(model, cache)
    assert "made again" not in caplog.text
    assert len([*file.parent.parent.iterdir()]) == 2
    assert len(joined(blocks_of(engine, SCRIPT))) == samples


def test_many_at_once_get_the_same(model, cut, cache, monkeypatch):
    split, times = module._split, []
    monkeypatch.setattr(module, "_split", lambda *given: times.append(given) or split(*given))
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: prepare(model, cache), range(4)))
    assert made == [made[0]] * 4
    assert len(times) == 1, "one made them, the others waited"


def test_who_waits_for_another_process_says_so(model, cut, cache, monkeypatch):
    said = queue.Queue()
    monkeypatch.setattr(module.log, "info", lambda message, *given: said.put(message % given))
    with ThreadPoolExecutor(1) as thread:
        with module.alone(cache / "split"):
            waiting = thread.submit(prepare, model, cache)
            assert said.get(timeout=60) == f"waiting for another process, which makes stages in {cache / 'split'}"
        prepared = waiting.result()
    assert prepared.is_complete
    assert [said.get().partition(" (")[0], said.get().partition(":")[0]] == [
        "cutting small.onnx",
        "prepared small.onnx",
    ]


@contextlib.contextmanager
def no_file_beyond(size):
    """A limit on file sizes, which the kernel enforces as it does a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fills_up_leaves_nothing_and_speech_goes_on(tmp_path, cache, monkeypatch, caplog):
    """1. The weights don't fit. 2. The model runs whole, and the log says why. 3. With room, the next start makes
    them."""
    model, voices = make_split_model(tmp_path / "small.onnx"), make_split_voices(tmp_path / "voices.bin")
    settings = WorkerSettings(cache_dir=cache)

    def without_room(*given):
        with no_file_beyond(20_000):
            return prepare(*given)

    with caplog.at_level(logging.WARNING), monkeypatch.context() as patch:
        patch.setattr(kokoro, "prepare", without_room)
        engine = KokoroEngine(model, voices, settings)
    assert engine.info.first_block == 0 and len(blocks_of(engine)) == 1
    assert "small.onnx RUNS WHOLE" in caplog.text and f"the cache {cache} can't be used" in caplog.text
    assert "File too large" in caplog.text
    assert [path.name for path in (cache / "split").iterdir()] == ["lock"], "nothing half written"
    with cut_before(model):
        assert KokoroEngine(model, voices, settings).info.first_block > 0


def test_a_read_only_cache_is_read_and_otherwise_named(model, cache, monkeypatch):
    """Such as a container's: stages that its image holds are used."""

    def refuse(_):
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(module, "alone", refuse)
        with pytest.raises(Unprepared, match=rf"the cache {cache} can't be used: .*Read-only file system"):
            prepare(model, cache)
    first = stages_of(model, cache)
    monkeypatch.setattr(module, "alone", refuse)
    assert prepare(model, cache) == first


def test_what_a_killed_process_left_is_cleared_away(model, cut, cache):
    left = cache / "split" / "unfinished-before"
    left.mkdir(parents=True)
    (left / WEIGHTS).write_bytes(b"half of them")
    prepare(model, cache)
    assert not left.exists()


def test_another_model_has_another_folder(model, cut, tmp_path, cache):
    changed = onnx.load(model)
    changed.doc_string = "another one"
    onnx.save(changed, other := tmp_path / "other.onnx")
    assert stages_of(model, cache).folder != prepare(other, cache).folder


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda path: make_miniature(path), "first upsampling"),
        (
            lambda path: make_split_model(path, random_in_generator=True, predicted=False),
            "decoder draws random numbers",
        ),
        (lambda path: make_split_model(path, noise_inputs=True, predicted=False), "its inputs are"),
        (lambda path: path.write_bytes(b"no model at all"), "no ONNX model"),
    ],
    ids=["miniature", "randomness", "inputs", "no model"],
)
def test_what_cant_be_split_is_remembered_with_the_reason(tmp_path, cache, made, reason, monkeypatch):
    model = tmp_path / "strange.onnx"
    made(model)
    with pytest.raises(Unprepared, match=reason):
        prepare(model, cache)
    monkeypatch.setattr(module, "_split", lambda *_: pytest.fail("tried again"))
    with pytest.raises(Unprepared, match=reason):
        prepare(model, cache)


@pytest.fixture
def unloadable(model, cut, cache):
    """A decoder whose operator onnxruntime doesn't have, in stages that are made now."""
    cache.mkdir()
    write = stage_files.write_stages

    def written(graph, folder, rewrites):
        result = write(graph, folder, rewrites)
        stage = onnx.load(folder / stage_files.DECODER, load_external_data=False)  # before it is optimised
        stage.graph.node[0].op_type = "NoSuchOperator"
        (folder / stage_files.DECODER).write_bytes(stage.SerializeToString())
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage_files, "write_stages", written)
        patch.setattr(optimized, "optimize_stages", OPTIMIZE)
        yield


def test_stages_that_cant_be_loaded_are_remembered(tmp_path, unloadable, caplog, monkeypatch):
    """The log says whose file can't be loaded, and gives no advice that changes nothing."""
    with caplog.at_level(logging.WARNING):
        assert make_engine(tmp_path).info.first_block == 0
    assert "RUNS WHOLE" in caplog.text
    assert "decoder.onnx can't be loaded by onnxruntime" in caplog.text and "NoSuchOperator" in caplog.text
    assert "corrupt" not in caplog.text and "fetch" not in caplog.text
    monkeypatch.setattr(module, "_split", lambda *_: pytest.fail("tried again"))
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert make_engine(tmp_path).info.first_block == 0
    assert "decoder.onnx can't be loaded by onnxruntime" in caplog.text


@pytest.mark.parametrize("stage", ["prosody", "decoder", "generator"])
def test_a_provider_that_fails_takes_no_stages_with_it(tmp_path, model, cut, cache, stage):
    """The CPU, which speaks next, has its windows as before: the stages are sound, the driver is not."""
    windows = make_engine(tmp_path).info.first_block
    with pytest.raises(ProviderUnavailable, match="CUDA"):
        make_engine(tmp_path, assigned=Assignment(**{stage: StageTarget("CUDAExecutionProvider")}))
    assert make_engine(tmp_path).info.first_block == windows > 0


def test_stages_that_are_removed_while_they_are_loaded_are_not_called_unloadable(
    tmp_path, model, cut, cache, monkeypatch, caplog
):
    """Such as by whoever clears the cache: this start speaks whole, the next one makes them again."""
    opened = LoadedStage.session

    def removed(stage, threads):
        shutil.rmtree(next(cache.glob("split/*-*/")), ignore_errors=True)
        return opened(stage, threads)

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(LoadedStage, "session", removed)
        assert make_engine(tmp_path).info.first_block == 0
    assert "any more; the next start makes it again" in caplog.text and "fetch" not in caplog.text
    assert make_engine(tmp_path).info.first_block > 0


def test_stages_that_are_removed_under_a_running_engine_are_missed_by_no_segment(tmp_path, model, cache):
    """Nor by the first that runs alongside another, with sessions of one thread."""
    engine = make_engine(tmp_path)
    [folder] = cache.glob("split/*-*/")
    shutil.rmtree(folder)
    alone = joined(blocks_of(engine, SCRIPT))
    with engine._speech._crew.step():
        assert len(joined(blocks_of(engine, SCRIPT))) == len(alone) > 0


def test_another_onnxruntime_tries_again(model, cut, cache, monkeypatch):
    prepared = stages_of(model, cache)
    module.remember_unloadable(prepared, "its operators are unknown")
    with pytest.raises(Unprepared, match="its operators are unknown"):
        prepare(model, cache)
    monkeypatch.setattr(module.onnxruntime, "__version__", "99.0")
    assert set(prepare(model, cache).manifest.files) == set(prepared.manifest.files)


def places(folder, stage):
    graph = onnx.load(folder / optimized_name(stage), load_external_data=False).graph
    return [{entry.key: entry.value for entry in tensor.external_data} for tensor in graph.initializer]


def test_optimized_stages_make_the_same_samples(model, tmp_path, monkeypatch):
    """1. An engine speaks with optimised stages. 2. Another speaks with the stages as they were cut. Equal samples."""
    made = joined(blocks_of(make_engine(tmp_path), SCRIPT))
    monkeypatch.setattr("worker.split.segments.stage.optimized_name", lambda _: "none.onnx")
    assert np.array_equal(joined(blocks_of(make_engine(tmp_path), SCRIPT)), made)


def test_generators_share_their_weights_in_one_file(model, tmp_path):
    folder = stages_of(model, tmp_path / "cache").folder
    assert not [*folder.glob("*.part")]
    outside = [place for stage in SERVED for place in places(folder, stage) if place]
    assert {place["location"] for place in outside} == {WEIGHTS}
    shared = [{place["offset"] for place in places(folder, stage) if place} for stage in (GENERATOR, WHOLE_GENERATOR)]
    assert shared[0] & shared[1]


def test_stages_that_cant_be_optimised_are_used_as_they_were_cut(model, tmp_path, monkeypatch, caplog):
    """1. The disk is full while packed weights are appended. 2. The log says so, nothing is left behind, speech goes
    on."""

    def full(self, values):
        self._file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(optimized._Store, "place", full)
    monkeypatch.setattr(optimized._Store, "holds", lambda *_: False)
    with caplog.at_level(logging.WARNING):
        folder = prepare(model, tmp_path / "cache").folder
    assert "No space left on device" in caplog.text
    assert sorted(file.name for file in folder.iterdir()) == sorted(["manifest.json", WEIGHTS, *STAGES])
    assert len(joined(blocks_of(make_engine(tmp_path), SCRIPT)))


def test_another_processor_makes_the_stages_again(model, cut, tmp_path, monkeypatch):
    stages_of(model, tmp_path / "cache")
    monkeypatch.setattr(module, "processor", lambda: "another one")
    assert prepare(model, tmp_path / "cache").manifest.processor.startswith("another one ")
    monkeypatch.setattr(module, "cpu_flags", lambda: frozenset({"of another width"}))
    before = sorted((tmp_path / "cache" / "split").iterdir())
    assert prepare(model, tmp_path / "cache").manifest.processor == module._processor()
    assert sorted((tmp_path / "cache" / "split").iterdir()) == before


def test_stages_of_earlier_layouts_are_removed(model, cut, tmp_path):
    made = stages_of(model, tmp_path / "cache").folder
    digest, layout, *_ = made.name.split("-")
    earlier = made.with_name("-".join([digest, str(int(layout) - 1), "another", "rewrite"]))
    made.rename(earlier)
    assert prepare(model, tmp_path / "cache").folder == made
    assert made.is_dir() and not earlier.exists()
