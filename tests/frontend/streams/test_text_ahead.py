"""The board of texts while a text is read ahead."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

from frontend.contract import in_flight
from frontend.streams.text_ahead import TextAhead
from shm.in_flight import BOARD_BYTES, Board, WorkKind, WorkStep, digest_of
from shm.memory import reserve


async def test_the_board_has_the_segment_that_is_read() -> None:
    memory = reserve(BOARD_BYTES)
    front, supervisor = Board(memory), Board(memory)
    os.close(memory)
    one = digest_of("one")
    token = in_flight.current.set(front.enter(one))
    seen = []

    def segments() -> Iterator[Mock]:
        for _ in range(4):
            seen.append(supervisor.read().working)
            yield Mock()

    request = Mock(growing=None, text="one", request_id="", progress=Mock(left=Mock(heard=2)))
    with ThreadPoolExecutor(1) as executor:
        ahead = TextAhead(segments(), executor, request, executor)
        while await ahead.next():
            assert not supervisor.read().working
    in_flight.current.reset(token)
    assert seen == [{one: {WorkStep(WorkKind.READING, place, place + 1)}} for place in range(4)]
