"""Each rule speaks when its figure says so, cites it, and is silent otherwise."""

from typing import Any

import pytest
from msgspec import structs

from frontend.monitoring.recommendations import recommendations
from frontend.monitoring.report import Cache, Drift, Memory, Process, SelfCheck, SpeakingEngine, Status, Totals

GIGABYTE = 1_000_000_000


def healthy() -> Status:
    return Status(
        ready=True,
        worker="running",
        restarts={"front": 0, "worker": 0, "player": 0, "books": 0},
        provider_failures={},
        active_streams=1,
        sockets={},
        contexts=0,
        queue_depth=0,
        quarantined_segments=0,
        cache=Cache(10, 1_000_000, 5, 500, 256_000_000, disk=False),
        english_tagger="perceptron",
        words_by_source={"lexicon": 1000, "espeak": 20},
        costs={"kokoro m CPU": {"segments": 8, "real_time_factor": 0.4}},
        settings={},
        totals=Totals(requests=9000, refused=1, underruns=0, streams_cut=0, segments_resubmitted=0, spoken=60),
        memory=Memory(16 * GIGABYTE, 8 * GIGABYTE),
        work=[],
        front_uptime_seconds=60.0,
        engine=SpeakingEngine("kokoro", "CPUExecutionProvider", "kokoro-v1.0.onnx", 2),
        drift=Drift(0.4, 0.41, 1.025),
        selfcheck=SelfCheck("2026-01-01T00:00:00+00:00", 0.4, 0.2, 5, 1.02),
    )


COSTS = {"kokoro m CPU": {"segments": 8, "real_time_factor": 1.3}}
GAPS = Totals(requests=9000, refused=1, underruns=7, streams_cut=0, segments_resubmitted=0, spoken=60)
SHORT = Memory(16 * GIGABYTE, 100_000_000)
FULL = Cache(1000, 250_000_000, 100, 400, 256_000_000, disk=True)
AT = "2026-01-01T00:00:00+00:00"
DEATHS = {"restarts": {"front": 0, "worker": 3}, "processes": [Process("worker", "running", last_exit="SIGSEGV")]}

RULES: list[tuple[dict[str, Any], str, str]] = [
    ({"costs": COSTS}, "slower_than_speech", "1.30 with kokoro m CPU"),
    ({"totals": GAPS}, "gaps", "7 gaps"),
    ({"totals": GAPS, "costs": COSTS}, "slower_than_speech", "1.30"),
    (
        {"engine": SpeakingEngine("espeak-ng", "native", "espeak-ng 1.52", 2, stands_in=True)},
        "espeak",
        "espeak-ng 1.52",
    ),
    (DEATHS, "restarts", "3 times, the last by SIGSEGV"),
    ({"totals": structs.replace(GAPS, underruns=0, refused=40)}, "refused", "40 of 100"),
    (
        {"provider_failures": {"CoreMLExecutionProvider": "it raised"}},
        "provider_refused",
        "CoreMLExecutionProvider was given up (it raised)",
    ),
    ({"memory": SHORT}, "low_memory", "100 MB of 16000 MB"),
    ({"drift": Drift(0.4, 0.52, 1.3)}, "slower_than_before", "0.520 of late, 1.30 times the stored 0.400"),
    ({"drift": Drift(recent=0.4, stream_ratio=1.5)}, "slows_down_in_streams", "1.50 times"),
    (
        {"selfcheck": SelfCheck(AT, 0.6, 0.2, 5, 1.5)},
        "selfcheck_regression",
        "0.600, 1.50 times the median of the 4 before",
    ),
    ({"words_by_source": {"lexicon": 100, "espeak": 90, "letters": 10}}, "guessed_pronunciations", "100 of 200"),
    ({"cache": FULL}, "cache_full", "250 MB of 256 MB"),
    ({"cache": Cache(10, 1_000_000, 400, 100, 256_000_000, disk=False)}, "disk_cache_unused", "80%"),
]


@pytest.mark.parametrize(("figures", "code", "figure"), RULES)
def test_a_rule_cites_the_figure_that_it_rests_on(figures: dict[str, Any], code: str, figure: str) -> None:
    (found,) = recommendations(structs.replace(healthy(), **figures))
    assert found.code == code
    assert figure in found.message
    # The page, `kokoro-live status` and `/status` show it.
    assert "kokoro-live status" not in found.message and "/status" not in found.message


@pytest.mark.parametrize(
    "figures",
    [
        {},
        # "A lone stream keeps up" rests on costs.
        {"totals": GAPS, "costs": {}},
        # Seven short texts after a start, on a busy machine, had a factor of 1.02: nobody heard a gap.
        {"totals": GAPS, "costs": {"kokoro m CPU": {"segments": 7, "real_time_factor": 0.4}}},
        {"totals": GAPS, "costs": {"kokoro m CPU": {"segments": 7, "real_time_factor": 1.3}}},
        {
            "costs": {},
            "words_by_source": {},
            "totals": Totals(0, 0, 0, 0, 0, 0),
            "cache": Cache(0, 0, 0, 0, 0, disk=False),
        },
        # espeak-ng was asked for.
        {"engine": SpeakingEngine("espeak-ng", "native", "espeak-ng 1.52", 2)},
        # A fast engine's milliseconds are noise.
        {"drift": Drift(0.060, 0.049, 1.224, 1.5), "selfcheck": SelfCheck(AT, 0.06, 0.2, 5, 1.3)},
        # A language without a lexicon.
        {"words_by_source": {"lexicon": 10, "rules": 1000}},
        # A few refusals, guesses and lookups.
        {
            "totals": Totals(3, 3, 0, 0, 0, 0),
            "words_by_source": {"espeak": 5},
            "cache": Cache(1, 255_999_999, 3, 0, 256_000_000, disk=False),
        },
    ],
    ids=[
        "healthy",
        "gaps-unmeasured",
        "gaps-few-fast",
        "gaps-few-slow",
        "idle",
        "espeak",
        "noise",
        "no-lexicon",
        "few",
    ],
)
def test_a_server_without_a_reason_is_left_alone(figures: dict[str, Any]) -> None:
    assert recommendations(structs.replace(healthy(), **figures)) == []


def test_no_advice_contradicts_another() -> None:
    found = recommendations(structs.replace(healthy(), cache=FULL, memory=SHORT))
    assert [each.code for each in found] == ["low_memory"], "it asks for a smaller cache"


@pytest.mark.parametrize(
    ("role", "said", "unsaid"),
    [
        ("worker", "Listeners don't hear", "cuts"),
        ("front", "front continues", "don't hear"),
        ("player", "once", "service"),
    ],
)
def test_a_death_s_consequences_are_those_of_its_role(role: str, said: str, unsaid: str) -> None:
    status = healthy()
    status.restarts[role] = 1
    [advice] = recommendations(status)
    assert f"The {role} has died and been restarted once" in advice.message
    assert said in advice.message and unsaid not in advice.message
