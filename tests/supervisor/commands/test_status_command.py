"""`kokoro-live status` and `trace`, against a real server, against none, and against what is no server of ours."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from supervisor.cli import kokoro_live
from supervisor.commands.trace import PLACES, TracedRequest, medians, table, timeline
from tests.split_model import make_split_model, make_split_voices
from tests.system.server import DEADLINE, ROOT, Server
from tests.system.shared import SharedServer, shared


@pytest.fixture(scope="module")
def shared_server() -> Iterator[SharedServer]:
    with shared("--engine", "espeak") as house:
        yield house


@pytest.fixture
def running(shared_server: SharedServer) -> Server:
    return shared_server.calm()


@contextmanager
def answering(status: int, body: str) -> Iterator[str]:
    """A server that says that to everything; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}"
        finally:
            listening.shutdown()
            thread.join()


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(kokoro_live, ["status", *arguments])


def test_it_shows_who_speaks(running: Server) -> None:
    result = ask("--once", "-v", "--url", f"http://127.0.0.1:{running.port}")
    assert result.exit_code == 0
    assert "ready" in result.stdout
    assert "espeak-ng" in result.stdout
    assert "queue depth" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    (worker,) = (line.split() for line in result.stdout.splitlines() if line.startswith("worker  ") and "MB" in line)
    assert worker[1] == "running" and worker[2].isdigit()


def test_without_v_it_says_in_a_few_lines_how_the_server_is(running: Server) -> None:
    running.hear(input="Hello there.")
    lines = ask("--once", "--url", f"http://127.0.0.1:{running.port}").stdout.splitlines()
    assert len(lines) <= 7 and max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "ready" in lines[0] and "espeak-ng speaks" in lines[1]
    assert re.search(r"requests: \d+ refused, 0 cut off, first sound after [\d.]+ s", text)
    assert re.search(r"\d processes, \d+ MB; \d+ restarts", text) and "-v shows" in lines[-1]
    told = {"ready": False, "reason": "no model", "active_streams": 2, "jobs": {"making": 1}}
    with answering(200, json.dumps({**told, "errors": [{"at": "12:00", "kind": "overloaded"}]})) as url:
        shown = ask("--once", "--url", url).stdout
    for words in ("can't speak", "no model", "Now: 2 being spoken, 1 books making", "overloaded"):
        assert words in shown


def test_espeak_that_was_asked_for_is_left_alone(running: Server) -> None:
    """Neither advice, nor the line that announces the server, nor the metric that an alert looks at."""
    assert "models fetch" not in running.announcement
    assert running.get("/status")[1]["recommendations"] == []


def test_advice_stands_first() -> None:
    answer = {
        "worker": "running",
        "ready": True,
        "restarts": {"worker": 3},
        "processes": [{"role": "worker", "state": "running", "resident_memory_bytes": 52_000_000}],
        "recommendations": [{"code": "restarts", "message": "The worker has died: the log says why. " * 4}],
    }
    with answering(200, json.dumps(answer)) as url:
        lines = ask("--once", "-v", "--url", url).stdout.splitlines()
    assert lines[1].startswith("! The worker has died") and max(map(len, lines)) <= 80
    assert any("52 MB" in line for line in lines)


def test_it_finds_the_server_by_its_settings(running: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOKORO_LIVE_PORT", str(running.port))
    assert ask("--once").exit_code == 0


def test_json_is_the_servers_own_answer(running: Server) -> None:
    result = ask("--json", "--url", f"http://127.0.0.1:{running.port}/")
    assert json.loads(result.stdout).keys() == running.get("/status")[1].keys()


def test_no_server_is_said_and_has_a_status_of_its_own() -> None:
    result = ask("--once")
    assert result.exit_code == 3
    assert "(connection refused): start one with `kokoro-live serve`" in result.stderr
    assert "Cannot connect" not in result.stderr and "ssl" not in result.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://nobody.invalid", "there is no host of that name"),
        ("http://", "that is no http:// address"),
    ],
)
def test_an_address_that_is_none_is_said_without_the_library_s_words(url: str, said: str) -> None:
    assert said in ask("--once", "--url", url).stderr


def test_a_server_that_cannot_speak_says_why() -> None:
    with answering(200, json.dumps({"ready": False, "reason": "the worker keeps dying"})) as url:
        result = ask("--once", "--url", url)
    assert result.exit_code == 1
    assert "can't speak" in result.stdout
    assert "the worker keeps dying" in result.stdout


def test_figures_that_it_does_not_know_are_shown_too() -> None:
    answer = {
        "ready": True,
        "stage_seconds": {"text": {"p50": 0.25}, "total": 3},
        "streams": [{"request_id": "a"}, {"request_id": "b", "seconds_ahead": 1.5}],
        "[bold]odd": "[red]not markup[/red]",
        "player": {"state": "idle", "output": "", "reason": "no sound card"},
    }
    with answering(200, json.dumps(answer)) as url:
        shown = ask("--once", "-v", "--url", url).stdout
    assert "text p50 0.25, total 3" in shown
    assert "ahead" in shown
    assert "1.5 s" in shown
    assert "[red]not markup[/red]" in shown
    assert "state idle, reason no sound card" in shown


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, "not here", "not as a kokoro-live does"),
        (200, "<html>", "not as a kokoro-live does"),
        (401, '{"error": {"message": "A key is needed."}}', "A key is needed."),
    ],
)
def test_what_is_no_answer_of_ours_is_said(status: int, body: str, said: str) -> None:
    with answering(status, body) as url:
        result = ask("--once", "--url", url)
    assert result.exit_code == 1
    assert said in result.stderr


def test_on_a_terminal_it_follows_the_server_to_its_end_and_beyond(running: Server) -> None:
    """1. it shows a server that speaks; 2. the server ends: it says so and goes on; 3. an interrupt ends it with 0."""
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "supervisor", "status", "--interval", "0.05"]
    following = subprocess.Popen(
        [*command, "--url", f"http://127.0.0.1:{running.port}"],
        cwd=ROOT,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(terminal)
    shown = b""
    while b"espeak-ng" not in shown:
        shown += os.read(screen, 65536)
    assert running.stop() == 0
    while b"no server answers" not in shown:
        shown += os.read(screen, 65536)
    following.send_signal(signal.SIGINT)
    drain = threading.Thread(target=_read_to_end, args=(screen,))
    drain.start()
    assert following.wait(DEADLINE) == 0
    drain.join(DEADLINE)
    os.close(screen)


def _read_to_end(screen: int) -> None:
    try:
        while os.read(screen, 65536):
            pass
    except OSError:
        pass  # a terminal whose last program has ended says EIO


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
