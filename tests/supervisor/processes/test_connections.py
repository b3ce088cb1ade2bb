"""The supervisor's copies of connections: who gets them, who inherits them, and when they end."""

import errno
import logging
import selectors
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from unittest.mock import Mock

import pytest

from shm.handover import Accepted, Handover, Port, Report, Said, handover_pair
from shm.listeners import Listeners
from supervisor.processes.connections import RETRY, SPARE, ClientConnections
from supervisor.processes.loop import Loop
from supervisor.processes.spawning import ProcessSpawner
from supervisor.processes.timers import Timers
from supervisor.settings.composition import Settings


@dataclass
class Front:
    """A front that does what the test says."""

    ours: Handover
    theirs: Handover
    has: dict[int, socket.socket] = field(default_factory=dict)

    def take(self) -> Accepted | None:
        taken = self.theirs.take()
        if taken is None:
            return None
        accepted, client = taken
        assert client is not None
        self.has[accepted.number] = client
        return accepted

    def take_all(self) -> list[Accepted]:
        return list(iter(self.take, None))

    def close(self) -> None:
        """End, as the system ends a process."""
        self.theirs.close()
        for client in self.has.values():
            client.close()


class House:
    def __init__(self, listener: socket.socket, wyoming: socket.socket) -> None:
        self.now = 100.0
        self.ports = {Port.HTTP: listener, Port.WYOMING: wyoming}
        self.timers = Timers(lambda: self.now)
        self.connections = ClientConnections(Listeners(listener, wyoming), self.timers)
        self.fronts: list[Front] = []
        self.clients: list[socket.socket] = []

    def front(self) -> Front:
        """A front that gets connections from now on."""
        ours, theirs = handover_pair()
        self.connections.joined(ours)
        self.connections.serves(ours)
        self.fronts.append(Front(ours, Handover(theirs)))
        return self.fronts[-1]

    def comes(self, port: Port = Port.HTTP) -> socket.socket:
        client = socket.create_connection(self.ports[port].getsockname(), timeout=10)
        self.clients.append(client)
        self.connections.turn()
        return client

    def ends(self, front: Front, *, died: bool = True) -> None:
        front.close()
        self.connections.left(front.ours, died=died)

    def close(self) -> None:
        self.connections.close()
        for front in self.fronts:
            front.ours.close()
            front.close()
        for client in self.clients:
            client.close()


@pytest.fixture
def house() -> Iterator[House]:
    with socket.create_server(("127.0.0.1", 0)) as http, socket.create_server(("127.0.0.1", 0)) as wyoming:
        house = House(http, wyoming)
        yield house
        house.close()


def test_a_front_gets_each_connection_with_its_port(house: House) -> None:
    front = house.front()
    for port in Port:
        client = house.comes(port)
        accepted = front.take()
        assert accepted and accepted[1:3] == (port, False)
        front.has[accepted.number].send(b"hello")
        assert client.recv(5) == b"hello"


def test_selectors_that_found_no_descriptor_at_their_import_change_nothing(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("selectors.DefaultSelector", selectors.PollSelector)
    test_a_front_gets_each_connection_with_its_port(request.getfixturevalue("house"))


def test_who_comes_while_no_front_serves_waits_in_the_backlog(house: House) -> None:
    client = house.comes()
    client.send(b"hello")
    assert not len(house.connections)
    front = house.front()
    house.connections.turn()
    accepted = front.take()
    assert accepted and not accepted.inherited
    assert front.has[accepted.number].recv(5) == b"hello"


def test_a_dead_fronts_connections_go_to_the_next_one_under_their_numbers(house: House) -> None:
    first = house.front()
    client, unread = house.comes(), house.comes()
    taken = first.take()
    assert taken
    client.send(b"before")
    house.ends(first)
    client.send(b" and after")
    second = house.front()
    accepted = second.take_all()
    assert [each.inherited for each in accepted] == [True, True] and accepted[0] == taken._replace(inherited=True)
    assert second.has[taken.number].recv(16) == b"before and after"
    second.has[accepted[1].number].send(b"x")
    assert unread.recv(1) == b"x"


def test_a_draining_fronts_connections_go_to_its_successor_when_it_dies(house: House) -> None:
    first = house.front()
    house.comes()
    taken = first.take()
    second = house.front()
    assert not second.take_all()
    house.ends(first)
    assert taken and second.take_all() == [taken._replace(inherited=True)]


def test_a_front_that_has_ended_in_order_leaves_no_connection(house: House) -> None:
    first, client = house.front(), house.comes()
    first.take()
    house.ends(first, died=False)
    assert client.recv(1) == b"" and not len(house.connections)


@pytest.mark.parametrize("said", [2, 255])
def test_a_front_whose_reports_make_no_sense_is_heard_no_more(house: House, said: int) -> None:
    """Its memory is damaged; the supervisor, on whom all depend, goes on, and loses nobody."""
    first, _ = house.front(), house.comes()
    taken = first.take()
    assert taken
    first.theirs._socket.send(taken.number.to_bytes(8, "big") + bytes([said, 0, 0, 0, 0]))
    house.connections.turn()
    house.connections.turn()
    second = house.front()
    house.ends(first)
    assert second.take_all() == [taken._replace(inherited=True)]


def test_the_client_sees_the_end_once_the_front_has_closed_its_copy(house: House) -> None:
    front, client = house.front(), house.comes()
    accepted = front.take()
    assert accepted
    front.has.pop(accepted.number).close()
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        client.recv(1)
    front.theirs.report(Report(accepted.number, Said.CLOSED))
    house.connections.turn()
    client.settimeout(10)
    assert client.recv(1) == b"" and not len(house.connections)


def test_what_a_front_reported_before_it_died_is_heard(house: House) -> None:
    first = house.front()
    for _ in range(20):
        house.comes()
    taken = first.take_all()
    for accepted in taken[1:]:
        first.theirs.report(Report(accepted.number, Said.CLOSED))
    house.ends(first)
    assert house.front().take_all() == [taken[0]._replace(inherited=True)]


def test_a_client_who_left_while_no_front_served_is_the_next_fronts_to_notice(house: House) -> None:
    first, client = house.front(), house.comes()
    first.take()
    house.ends(first)
    client.close()
    second = house.front()
    accepted = second.take()
    assert accepted and second.has[accepted.number].recv(1) == b""
    second.theirs.report(Report(accepted.number, Said.CLOSED))
    house.connections.turn()
    assert not len(house.connections)


def test_a_front_that_reads_nothing_stops_the_accepting_and_loses_nobody(house: House) -> None:
    front = house.front()
    known = -1
    while len(house.connections) != known:
        known = len(house.connections)
        house.comes()
        house.comes()
        assert known < 5000
    assert known > 50
    accepted = front.take_all()
    while len(accepted) < len(house.clients):
        house.connections.turn()
        accepted += front.take_all()
    assert len({each.number for each in accepted}) == len({each.slot for each in accepted}) == len(house.clients)


def test_what_a_replaced_front_gives_back_is_its_successors_and_new(house: House) -> None:
    first = house.front()
    house.comes()
    second = house.front()
    accepted = first.take()
    assert accepted
    first.theirs.report(Report(accepted.number, Said.RETURNED))
    house.connections.turn()
    assert second.take_all() == [accepted]


def test_a_front_without_room_is_asked_again_after_a_while(house: House) -> None:
    front = house.front()
    house.comes()
    accepted = front.take()
    assert accepted
    front.has.pop(accepted.number).close()
    front.theirs.report(Report(accepted.number, Said.RETURNED))
    house.connections.turn()
    house.comes()
    assert not front.take_all()
    house.now += RETRY
    house.timers.run_due()
    house.connections.turn()
    assert [each.number for each in front.take_all()] == [accepted.number, accepted.number + 1]


def test_after_the_end_of_listening_nobody_waits(house: House) -> None:
    first, client = house.front(), house.comes()
    first.take()
    house.connections.stop_listening()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(client.getpeername(), timeout=10)
    assert len(house.connections) == 1, "it is being served"
    house.ends(first)
    assert client.recv(1) == b"" and not len(house.connections)


class Exhausted:
    """A listening socket whose `accept` fails while `broken`."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.broken = True

    def __getattr__(self, name: str) -> object:
        return getattr(self._listener, name)

    def accept(self) -> tuple[socket.socket, object]:
        if self.broken:
            raise OSError(errno.EMFILE, "Too many open files")
        return self._listener.accept()


def test_what_accept_lacks_is_one_line_and_whoever_waits_is_served_when_it_is_there(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    broken = Exhausted(house.ports[Port.HTTP])
    house.connections = ClientConnections(Listeners(broken), house.timers)  # type: ignore[arg-type]
    front = house.front()
    house.comes()
    for _ in range(3):
        house.connections.turn()
        house.now += RETRY
        house.timers.run_due()
    broken.broken = False
    house.connections.turn()
    assert len(front.take_all()) == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"can't accept connections, trying again each {RETRY:g} s: Too many open files",
        "connections are accepted again",
    ]


def test_connections_leave_descriptors_for_new_processes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    # The lowest free number may be far above the last one that was taken.
    monkeypatch.setattr("supervisor.processes.connections.allowed_files", lambda needed: needed - 2 * SPARE + 20)
    house.connections = ClientConnections(Listeners(house.ports[Port.HTTP]), house.timers, wanted=0)
    front = house.front()
    for _ in range(20):
        house.comes()
        front.take_all()
    few = len(house.connections)
    assert 5 <= few < 15
    first = next(iter(front.has))
    front.theirs.report(Report(first, Said.CLOSED))
    for _ in range(2):
        house.connections.turn()
    assert len(front.take_all()) == 1 and len(house.connections) == few


def test_a_connection_leaves_the_lifecycle_nothing_to_decide() -> None:
    """Reconciling takes a millisecond, and a client waits."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listeners = Listeners(listener)
        loop = Loop(ProcessSpawner(Settings(), listeners), listeners)
        ours, theirs = handover_pair()
        loop.connections.joined(ours)
        loop.connections.serves(ours)
        lifecycle = Mock(next_wakeup=lambda: None)
        with socket.create_connection(listener.getsockname()):
            loop._turn(lifecycle)
        assert len(loop.connections) == 1 and not lifecycle.tick.called
        loop.connections.close()
        ours.close()
        theirs.close()


class TwoVersions:
    """An old version's connections, and a new one's that takes its place."""

    def __init__(self, old: House) -> None:
        self.old = old
        self.new = House(old.ports[Port.HTTP], old.ports[Port.WYOMING])
        self.ours, theirs = handover_pair()
        self.theirs = Handover(theirs)
        old.connections.is_succeeded_by(self.ours)
        self.new.connections.succeeds([self.theirs])

    def close(self) -> None:
        self.new.close()
        self.ours.close()
        self.theirs.close()

    def turn(self) -> None:
        for _ in range(2):
            self.old.connections.turn()
            self.new.connections.turn()


def test_the_old_version_accepts_until_the_new_one_serves(house: House) -> None:
    versions = TwoVersions(house)
    front = house.front()
    house.comes()
    assert front.take() and versions.new.connections.waits_for_place and not house.connections.handed_on
    versions.new.connections.take_place()
    versions.turn()
    assert house.connections.handed_on and not versions.new.connections.waits_for_place
    successor = versions.new.front()
    versions.new.comes()
    versions.turn()
    assert successor.take() and not front.take()
    versions.close()


def test_what_the_old_front_gives_back_goes_to_the_new_version(house: House) -> None:
    versions = TwoVersions(house)
    front, client = house.front(), house.comes()
    client.sendall(b"GET")
    accepted = front.take()
    assert accepted
    versions.new.connections.take_place()
    versions.turn()
    front.theirs.report(Report(accepted.number, Said.RETURNED))
    successor = versions.new.front()
    versions.turn()
    (taken,) = successor.take_all()
    assert successor.has[taken.number].recv(3) == b"GET"
    assert len(house.connections) == 0, "the new version has it"
    versions.close()


def test_the_old_version_notices_that_the_new_one_has_ended(house: House) -> None:
    versions = TwoVersions(house)
    versions.new.connections.close()
    versions.theirs.close()
    house.connections.turn()
    assert house.connections.deserted and not house.connections.handed_on
    versions.close()
