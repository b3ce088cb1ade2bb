"""`kokoro-live trace`, against a real server of a miniature model: its places are those of all processes, in order."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from supervisor.cli import kokoro_live
from supervisor.commands.trace import PLACES, TracedRequest, medians, table, timeline
from tests.split_model import make_split_model, make_split_voices
from tests.supervisor.clean_environment import clean_environment
from tests.system.shared import SharedServer, shared


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_environment(tmp_path, monkeypatch):
        yield


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    folder = tmp_path_factory.mktemp("model")
    model, voices = make_split_model(folder / "small.onnx"), make_split_voices(folder / "voices.bin")
    with shared("--engine", "kokoro", "--model", str(model), "--voices", str(voices)) as kept:
        yield kept


def test_every_place_is_shown_in_order_with_its_process(house: SharedServer, tmp_path: Path) -> None:
    server = house.calm()
    svg = tmp_path / "trace.svg"
    result = CliRunner().invoke(kokoro_live, ["trace", "--url", f"http://127.0.0.1:{server.port}", "--svg", str(svg)])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()[1:]
    rows = [line for line in lines if line.split()[0][0].isdigit()]
    assert [row.split()[2] for row in rows] == [process for process, _ in PLACES.values()]
    times = [float(row.split()[0]) for row in rows]
    assert times == sorted(times), "one clock, in all processes"
    assert any(line.startswith("window 1: begun") for line in lines)
    assert "server" in lines[-1]
    drawn = ElementTree.fromstring(svg.read_text())
    assert len(drawn.findall("{http://www.w3.org/2000/svg}rect")) > len(PLACES)


def test_status_has_the_request_without_its_text(house: SharedServer) -> None:
    server = house.calm()
    text = "Nobody may read this sentence in the server's status."
    server.hear(input=text)
    _, status = server.get("/status")
    trace = status["latest_requests"][0]
    assert trace["facts"]["characters"] == len(text)
    assert trace["places"].keys() == PLACES.keys() - {"sent", "received"} | {"first_audio"}
    assert trace["request_id"] in {each["request_id"] for each in status["slowest_requests"]}
    assert "Nobody" not in str(status)


def test_a_server_that_keeps_none_is_told(house: SharedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server = house.calm()
    monkeypatch.setattr("frontend.monitoring.metrics.LATEST", 0)
    monkeypatch.setattr("client.blocking.BlockingClient.get", lambda *_: {})
    result = CliRunner().invoke(kokoro_live, ["trace", "--url", f"http://127.0.0.1:{server.port}"])
    assert result.exit_code == 1 and "keeps no trace" in result.output


def a_timeline(own: float, engine: float) -> TracedRequest:
    places = dict.fromkeys(PLACES, 0.0)
    passed = 0.0
    for name in places:
        passed += {"sent": 0.0, "dispatched": own, "made": engine, "planned": 0.005}.get(name, 0.0)
        places[name] = 100.0 + passed
    return TracedRequest(places, [(100.0, 100.0 + engine, 101.0, 102.0)])


def test_the_server_s_own_share_is_neither_the_engine_s_nor_the_text_s() -> None:
    shown = a_timeline(own=0.020, engine=0.150)
    assert shown.total == pytest.approx(0.175)
    assert shown.own == pytest.approx(0.020)


def test_each_step_has_its_own_median() -> None:
    """A request that was slow in one step doesn't hide the others' times."""
    typical = medians([a_timeline(0.001, 0.5), a_timeline(0.9, 0.1), a_timeline(0.001, 0.1)])
    assert typical.own == pytest.approx(0.001)
    assert typical.between(("begun", "made")) == pytest.approx(0.1)
    assert len(list(table(typical))) == len(PLACES) + 2


def test_a_place_that_was_skipped_is_left_out() -> None:
    """What the cache has needs no worker."""
    answer = {"started": 50.0, "places": {"first_byte": 0.002, "planned": 0.001}, "blocks": []}
    shown = timeline(answer, 49.9, 50.1)
    assert list(shown.places) == ["sent", "planned", "first_byte", "received"]
    assert shown.own == pytest.approx(0.2)
