"""Costs out of trials, and what they predict."""

from __future__ import annotations

import pytest

from frontend.planning.ledger import Account
from frontend.planning.profile import Profile
from frontend.text.segment import Notation
from supervisor.tuning.costs import WindowCosts, cost_profile, label, window_costs
from supervisor.tuning.knobs import KnobSearch
from supervisor.tuning.score import compare, middle
from supervisor.tuning.simulation import Knobs, admitted, predict, scripts
from supervisor.tuning.texts import HOLDOUT, QUICK_HOLDOUT, QUICK_TRAINING, TRAINING
from tests.supervisor.tuning.fake_trials import EFFORT, FakeMachine, engine
from worker.settings import WorkerSettings
from worker.split.windows import WindowShape
from worker.tuning.records import Measured, TrialSpec

WIDE = WorkerSettings(first_window=0.15, window_growth=2.0, window=1.2)
NOTATION = Notation.of(engine(WorkerSettings()))
USUAL = WindowShape.of(WorkerSettings())
TEXT = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˌOvəɹ ðə lˈAzi dˈɔɡ, ænd ɹˈʌnz əwˈA, ænd kˈʌmz bˈæk; ænd ðˈɛn ɪt slˈips."


def measured(settings: WorkerSettings, texts: tuple[tuple[str, ...], ...] = ((TEXT,),)) -> Measured:
    result = FakeMachine(per_window=0.03)(TrialSpec(settings=settings, texts=texts))
    assert isinstance(result, Measured)
    return result


def costs(**changes: object) -> WindowCosts:
    known = {
        "profile": Profile(per_token=0.002, audio_per_token=0.075, per_audio=0.5, first_block=0.3),
        "per_window": 0.03,
        "per_audio": 0.4,
        "lanes": 2,
        "crowding": 1.5,
    }
    return WindowCosts(**{**known, **changes})  # type: ignore[arg-type]


def test_what_windows_cost_is_found_from_many_lengths_of_them() -> None:
    found = window_costs([measured(WIDE), measured(WorkerSettings())])
    assert found.per_window == pytest.approx(0.03) and found.per_audio == pytest.approx(0.4)
    assert found.profile.per_token == pytest.approx(0.002)
    assert found.lanes == 2 and found.crowding == pytest.approx(2 / 1.5)


def test_the_profile_is_what_the_front_would_come_to() -> None:
    trial = measured(WorkerSettings())
    predicted = window_costs([measured(WIDE), trial]).profile_for(USUAL)
    seen = cost_profile(trial.engine, trial.segments)
    assert predicted.per_audio == pytest.approx(seen.per_audio, rel=0.03)
    assert predicted.first_block == seen.first_block
    assert label(trial.engine) == Account(trial.engine).label


def test_a_lone_listener_waits_for_prosody_and_one_window() -> None:
    knobs = Knobs(USUAL, 30)
    (first, *_) = scripts(TEXT, NOTATION, costs(), knobs)
    alone = predict([TEXT], NOTATION, costs(), knobs).waits[0]
    assert alone == pytest.approx(0.002 * len(first) + 0.03 + 0.4 * 0.3)


def test_more_listeners_wait_longer_and_silence_is_dear() -> None:
    usual = predict([TEXT, *HOLDOUT], NOTATION, costs(), Knobs(USUAL, 30), 4)
    assert len(usual.waits) == 4 and usual.waits[0] < usual.waits[3]
    slow = predict([TEXT, *HOLDOUT], NOTATION, costs(per_audio=1.3), Knobs(USUAL, 30), 4)
    assert slow.waits[0] > 3, "a lone listener hears gaps where work takes longer than it sounds"
    assert usual.score(slow) > 1 > slow.score(usual)


def test_a_newcomer_is_served_before_those_who_have_something_to_hear() -> None:
    """It waits for one block that was begun, at most."""
    cheap = costs(per_window=0.01, per_audio=0.2, lanes=1)
    knobs = Knobs(USUAL, 30)
    alone, crowd = predict([f"{TEXT} {TEXT}"], NOTATION, cheap, knobs, 2).waits
    longest = cheap.window(USUAL.longest) + 0.002 * 510
    assert crowd <= (alone * (alone + longest)) ** 0.5


@pytest.mark.parametrize(("work", "listeners"), [(0.1, 4), (0.4, 3), (0.5, 2), (0.8, 1), (3.0, 1)])
def test_as_many_listen_as_the_lanes_can_serve(work: float, listeners: int) -> None:
    assert admitted(work, costs()) == listeners


def test_many_small_windows_cost_more_work() -> None:
    small, large = (WindowShape(12, 1.0, 24), WindowShape(24, 2.0, 96))
    works = [predict([TEXT], NOTATION, costs(), Knobs(shape, 30)).work for shape in (small, large)]
    assert works[0] > works[1]


def test_segments_are_those_of_the_front_and_lose_nothing() -> None:
    text = f"{TEXT} {TEXT}"
    for minimum in (10, 30, 80):
        found = scripts(text, NOTATION, costs(), Knobs(USUAL, minimum))
        assert "".join(found).replace(" ", "") == text.replace(" ", "")
        assert min(map(len, found)) >= minimum


def test_an_engine_without_windows_makes_a_segment_a_block() -> None:
    whole = costs(profile=Profile(per_token=0.02, audio_per_token=0.075), per_window=0.0, per_audio=0.0)
    (first, *_) = scripts(TEXT, NOTATION, whole, Knobs(USUAL, 30))
    assert predict([TEXT], NOTATION, whole, Knobs(USUAL, 30)).waits[0] == pytest.approx(0.02 * len(first))


def test_scores_are_ratios_text_by_text() -> None:
    usual, texts = FakeMachine(), ((EFFORT.training[0],), (TEXT,))
    fast = FakeMachine(slowness=lambda settings, spec: 0.5)
    one, two = (machine(TrialSpec(settings=WorkerSettings(), texts=texts)) for machine in (fast, usual))
    assert isinstance(one, Measured) and isinstance(two, Measured)
    ratios = compare(one, two)
    assert (ratios.first, ratios.real_time, ratios.together) == pytest.approx((2.0, 2.0, 2.0))
    assert ratios.score == pytest.approx(2.0) and compare(one, one).score == pytest.approx(1.0)
    assert middle([ratios, compare(one, one), ratios]) == ratios


def test_nothing_is_judged_by_what_it_was_chosen_by() -> None:
    def sentences(texts: tuple[str, ...]) -> set[str]:
        return {part.strip() for text in texts for part in text.replace("?", ".").replace(";", ".").split(".")} - {""}

    assert not sentences(TRAINING + QUICK_TRAINING) & sentences(HOLDOUT + QUICK_HOLDOUT)
    assert set("".join(TRAINING + HOLDOUT + QUICK_TRAINING + QUICK_HOLDOUT)) <= NOTATION.vocabulary


def test_what_is_found_differs_where_it_matters() -> None:
    """Many settings of the shortest segment give the same plan: it is left as it is, and no two finds are alike."""
    search = KnobSearch([TEXT], NOTATION, costs(), WorkerSettings(), 30, (), 30)
    counted: list[int] = []
    found = search.best(60, 3, counted.append)
    assert len(found) == 3 and counted == list(range(1, 61))
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert len({tuple(sorted(each.changes.items())) for each in found}) == 3
    for each in found:
        assert each.score > 1 and all(getattr(WorkerSettings(), n, 30) != value for n, value in each.changes.items())
    assert "min_first_tokens" not in found[0].changes
