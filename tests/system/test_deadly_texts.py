"""A text that kills the front whenever it is read: it is refused the third time, and everybody else is served."""

from __future__ import annotations

import http.client
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import Server, server

POISON = "Read this and perish."
PATCH = """
import os, signal, sys
class Poison:
    def find_spec(self, name, path=None, target=None):
        if name == "frontend.scheduling.scheduler":
            from frontend.planning.reader import Reader
            read = Reader._sentences
            def deadly(self, request, notation):
                if request.text == {text!r}:
                    os.kill(os.getpid(), signal.{signal})
                return read(self, request, notation)
            Reader._sentences = deadly
        return None
sys.meta_path.insert(0, Poison())
"""


def poisoned(folder: Path, signal: str) -> dict[str, str]:
    """An environment in which a front that reads `POISON` dies: a module that Python imports at start."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(PATCH.format(text=POISON, signal=signal))
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


def front_restarts(of: Server) -> int:
    _, status = of.get("/status")
    restarts: int = status["restarts"]["front"]
    return restarts


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSEGV"])
def test_a_text_that_kills_the_front_is_refused_the_third_time(tmp_path: Path, signal: str) -> None:
    with server(*miniature_arguments(tmp_path), environment=poisoned(tmp_path, signal)) as started:
        for _ in range(2):
            with pytest.raises((ConnectionError, http.client.HTTPException)):
                started.speak(input=POISON, response_format="pcm").read()
        for _ in range(5):
            refused = started.speak(input=POISON, response_format="pcm")
            error = json.loads(refused.read())["error"]
            assert (refused.status, error["code"], error["param"]) == (400, "text_refused", "input")
            assert int(refused.headers["Retry-After"]) > 0
        heard = started.hear(input="As before.", response_format="pcm")
        assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("As before."))
        assert front_restarts(started) == 2, "nobody had to die for the refusals"
