"""The board of texts that a front has in the works, as its supervisor reads it."""

import os
import threading
from collections.abc import Iterator

import pytest

from shm.in_flight import (
    BOARD_BYTES,
    SLOTS,
    WHOLE_READING,
    Board,
    TextInFlight,
    TextsInFlight,
    WorkKind,
    WorkStep,
    WorkSteps,
    digest_of,
)
from shm.memory import reserve

ONE, TWO = digest_of("one"), digest_of("two")
WHOLE = WorkSteps((WHOLE_READING,))


@pytest.fixture
def boards() -> Iterator[tuple[Board, Board]]:
    """Two processes' views of one board: the front's and the supervisor's."""
    memory = reserve(BOARD_BYTES)
    front, supervisor = Board(memory), Board(memory)
    os.close(memory)
    yield front, supervisor
    front.close()
    supervisor.close()


def test_the_supervisor_reads_which_texts_are_worked_on_and_which_wait(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    one, two = front.enter(ONE), front.enter(TWO)
    with two.working():
        assert supervisor.read() == TextsInFlight({TWO: WHOLE}, frozenset({ONE}))
    assert supervisor.read() == TextsInFlight({}, frozenset({ONE, TWO}))
    one.leave()
    two.leave()
    assert supervisor.read() == TextsInFlight()


def test_answers_that_have_begun_are_counted(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    one, two = front.enter(ONE), front.enter(TWO)
    one.audio_left()
    assert supervisor.read() == TextsInFlight({}, frozenset({ONE, TWO}), begun=1)
    with one.working():
        two.audio_left()
        assert supervisor.read() == TextsInFlight({ONE: WHOLE}, frozenset({TWO}), begun=2)
        one.leave()
        assert supervisor.read().begun == 1, "its answer has ended, though a thread still works on the text"
    two.leave()
    assert supervisor.read() == TextsInFlight()


def test_the_steps_of_all_threads_are_told(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    text, encoding = front.enter(ONE), WorkStep(WorkKind.ENCODING, 2_400, 4_800)
    with text.working(encoding):
        with text.working():
            assert supervisor.read().working == {ONE: WHOLE | {encoding}}
        assert supervisor.read().working == {ONE: {encoding}}
    text.leave()
    with front.enter(TWO).working():
        assert supervisor.read().working == {TWO: WHOLE}, "the place has nothing of its last text"


def test_a_text_of_two_requests_is_one(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    front.enter(ONE)
    with front.enter(ONE).working():
        assert supervisor.read() == TextsInFlight({ONE: WHOLE}, frozenset())


def test_a_thread_that_outlasts_its_request_keeps_the_text_suspected(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    text = front.enter(ONE)
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        with text.working():
            begun.set()
            ended.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    text.leave()
    assert supervisor.read().working == {ONE: WHOLE}
    ended.set()
    thread.join()
    assert supervisor.read() == TextsInFlight()


def test_more_texts_than_places_are_served_unrecorded(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    texts = [front.enter(digest_of(str(number))) for number in range(SLOTS + 10)]
    assert len(supervisor.read().waiting) == SLOTS
    for text in texts:
        text.leave()
    assert supervisor.read() == TextsInFlight()
    front.enter(ONE)
    assert supervisor.read().waiting == {ONE}


def test_without_a_board_nothing_is_recorded() -> None:
    text = TextInFlight()
    with text.working():
        pass
    text.leave()
