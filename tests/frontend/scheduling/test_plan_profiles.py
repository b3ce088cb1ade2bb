"""A text's plan stays the same while the measured costs change."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace

import pytest

from frontend.contract.progress import Progress
from frontend.contract.request import SpeechRequest
from frontend.planning.costs import Ledger
from frontend.planning.profile import CostProfile
from shm.engine_info import EngineInfo
from tests.frontend.desk import Desk, planned
from tests.frontend.scripted_worker import ENGINE, ScriptedReader
from text.words.segment import Segment


class ListeningReader(ScriptedReader):
    """Writes down the profile that each text is planned with."""

    def __init__(self) -> None:
        self.profiles: list[CostProfile] = []

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile) -> Iterator[Segment]:
        self.profiles.append(profile)
        return super().segments(request, engine, profile)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(reader=ListeningReader())
    yield made
    made.close()


def request(text: str, speed: float = 1.0) -> SpeechRequest:
    return SpeechRequest("id", text, (("af_heart", 1.0),), "en-us", speed)


async def test_a_text_that_comes_again_after_the_costs_changed_has_the_same_plan(desk: Desk) -> None:
    desk.worker(1)
    reader = desk.scheduler._reader
    assert isinstance(reader, ListeningReader)
    await planned(desk.open("again"))
    later = double_the_work(desk.scheduler._shared.ledger)
    await planned(desk.open("again"))
    await planned(desk.open("new"))
    first, again, new = reader.profiles
    assert again == first != new == later


async def test_a_front_that_was_killed_before_the_answer_began_has_planned_its_successor_s_text(desk: Desk) -> None:
    """Another plan has other segments: what workers have made of a whole clip would be lost at each death."""
    desk.worker(1)
    reader = desk.scheduler._reader
    assert isinstance(reader, ListeningReader)
    kept: list[Sequence[float]] = []
    await planned(desk.open("a clip", progress=Progress(keep_profile=kept.append)))
    successor = Desk(reader=reader)
    double_the_work(successor.scheduler._shared.ledger)
    successor.worker(1)
    await planned(successor.open("a clip", progress=Progress(profile=kept[0])))
    successor.close()
    first, again = reader.profiles
    assert again == first


def double_the_work(ledger: Ledger) -> CostProfile:
    costs = ledger.of(ENGINE)
    costs.profile = replace(costs.profile, per_token=2 * costs.profile.per_token)
    return costs.profile


def test_another_speed_is_another_plan() -> None:
    ledger = Ledger()
    first = ledger.profile_for(ENGINE, request("text"))
    later = double_the_work(ledger)
    assert ledger.profile_for(ENGINE, request("text", speed=2.0)) == later
    assert ledger.profile_for(ENGINE, request("text")) == first


def test_the_text_that_was_asked_for_longest_ago_is_forgotten_first() -> None:
    ledger = Ledger(most_texts=2)
    first = ledger.profile_for(ENGINE, request("kept"))
    ledger.profile_for(ENGINE, request("forgotten"))
    later = double_the_work(ledger)
    ledger.profile_for(ENGINE, request("kept"))
    ledger.profile_for(ENGINE, request("third"))
    assert ledger.profile_for(ENGINE, request("kept")) == first
    assert ledger.profile_for(ENGINE, request("forgotten")) == later != first
