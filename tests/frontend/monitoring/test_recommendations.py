"""Each rule speaks when its figure says so, cites it, and is silent otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from frontend.monitoring.recommendations import recommendations
from frontend.monitoring.report import (
    Cache,
    Drift,
    Memory,
    Process,
    SelfCheck,
    SpeakingEngine,
    Status,
    Totals,
)

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
        front_uptime_seconds=60.0,
        engine=SpeakingEngine("kokoro", "CPUExecutionProvider", "kokoro-v1.0.onnx", 2),
        drift=Drift(0.4, 0.41, 1.025),
        selfcheck=SelfCheck("2026-01-01T00:00:00+00:00", 0.4, 0.2, 5, 1.02),
    )


def test_a_healthy_server_is_left_alone() -> None:
    assert recommendations(healthy()) == []


def slow(status: Status) -> None:
    status.costs["kokoro m CPU"]["real_time_factor"] = 1.3


def gaps(status: Status) -> None:
    status.totals.underruns = 7


def gaps_on_a_slow_machine(status: Status) -> None:
    slow(status)
    gaps(status)


def espeak(status: Status) -> None:
    status.engine = SpeakingEngine("espeak-ng", "native", "espeak-ng 1.52", 2, stands_in=True)


def restarted(status: Status) -> None:
    status.restarts["worker"] = 3
    status.processes = [Process("worker", "running", last_exit="SIGSEGV")]


def refused(status: Status) -> None:
    status.totals.refused = 40


def without_its_provider(status: Status) -> None:
    status.provider_failures = {"CoreMLExecutionProvider": "it raised"}


def short_of_memory(status: Status) -> None:
    status.memory.available_bytes = 100_000_000


def slower_than_before(status: Status) -> None:
    status.drift = Drift(0.4, 0.52, 1.3)


def slower_in_a_stream(status: Status) -> None:
    status.drift = Drift(recent=0.4, stream_ratio=1.5)


def slower_in_the_check(status: Status) -> None:
    status.selfcheck = SelfCheck("2026-01-01T00:00:00+00:00", 0.6, 0.2, 5, 1.5)


def guesses(status: Status) -> None:
    status.words_by_source = {"lexicon": 100, "espeak": 90, "letters": 10}


def full_cache(status: Status) -> None:
    status.cache = Cache(1000, 250_000_000, 100, 400, 256_000_000, disk=True)


def repeats(status: Status) -> None:
    status.cache = Cache(10, 1_000_000, 400, 100, 256_000_000, disk=False)


def test_gaps_before_anything_was_measured_are_no_reason_for_advice() -> None:
    """ "A lone stream keeps up" rests on costs."""
    status = healthy()
    status.costs.clear()
    gaps(status)
    assert "gaps" not in {each.code for each in recommendations(status)}


@pytest.mark.parametrize("factor", [0.4, 1.3])
def test_a_speed_of_a_few_segments_is_no_reason_for_advice(factor: float) -> None:
    """Seven short texts after a start, on a busy machine, had a factor of 1.02: nobody heard a gap."""
    status = healthy()
    status.costs["kokoro m CPU"] = {"segments": 7, "real_time_factor": factor}
    gaps(status)
    assert recommendations(status) == []


@pytest.mark.parametrize(
    ("change", "code", "figure"),
    [
        (slow, "slower_than_speech", "1.30 with kokoro m CPU"),
        (gaps, "gaps", "7 gaps"),
        (gaps_on_a_slow_machine, "slower_than_speech", "1.30"),
        (espeak, "espeak", "espeak-ng 1.52"),
        (restarted, "restarts", "3 times, the last by SIGSEGV"),
        (refused, "refused", "40 of 100"),
        (without_its_provider, "provider_refused", "CoreMLExecutionProvider was given up (it raised)"),
        (short_of_memory, "low_memory", "100 MB of 16000 MB"),
        (slower_than_before, "slower_than_before", "0.520 of late, 1.30 times the stored 0.400"),
        (slower_in_a_stream, "slows_down_in_streams", "1.50 times"),
        (slower_in_the_check, "selfcheck_regression", "0.600, 1.50 times the median of the 4 before"),
        (guesses, "guessed_pronunciations", "100 of 200"),
        (full_cache, "cache_full", "250 MB of 256 MB"),
        (repeats, "disk_cache_unused", "80%"),
    ],
)
def test_a_rule_cites_the_figure_that_it_rests_on(change: Callable[[Status], None], code: str, figure: str) -> None:
    status = healthy()
    change(status)
    (found,) = recommendations(status)
    assert found.code == code
    assert figure in found.message


def test_a_server_that_has_done_nothing_yet_is_left_alone() -> None:
    status = healthy()
    status.costs, status.words_by_source = {}, {}
    status.totals = Totals(0, 0, 0, 0, 0, 0)
    status.cache = Cache(0, 0, 0, 0, 0, disk=False)
    assert recommendations(status) == []


def test_espeak_that_was_asked_for_is_no_matter_of_advice() -> None:
    status = healthy()
    status.engine = SpeakingEngine("espeak-ng", "native", "espeak-ng 1.52", 2)
    assert recommendations(status) == []


def test_a_fast_engine_s_milliseconds_are_noise() -> None:
    status = healthy()
    status.drift = Drift(0.060, 0.049, 1.224, 1.5)
    status.selfcheck = SelfCheck("2026-01-01T00:00:00+00:00", 0.06, 0.2, 5, 1.3)
    assert recommendations(status) == []


def test_no_advice_sends_anybody_where_it_was_read() -> None:
    """The page, `kokoro-live status` and `/status` show it."""
    for change in (slow, gaps, espeak, restarted, refused, short_of_memory, slower_than_before, guesses, repeats):
        status = healthy()
        change(status)
        for each in recommendations(status):
            assert "kokoro-live status" not in each.message and "/status" not in each.message


def test_no_advice_contradicts_another() -> None:
    status = healthy()
    full_cache(status)
    short_of_memory(status)
    assert [each.code for each in recommendations(status)] == ["low_memory"], "it asks for a smaller cache"


@pytest.mark.parametrize(
    ("role", "said", "unsaid"),
    [("worker", "Listeners don't hear", "cuts"), ("front", "cuts", "don't hear"), ("player", "once", "service")],
)
def test_a_death_s_consequences_are_those_of_its_role(role: str, said: str, unsaid: str) -> None:
    status = healthy()
    status.restarts[role] = 1
    [advice] = recommendations(status)
    assert f"The {role} has died and been restarted once" in advice.message
    assert said in advice.message and unsaid not in advice.message


def test_words_of_a_language_without_a_lexicon_are_no_matter_of_advice() -> None:
    status = healthy()
    status.words_by_source = {"lexicon": 10, "rules": 1000}
    assert recommendations(status) == []


def test_a_few_refusals_or_guesses_say_nothing_yet() -> None:
    status = healthy()
    status.totals = Totals(3, 3, 0, 0, 0, 0)
    status.words_by_source = {"espeak": 5}
    status.cache = Cache(1, 255_999_999, 3, 0, 256_000_000, disk=False)
    assert recommendations(status) == []
