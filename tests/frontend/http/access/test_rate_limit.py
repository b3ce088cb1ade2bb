"""The token bucket: its burst, its pace, that its waits are honest, and that its table is bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.serving import gate as rate_limit
from frontend.serving.gate import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_minutes_worth_at_once_and_then_its_pace() -> None:
    clock = Clock()
    limit = RateLimit(30, clock)
    assert [limit.take("a") for _ in range(30)] == [0.0] * 30
    assert limit.take("a") == pytest.approx(2.0)
    assert limit.take("b") == 0.0, "another client is not held up"
    clock.now += 1.5
    assert limit.take("a") == pytest.approx(0.5)
    clock.now += 0.5
    assert limit.take("a") == 0.0
    clock.now += 3600
    assert sum(limit.take("a") == 0.0 for _ in range(100)) == 30, "what wasn't used isn't saved up beyond a minute"


@given(st.integers(1, 1000), st.lists(st.floats(0, 10), max_size=50))
def test_who_waits_as_long_as_told_is_taken(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    for pause in pauses:
        clock.now += pause
        while not (wait := limit.take("a")):
            pass
        assert 0 < wait <= 60 / per_minute + 1e-6
        clock.now += wait + 1e-6
        assert limit.take("a") == 0.0


@given(st.integers(1, 60), st.lists(st.floats(0, 5), max_size=100))
def test_no_more_than_the_limit_is_ever_taken(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    begun, taken = clock.now, 0
    for pause in pauses:
        clock.now += pause
        taken += limit.take("a") == 0.0
        assert taken <= per_minute + (clock.now - begun) * per_minute / 60 + 1e-6


def test_the_table_forgets_who_asked_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "CLIENTS", 3)
    limit = RateLimit(1, Clock())
    for client in ("a", "b", "c", "a", "d"):
        limit.take(client)
    assert limit.take("a") > 0 and limit.take("d") > 0
    assert limit.take("b") == 0.0, "forgotten, so it begins again"
