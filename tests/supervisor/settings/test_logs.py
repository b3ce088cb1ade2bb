"""The logs of a server's processes: for people, for programs, and what is not in them."""

import json
import logging
import re
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from supervisor.settings.supervisor import LogSettings, configure_logging
from tests.followed_output import END
from tests.system.server import DEADLINE, Server, server

SECRET = "Mellifluous pangolins tapdance."


@pytest.fixture
def restored() -> Iterator[None]:
    """The test runner's own logging, afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    yield
    logging.captureWarnings(False)
    for handler in root.handlers:
        handler.close()
    root.handlers, root.level = handlers, level


def records(text: str) -> list[dict[str, Any]]:
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("{")] == [], text
    return [json.loads(line) for line in lines]


def test_lines_for_people_name_the_process(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(), "worker[3]")
    logging.getLogger("worker.x").warning("it is %s", "late")
    logging.getLogger("worker.x").debug("not at info")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("worker[3]: WARNING: it is late")


def test_a_record_for_programs_has_all_that_is_known(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings("debug", "json"), "front", lambda: "req-1")
    before = datetime.now(UTC)
    logging.getLogger("frontend.x").debug('two\nlines, "quoted", %s', "é", extra={"seconds": 0.5})
    (record,) = records(capsys.readouterr().err)
    assert before <= datetime.fromisoformat(record.pop("time")) <= datetime.now(UTC)
    assert record.pop("pid") > 0
    assert record == {
        "level": "DEBUG",
        "process": "front",
        "logger": "frontend.x",
        "message": 'two\nlines, "quoted", é',
        "seconds": 0.5,
        "request_id": "req-1",
    }


def test_outside_of_requests_no_request_is_named(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), "front", lambda: "-")
    logging.getLogger("x").info("starting")
    assert "request_id" not in records(capsys.readouterr().err)[0]


def test_tracebacks_and_warnings_are_records_too(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(format="json"), "worker[1]")
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("x").exception("it failed")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", FutureWarning, stacklevel=1)
    failed, warned = records(capsys.readouterr().err)
    assert "ValueError: no" in failed["exc_info"]
    assert (warned["level"], warned["logger"]) == ("WARNING", "py.warnings")
    assert "FutureWarning: old" in warned["message"]


def spoken_to(started: Server, request: str) -> None:
    connection = started.connect()
    body = json.dumps({"input": SECRET, "response_format": "pcm"})
    connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json", "X-Request-Id": request})
    response = connection.getresponse()
    assert response.status == 200
    response.read()


def test_every_process_writes_what_the_flag_says() -> None:
    """1. all lines of all processes are records; 2. the access line names its request; 3. no text is in them."""
    with server("--engine", "espeak", "--log-format", "json", wait=False) as started:
        started.announcement = started.logs(r'"message": "kokoro-live speaks on (http://[0-9.:]+)')[1]
        spoken_to(started, "my-request")
        started.logs("audio/speech")
        assert started.stop() == 0
        started.logs(re.escape(END))
        lines = records("\n".join(started.log[: started.log.index(END)]))
        assert {"supervisor", "front"} <= {record["process"] for record in lines}
        assert any(record["process"].startswith("worker[") for record in lines)
        (access,) = [record for record in lines if "audio/speech" in record["message"]]
        assert access["request_id"] == "my-request"
        assert access["process"] == "front"
        assert SECRET.split()[0] not in str(lines)
        assert started.output.find(re.escape(END), DEADLINE)
        assert started.output.lines == [END], "nothing on standard output"


@pytest.mark.slow
def test_the_level_is_every_processs() -> None:
    with server("--engine", "espeak", "--log-level", "warning") as started:
        spoken_to(started, "quiet")
        assert started.stop() == 0
        started.logs(re.escape(END))
        assert not [line for line in started.log if "INFO" in line]
