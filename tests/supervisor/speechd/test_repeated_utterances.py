"""Utterances that were spoken before, on a whole server: its cache has them."""

import re
from pathlib import Path

import pytest

from supervisor.speechd.config import ModuleConfig
from tests.supervisor.speechd.dispatcher import dispatcher
from tests.system.server import Server, server

pytestmark = pytest.mark.xdist_group("speechd")


def counted(target: Server, name: str) -> int:
    found = re.search(rf"^kokoro_live_{name} (\S+)$", target.get("/metrics")[1], re.MULTILINE)
    return int(float(found[1])) if found else 0


def test_a_short_utterance_is_made_once(tmp_path: Path) -> None:
    """A repeated utterance comes from the memory, whatever its marks' names and loudness: a screen reader repeats the
    names of menus all day."""
    with (
        server("--engine", "espeak") as target,
        dispatcher(tmp_path, ModuleConfig(f"http://127.0.0.1:{target.port}", instant_words=0)) as module,
    ):
        spoken = []
        for number, volume in enumerate((100, 100, 50)):
            assert module.set(volume=volume) == "203 OK SETTINGS RECEIVED"
            before = len(module.audio)
            module.send("SPEAK", f'<speak>Yes <mark name="__spd_{number}"/>indeed</speak>', ".")
            heard = module.until("702 END")
            assert f"700-__spd_{number}" in heard
            spoken.append(len(module.audio) - before)
            assert (counted(target, "cache_misses_total"), counted(target, "cache_hits_total")) == (1, number)
        assert len(set(spoken)) == 1
