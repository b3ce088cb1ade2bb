"""A real server whose installation changes: the new version takes its place without a cut, or not at all.

1. Listeners hear long answers; the server updates twice -> the pid and the address stay, each answer is whole, and the
   same bytes; the earlier versions' processes have ended, and the counts went on.
2. The new version is broken (its front ends, it is too quiet) -> one line says why, and the old one goes on. More
   kinds: `benchmarks.updates`.
3. SIGHUP updates after a change of the installation, and only reads the settings otherwise.
"""

import signal
import threading
from collections.abc import Iterator

import pytest

from tests.chaos.loops import UNLIMITED
from tests.ports import lasting_port
from tests.system.installed import Installation
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import Server, awaited
from tests.system.shared import SharedServer, shared

pytestmark = pytest.mark.timeout(540)

TEXT = sentences(30)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def house(installed: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    model = miniature_arguments(tmp_path_factory.mktemp("model"))
    flags = *model, *UNLIMITED, "--standby-front", "--wyoming-port", str(lasting_port())
    with shared(*flags, root=installed.root) as kept:
        yield kept


@pytest.fixture
def target(house: SharedServer) -> Server:
    return house.calm()


class Listener(threading.Thread):
    """Asks for the text, and takes its answer slowly."""

    def __init__(self, of: Server, form: str) -> None:
        super().__init__()
        # A busy machine may have no room for a stream in real time.
        self._answer = awaited(lambda: of.speak(input=TEXT, response_format=form), lambda found: found.status == 200)
        self.heard = b""
        self.hurry = threading.Event()
        self.start()

    def run(self) -> None:
        while piece := self._answer.read(1 << 15):
            self.heard += piece
            self.hurry.wait(0.3)


@pytest.mark.slow
def test_answers_go_on_through_two_updates(target: Server) -> None:
    expected = {form: target.hear(input=TEXT, response_format=form) for form in ("pcm", "wav", "mp3", "flac")}
    restarts = _count(target, "kokoro_live_requests_total")
    listeners = [(form, Listener(target, form)) for form in expected]
    earlier = target.children("front") + target.children("worker")
    for _ in range(2):
        target.process.send_signal(signal.SIGUSR2)
        target.announced()
        listeners += [(form, Listener(target, form)) for form in expected]
    for _, listener in listeners:
        listener.hurry.set()
        listener.join()
    wrong = [(form, len(each.heard), len(expected[form])) for form, each in listeners if each.heard != expected[form]]
    assert not wrong, "\n".join(target.log)
    awaited(lambda: [each for each in earlier if each.is_running()], lambda living: not living)
    awaited(lambda: target.children("predecessor"), lambda living: not living)
    assert _count(target, "kokoro_live_requests_total") >= restarts + len(listeners)
    assert target.stop() == 0


BREAKS = {
    "front-ends": ("frontend/process.py", "    setproctitle(_SPARE)\n", "    sys.exit(5)\n", "before it spoke"),
    "quiet": ("worker/pcm.py", "FULL_SCALE = 32_767", "FULL_SCALE = 3_000", "and the running version"),
}


@pytest.mark.parametrize("kind", ["front-ends", pytest.param("quiet", marks=pytest.mark.slow)])
def test_a_broken_version_changes_nothing(installed: Installation, target: Server, kind: str) -> None:
    file, old, new, reason = BREAKS[kind]
    before = target.hear(input="One sentence.", response_format="pcm")
    front, start = target.child("front").pid, len(target.log)
    installed.change(file, old, new)
    try:
        target.process.send_signal(signal.SIGUSR2)
        assert reason in target.logs("not updated, this version goes on: .*", start)[0]
    finally:
        installed.change(file, new, old)
    assert target.hear(input="One sentence.", response_format="pcm") == before
    assert target.child("front").pid == front


def test_sighup_updates_after_a_change_of_the_installation(installed: Installation, target: Server) -> None:
    (installed.root / "text/__init__.py").touch()
    target.process.send_signal(signal.SIGHUP)
    target.logs("dB; it takes this one's place")
    target.announced()
    assert target.hear(input="One sentence.", response_format="pcm")


def _count(of: Server, name: str) -> float:
    text = of.get("/metrics")[1]
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))
