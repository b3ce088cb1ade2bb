"""Workers and fronts that are replaced while they serve: recycled, reconfigured, hanging, without their accelerator."""

import os
import re
import signal
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from supervisor.cli import kokoro_live
from tests.ports import lasting_port
from tests.system.conftest import POISON, CommonServer
from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import DEADLINE, Server, awaited, server
from tests.system.shared import SharedServer
from tests.system.test_several_voices import TURNS, body_of
from tests.system.test_several_voices import heard as heard_dialogue
from tests.system.test_several_voices import samples_of as samples_of_turns


@pytest.fixture
def impatient(impatient_house: SharedServer) -> Server:
    return impatient_house.calm()


def exact(heard: list[bytes], text: str) -> bool:
    return bool(np.array_equal(np.frombuffer(b"".join(heard), "<i2"), samples_of(text)))


def restarts(of: Server) -> float:
    _, metrics = of.get("/metrics")
    found = re.search(r'kokoro_live_process_restarts_total\{process="worker"\} (\S+)', metrics)
    return float(found[1]) if found else 0.0


def test_a_worker_that_has_grown_is_replaced_without_a_listener_noticing(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path), "--worker-max-rss", "1") as started:
        old = started.child("worker")
        listener = Listener(started, LONG, held=True)
        started.hear(input="Short one.", response_format="pcm")
        started.logs(r"bringing up another worker: the worker has grown to \d+ MB")
        assert listener.heard_all()
        started.logs(r"worker\[1\] has finished")
        assert not old.is_running() and started.child("worker")
        assert restarts(started) == 0


def replaced_while_it_hangs(started: Server) -> None:
    """Stop the worker in mid-stream: it is ended, its stacks are in the log, and the listener hears all."""
    started.hear(input="It learns its own pace.", response_format="pcm")
    old, start = started.child("worker"), len(started.log)
    listener = Listener(started, LONG, held=True)
    old.suspend()
    assert listener.heard_all()
    started.logs(r"ending worker\[\d+\]: it hangs", start)
    started.logs(r"Thread 0x[0-9a-f]+", start)
    old.wait(DEADLINE)


def test_a_worker_that_hangs_is_replaced_and_leaves_its_stacks(impatient: Server) -> None:
    """A standby whose libraries are imported takes part in `tests.chaos.test_kill_loops`."""
    replaced_while_it_hangs(impatient)


@pytest.mark.slow
def test_a_loaded_standby_takes_the_place_of_a_worker_that_hangs(tmp_path: Path) -> None:
    arguments = (*miniature_arguments(tmp_path, cost=1), "--hang-patience", "0.5", "--standby", "loaded")
    with server(*arguments) as started:
        replaced_while_it_hangs(started)


def test_an_idle_worker_that_is_stopped_is_noticed_when_it_is_needed(impatient: Server) -> None:
    impatient.hear(input="It learns its own pace.", response_format="pcm")
    impatient.child("worker").suspend()
    assert exact([impatient.hear(input="Anybody there?", response_format="pcm")], "Anybody there?")


def test_settings_that_make_no_sense_change_nothing(impatient: Server, impatient_config: Path) -> None:
    start = len(impatient.log)
    impatient_config.write_text("concurrency = 'many'\n")
    impatient.process.send_signal(signal.SIGHUP)
    impatient.logs(r"the settings are as they were: .*concurrency", start)
    assert exact([impatient.hear(input="As before.", response_format="pcm")], "As before.")
    assert not [line for line in impatient.log[start:] if "settings have changed" in line]
    impatient_config.write_text("concurrency = 1\n")


def test_a_poisonous_text_fails_alone_and_is_not_tried_again(impatient: Server) -> None:
    before = restarts(impatient)
    listener = Listener(impatient, LONG, held=True)
    refused = impatient.speak(input=POISON, response_format="pcm")
    assert refused.status == 500
    assert "ends the engine's process" in refused.read().decode()
    assert listener.heard_all()
    died = restarts(impatient)
    assert died == before + 3
    again = impatient.speak(input=POISON, response_format="pcm")
    again.read()
    assert again.status == 500 and restarts(impatient) == died, "no worker had to die for it"


def test_a_worker_that_keeps_dying_is_tried_at_once_when_somebody_asks_for_it(tmp_path: Path) -> None:
    """1. The worker dies at each start: requests are refused until the next try. 2. A reload: it speaks."""
    port = lasting_port()
    started = Server(*miniature_arguments(tmp_path), "--max-deaths", "2", "--port", str(port), wait=False)
    started.announcement = f"http://127.0.0.1:{port}"  # it makes none: no worker of its comes up
    with closing(started):
        at, said = 0, started.logs(r"started worker\[\d+\], pid (\d+)")
        while said[1]:
            os.kill(int(said[1]), signal.SIGKILL)
            at = started.log.index(said.string, at) + 1
            said = started.logs(r"started worker\[\d+\], pid (\d+)|keeps dying .*; the next try is in 1 min", at)
        awaited(lambda: started.get("/ready")[1].get("reason", ""), lambda reason: "keeps dying" in reason)
        for ask in (lambda: started.ask("/ready"), lambda: started.speak(input="No.", response_format="pcm")):
            refused = ask()
            assert refused.status == 503 and 1 <= int(refused.getheader("Retry-After", "")) <= 60
            assert "the next try is in" in refused.read().decode()
        (worker,) = [each for each in started.get("/status")[1]["processes"] if each["role"] == "worker"]
        assert 0 <= worker["next_start_in_seconds"] <= 60
        told = CliRunner().invoke(kokoro_live, ["reload", "--url", f"http://127.0.0.1:{started.port}"])
        assert told.exit_code == 0 and str(started.process.pid) in told.output
        awaited(lambda: started.get("/ready")[0], lambda status: status == 200)
        assert exact([started.hear(input="Yes.", response_format="pcm")], "Yes.")


def test_a_provider_that_is_missing_gives_way_to_the_cpu_and_says_so(wanting: SharedServer) -> None:
    started = wanting.calm()
    before = restarts(started)
    assert "CPUExecutionProvider" in started.announcement
    started.logs(r"CUDAExecutionProvider is given up: .*has only")
    assert np.array_equal(heard_dialogue(started, turns=body_of(TURNS[:1])), samples_of_turns(TURNS[:1]))
    assert restarts(started) == before


def test_new_settings_take_effect_without_a_dropped_stream(common: CommonServer) -> None:
    started = common.calm()
    front, worker, start = started.child("front"), started.child("worker"), len(started.log)
    listener = Listener(started, LONG, held=True)
    common.config.write_text("max_input_characters = 50000\nconcurrency = 2\n")
    started.process.send_signal(signal.SIGHUP)
    started.logs(r"bringing up another front", start)
    assert listener.heard_all(), "the old front finished what it had begun"
    started.logs(r"front\[\d+\] has finished", start)
    refused = started.speak(input="All " * 14_000, response_format="pcm")
    assert (refused.status, refused.read()) and refused.status == 400
    assert exact([started.hear(input="Short.", response_format="pcm")], "Short.")
    assert started.child("front") != front and started.child("worker") != worker
