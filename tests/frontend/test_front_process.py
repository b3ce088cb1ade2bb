"""The front process: what it does on the supervisor's messages."""

import asyncio

from frontend.process import Front
from shm.situation import ProcessReport, Situation


class Reader:
    """Stands in for the scheduler, the G2P, the line to the player and the desk of jobs."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def situation(self, _message: Situation) -> None: ...

    def given_up(self, _reason: str) -> None: ...

    def load(self, language: str) -> None:
        self.loaded.append(language)


def front(reader: Reader) -> Front:
    made = Front.__new__(Front)
    made._scheduler = made._g2p = made._player = made._jobs = reader
    made._loading = None
    made._oriented = asyncio.Event()
    return made


def situation(loading: str) -> Situation:
    return Situation("starting", "", {}, processes=(ProcessReport(role="worker", state="starting", loading=loading),))


async def test_english_is_loaded_once_while_a_worker_loads_kokoro():
    reader = Reader()
    made = front(reader)
    made._follow(situation(""), [])
    assert made._loading is None, "espeak-ng needs no lexicon"
    for _ in range(2):
        made._follow(situation("CPUExecutionProvider"), [])
    assert made._loading is not None
    await made._loading
    assert reader.loaded == ["en-us"]
