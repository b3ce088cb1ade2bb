"""Metrics of a real server: what all its processes count, as a client counted it, whoever is killed meanwhile."""

import contextlib
import json
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.system.conftest import CommonServer
from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import DEADLINE, Server
from tests.system.shared import SharedServer, shared

Samples = dict[tuple[str, ...], float]

SPEECH = "/v1/audio/speech"


def scrape(of: Server) -> Samples:
    status, text = of.get("/metrics")
    assert status == 200
    return {
        (sample.name.removeprefix("kokoro_live_"), *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def started(common: CommonServer) -> Server:
    return common.calm()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spared") / "metrics"


@pytest.fixture(scope="module")
def spared_house(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[SharedServer]:
    arguments = miniature_arguments(tmp_path_factory.mktemp("model"))
    settings = ("--standby", "imported", "--metrics-dir", str(folder), "--selfcheck-hours", "1")
    state = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    with shared(*arguments, *settings, environment=state) as kept:
        yield kept


@pytest.fixture
def spared(spared_house: SharedServer) -> Server:
    """A server with a spare worker, that checks itself every hour."""
    started = spared_house.calm()
    started.logs(r"started worker\[3\]")
    return started


def replaced(of: Server, role: str) -> None:
    """Kill the role's process, and wait until the next one serves."""
    start = len(of.log)
    of.child(role).kill()
    of.logs(rf"started {role}" if role == "front" else r"worker\[\d+\] is ready", start)


def grown(before: Samples, after: Samples, *name: str) -> float:
    return after.get(name, 0.0) - before.get(name, 0.0)


def test_counters_equal_what_the_client_counted_though_everybody_was_killed_in_between(started: Server) -> None:
    before = scrape(started)
    counted: Counter[str] = Counter()
    heard = 0
    for number, victim in enumerate(("worker", "front")):
        for request in range(2):
            heard += len(started.hear(input=f"Words of number {number} and {request}.", response_format="pcm"))
            counted["200"] += 1
        with contextlib.closing(started.connect()) as connection:
            connection.request("POST", SPEECH, json.dumps({"input": ""}), {"Content-Type": "application/json"})
            counted[str(connection.getresponse().status)] += 1
        replaced(started, victim)
    after = scrape(started)
    assert {status: grown(before, after, "requests_total", SPEECH, status) for status in counted} == counted
    assert grown(before, after, "request_duration_seconds_count", SPEECH) == sum(counted.values())
    assert grown(before, after, "time_to_first_audio_seconds_count") == counted["200"]
    assert grown(before, after, "audio_seconds_total") == pytest.approx(heard / 48_000)
    made = {grown(before, after, name) for name in ("cache_misses_total", "worker_blocks_total")}
    assert made == {grown(before, after, "real_time_factor_count")}
    assert grown(before, after, "worker_engine_seconds_total") > 0
    assert grown(before, after, "process_restarts_total", "front") == 1
    assert grown(before, after, "process_restarts_total", "worker") == 1
    assert (after["active_streams",], after["queue_depth",]) == (0, 0)


def test_a_stream_whose_front_was_killed_is_no_longer_active(started: Server) -> None:
    before = scrape(started)
    listener = Listener(started, LONG, held=True)
    assert scrape(started)["active_streams",] == 1
    started.child("front").kill()
    assert listener.heard_all()
    after = scrape(started)
    assert after["active_streams",] == 0
    assert grown(before, after, "streams_cut_total") == 0
    assert grown(before, after, "answers_continued_total") == 1


def test_roles_have_their_figures_and_no_process_has_a_label_of_its_own(spared: Server) -> None:
    spared.hear(input="Hello.", response_format="pcm")
    _, text = spared.get("/metrics")
    assert not re.search(r"pid=|\w+-0", text)
    found = scrape(spared)
    for role in ("front", "worker", "supervisor"):
        assert found["process_resident_memory_bytes", role] > 5_000_000
    assert (found["process_up", "front"], found["process_up", "worker"]) == (1, 1)
    assert found["model_load_seconds",] > 0
    assert found["cost_real_time_factor", "kokoro miniature.onnx CPUExecutionProvider"] > 0


def test_scrapes_while_a_worker_is_killed_are_whole(started: Server) -> None:
    """A worker that is killed in the middle of counting breaks none of them, and no counter goes back."""
    scrapes: list[Samples] = []
    enough = threading.Event()

    def watch() -> None:
        while not enough.is_set():
            scrapes.append(scrape(started))
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(2):
            listener = Listener(started, f"Number {number}. {sentences(12)}")
            started.child("worker").kill()
            assert listener.heard_all()
            started.get("/health")
    finally:
        enough.set()
        watcher.join(DEADLINE)
    totals = [{key: value for key, value in each.items() if key[0].endswith("_total")} for each in scrapes]
    for before, after in pairwise(totals):
        assert all(after[key] >= value for key, value in before.items())


def test_status_answers_while_the_worker_is_being_restarted(started: Server) -> None:
    before, start = started.get("/status")[1], len(started.log)
    started.child("worker").kill()
    started.logs("the worker died", start)
    seen = started.get("/status")[1]
    started.logs(r"worker\[\d+\] is ready", start)
    after = started.get("/status")[1]
    workers = [process for process in seen["processes"] if process["role"] == "worker"]
    assert len(workers) == 1
    (worker,) = [process for process in after["processes"] if process["role"] == "worker"]
    restarts = before["restarts"]["worker"] + 1
    assert (worker["restarts"], worker["last_exit"]) == (restarts, "SIGKILL")
    assert after["restarts"] == before["restarts"] | {"worker": restarts}
    assert "restarts" in {each["code"] for each in after["recommendations"]}


def test_status_names_the_processes_that_there_are(spared: Server) -> None:
    found = spared.get("/status")[1]
    while any(process["resident_memory_bytes"] < 1_000_000 for process in found["processes"]):
        found = spared.get("/status")[1]  # a process that was just started is small for a moment
    shown = {process["pid"] for process in found["processes"]}
    assert shown <= {process.pid for process in spared.family()} and spared.process.pid in shown
    roles = {process["role"] for process in found["processes"]}
    assert roles - {"resource_tracker"} == {"supervisor", "front", "worker", "standby"}
    model, voices = found["engine"]["files"]
    assert (model["name"], model["sha256"]) == ("miniature.onnx", found["engine"]["sha256"])
    assert model["bytes"] > 0 and voices["bytes"] > 0
    assert found["engine"]["threads"] >= 1


@pytest.mark.ends_server
def test_two_servers_count_for_themselves(started: Server, plain: SharedServer) -> None:
    """Their metrics are in folders of the same cache."""
    other = plain.calm()
    before, others = scrape(started), scrape(other)
    other.hear(input="Hello.", response_format="pcm")
    assert grown(others, scrape(other), "requests_total", SPEECH, "200") == 1
    assert grown(before, scrape(started), "requests_total", SPEECH, "200") == 0
    assert other.stop() == 0
    assert scrape(started)["process_up", "front"] == 1


@pytest.mark.slow
def test_without_a_usable_folder_there_is_one_line_and_all_else_works(wanting: SharedServer) -> None:
    started = wanting.calm()
    before = scrape(started)
    started.hear(input="Hello.", response_format="pcm")
    found = scrape(started)
    assert grown(before, found, "requests_total", SPEECH, "200") == 1
    assert "worker_blocks_total" not in {name for name, *_ in found}, "that is in another process's memory"
    fronts = 1 + started.get("/status")[1]["restarts"]["front"]
    assert len([line for line in started.log if "metrics are kept" in line]) == fronts


@pytest.mark.ends_server
@pytest.mark.slow
def test_a_worker_that_finds_the_folder_gone_says_so_and_works(spared: Server, folder: Path) -> None:
    shutil.rmtree(folder)
    start = len(spared.log)
    for standby in spared.children("standby"):
        standby.kill()
    spared.child("worker").kill()
    spared.logs("the worker's metrics are kept in memory", start)
    spared.hear(input="Hello again.", response_format="pcm")
    assert spared.get("/metrics")[0] == 200
    assert spared.stop() == 0


def test_the_log_has_a_line_for_each_request_with_its_stages(started: Server) -> None:
    start = len(started.log)
    started.hear(input="An unheard of secret.", response_format="pcm")
    line = started.logs(rf"POST {SPEECH} 200 .*", start)[0]
    places = re.findall(r" (\w+)=([\d.]+)", line)
    facts = ["stream", "characters", "audio", "real_time_factor"]
    stages = ["planned", "dispatched", "first_block", "first_byte", "first_audio"]
    assert [name for name, _ in places] == facts + stages
    assert " voice=af_heart language=en-us characters=21 engine=" in line
    times = [float(value) for name, value in places if name in stages]
    assert times == sorted(times)
    assert not any("secret" in logged for logged in started.log)


def test_a_self_check_runs_when_nobody_listens_and_is_remembered(spared: Server) -> None:
    spared.logs("self-check: real-time factor")
    found = spared.get("/status")[1]["selfcheck"]
    assert found["checks"] == 1 and found["real_time_factor"] > 0 and "ratio" not in found
    assert scrape(spared)["selfcheck_real_time_factor",] == pytest.approx(found["real_time_factor"], abs=1e-3)
    spared.child("front").kill()
    assert spared.get("/status")[1]["selfcheck"] == found, "by a front that has only the file"


needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is missing: install the Debian package prometheus"
)


@needs_promtool
def test_promtool_finds_nothing_to_say(started: Server) -> None:
    started.hear(input="Hello.", response_format="pcm")
    text = started.get("/metrics")[1]
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
