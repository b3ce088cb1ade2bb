"""The engine's benchmark on a small model: every row is measured, ratios are against the published file run whole."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from benchmarks.engine import FIRST_TARGET, PUBLISHED, SPEED_TARGET, Rival, measured, report, subjects
from benchmarks.measuring.engine_subject import Loaded, Subject
from tests.miniature import make_voices
from tests.split_model import make_split_model, stages_of
from worker.settings import WorkerSettings
from worker.tuning.messages import Round


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Subject]]:
    folder = tmp_path_factory.mktemp("engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        model = make_split_model(folder / "m.onnx")
        stages_of(model, WorkerSettings().cache_dir)
        yield list(subjects(model, make_voices(folder / "voices.bin")))


def two(chosen: list[Subject]) -> list[Subject]:
    """The published file and the windows, with less to speak."""
    return [replace(subject, script=subject.script[:24]) for subject in chosen[:2]]


def test_the_published_file_comes_first_and_every_setting_is_one_that_the_worker_has(chosen: list[Subject]) -> None:
    assert [subject.name for subject in chosen[:2]] == [PUBLISHED, "in windows"]
    assert [subject.published for subject in chosen[:3]] == [True, False, False]
    assert len({subject.name for subject in chosen}) == len(chosen) >= 9
    assert all(len(subject.script) > 100 for subject in chosen)


@pytest.mark.slow
def test_real_processes_take_turns_and_are_compared(chosen: list[Subject], capsys: pytest.CaptureFixture[str]) -> None:
    rivals = measured(two(chosen), rounds=2, seed=1)
    assert [len(rival.rounds) for rival in rivals] == [2, 2]
    assert all(rival.loaded.resident > 1e6 and rival.loaded.load_seconds > 0 for rival in rivals)
    whole, windowed = rivals
    for turn in (*whole.rounds, *windowed.rounds):
        assert turn.first > 0 and turn.alone > 0 and turn.together > 0
    found = report(rivals)
    assert [row[0] for row in found.tables[0].rows] == [PUBLISHED, "in windows"]
    assert found.tables[0].rows[0][5] == found.tables[0].rows[0][7] == found.tables[0].rows[0][9] == 1
    progress = capsys.readouterr().err
    assert [progress.count(f"{number} of 2: in windows: first audio") for number in (1, 2)] == [1, 1]
    assert all(rival.process.poll() is not None for rival in rivals), "a process was left behind"


def test_no_round_but_the_first_begins_when_the_time_is_over(chosen: list[Subject]) -> None:
    assert [len(rival.rounds) for rival in measured(two(chosen)[:1], rounds=50, seed=1, seconds=0.0)] == [1]


def rival(subject: Subject, *rounds: Round) -> Rival:
    made = Rival.__new__(Rival)
    made.subject, made.loaded, made.rounds = subject, Loaded(1.0, 1_000_000), list(rounds)
    return made


@pytest.mark.parametrize(("better", "met"), [(0.01, True), (-0.01, False)])
def test_targets_are_ratios_of_the_same_round(chosen: list[Subject], better: float, met: bool) -> None:
    slow_then_fast = [Round(4.0, 2.0, 3.0), Round(0.4, 20.0, 30.0)]
    ours = [
        Round(turn.first / (FIRST_TARGET + better), turn.alone, turn.alone * (SPEED_TARGET + better))
        for turn in slow_then_fast
    ]
    found = report([rival(chosen[0], *slow_then_fast), rival(chosen[1], *ours)])
    assert [verdict.met for verdict in found.verdicts] == [met, met]
