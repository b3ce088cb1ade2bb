"""Three servers behind nginx and behind HAProxy, as the recipes in deploy/proxies configure them; one's dead front."""

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.taken_by_kernel import PROXIES, way
from tests import platforms
from tests.deploy.proxied import RECIPE, Proxied, missing, proxied
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import DEADLINE, Connection, Server, awaited, server

LISTENERS = int(os.environ.get("LISTENERS", "30"))
"""Listeners during the rolling restart; a short form has fewer."""

TEXT = sentences(6)

LONG = sentences(80)
"""11 MB of samples: more than the servers' rings, the proxies and the system's buffers between them hold."""

DECLINED = (429, 503)
"""Statuses by which busy servers, and a proxy all of whose servers are busy or restarting, send a newcomer away."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def behind_each(names: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test for each of these proxies that is installed."""
    marks = {name: pytest.mark.skipif(missing(name), reason=f"install the Debian package {name}") for name in names}
    return pytest.mark.parametrize("name", [pytest.param(name, marks=mark) for name, mark in marks.items()])


proxies = behind_each(RECIPE)


def metric(of: Server, name: str) -> float:
    lines = of.get("/metrics")[1].splitlines()
    return float(next((line.split()[1] for line in lines if line.startswith(f"kokoro_live_{name} ")), 0.0))


def active(of: Server) -> int:
    return len(of.get("/status")[1]["streams"])


@contextlib.contextmanager
def listening(behind: Proxied, port: int | None = None) -> Iterator[None]:
    """Somebody who has heard the beginning and reads no further."""
    with behind.speech(LONG, port) as response:
        assert response.status == 200
        response.read(4800)
        yield


@proxies
def test_a_listener_goes_to_the_server_with_the_fewest_and_a_full_one_is_passed_over(name: str, tmp_path: Path) -> None:
    one = (*miniature_arguments(tmp_path), "--max-streams", "1")
    with proxied(name, [one] * 3) as behind, contextlib.ExitStack() as listeners:
        for _ in range(3):
            listeners.enter_context(listening(behind))
        assert [active(each) for each in behind.servers] == [1, 1, 1]
        with behind.speech("No room.") as refused:
            assert refused.status == 429
            assert 1 <= int(refused.getheader("Retry-After", "0")) <= 60
        listeners.close()
        for each in behind.servers:
            each.await_streams(0)

        before = [metric(each, "requests_refused_total") for each in behind.servers]
        with listening(behind, behind.ports[0]):  # the proxy doesn't know of this one
            for number in range(6):
                with behind.speech(f"Elsewhere, {number}.") as response:
                    heard = response.read()
                    assert response.status == 200
                assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of(f"Elsewhere, {number}."))
        after = [metric(each, "requests_refused_total") for each in behind.servers]
        assert after[0] > before[0], "it was asked, said 429, and another one spoke"


class Listeners:
    """Listeners who ask again and again, until `stop`; each checks every sample."""

    def __init__(self, behind: Proxied, count: int) -> None:
        self.heard = 0
        self.declined = 0
        """Number of answers that told a client to come again later, before any sound."""
        self.wrong: list[str] = []
        self._behind = behind
        self._expected = samples_of(TEXT).tobytes()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._listen) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                with self._behind.speech(TEXT) as response:
                    data, status = response.read(), response.status
                    later = status in DECLINED and response.getheader("Retry-After") is not None
            except Exception as error:
                data, status, later = repr(error).encode(), 0, False
            with self._lock:
                if later:
                    self.declined += 1
                elif status != 200 or data != self._expected:
                    self.wrong.append(f"{status}: {len(data)} bytes, {data[:80]!r}")
                else:
                    self.heard += 1
            if later:
                self._over.wait(1.0)

    def hear(self, more: int) -> None:
        """Wait until so many more streams were heard whole."""
        wanted = self.heard + more
        awaited(lambda: self.heard, lambda heard: heard >= wanted or self.wrong, 3 * DEADLINE)

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(3 * DEADLINE)


@proxies
def test_every_server_is_restarted_and_no_listener_is_cut(name: str, tmp_path: Path) -> None:
    arguments = (*miniature_arguments(tmp_path, cost=1), "--drain-timeout", "120", "--standby", "off")
    with proxied(name, [arguments] * 3) as behind:
        crowd = Listeners(behind, LISTENERS)
        try:
            crowd.hear(3)
            for number in range(3):
                behind.restart(number)
                crowd.hear(3)
        finally:
            crowd.stop()
        assert not crowd.wrong
        assert all(metric(each, "requests_refused_total") >= 0 for each in behind.servers)
        declined = f"{crowd.declined} times told to come again"
        print(f"{name}: {LISTENERS} listeners, {crowd.heard} streams heard whole, 3 restarts, 0 cut, {declined}")


@platforms.linux_only("only Linux counts the bytes that left")
@behind_each(PROXIES)
def test_an_answer_through_a_proxy_goes_on_after_its_front_died(name: str, tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path)) as started, way(name, started.port) as address:
        connection = Connection(*address, timeout=DEADLINE)
        with contextlib.closing(connection):
            response = connection.speak({"input": LONG, "response_format": "pcm"})
            heard = response.read(4800)
            for _ in range(3):
                front = awaited(lambda: started.children("front"))[0]
                front.kill()
                front.wait(DEADLINE)
                heard += response.read(1_000_000)
            heard += response.read()
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of(LONG))
