"""Downloads over real sockets: whole and checked, or not at all."""

import asyncio
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.file_server import (
    FileServer,
    Handler,
    another_range,
    cut_after,
    ignore_range,
    page,
    pause_after,
    status,
    unmeasured,
)
from tests.worker.fetching import AT_ONCE, MODEL, NAME, OTHER, Watcher, contents, get, sha256, table
from worker.models import download
from worker.models.assembly import FetchError, PartFile
from worker.models.download import fetch
from worker.models.sources import part_of

pytestmark = pytest.mark.usefixtures("no_proxy")


def test_a_file_comes_whole_and_alone(server: FileServer, watch: Watcher) -> None:
    assert get(server, watch) == [watch.directory / NAME]
    assert contents(watch.directory) == {NAME: MODEL}
    assert server.requests == [(f"/{NAME}", None)]
    received = [progress.received for progress in watch.seen]
    assert received == sorted(received) and received[-1] == len(MODEL) and len(received) > 2
    assert {progress.total for progress in watch.seen} == {len(MODEL)}
    assert not watch.notes


def test_without_a_mirror_each_file_comes_from_its_own_address(server: FileServer, tmp_path: Path) -> None:
    server.files["/elsewhere/a"] = MODEL
    known = table(url=f"{server.url}/elsewhere/a")
    fetch([NAME], tmp_path / "made" / "for it", known=known)
    assert contents(tmp_path / "made" / "for it") == {NAME: MODEL}


def test_what_is_there_is_not_fetched_and_what_is_corrupt_is_replaced(server: FileServer, tmp_path: Path) -> None:
    server.files["/b.onnx"] = OTHER
    known = table() | table(OTHER, "b.onnx")
    (tmp_path / NAME).write_bytes(MODEL)
    (tmp_path / "b.onnx").write_bytes(OTHER[:-1] + b"?")
    fetch(known, tmp_path, mirror=server.url, known=known)
    assert [path for path, _ in server.requests] == ["/b.onnx"]
    assert contents(tmp_path) == {NAME: MODEL, "b.onnx": OTHER}


def test_a_cut_connection_is_taken_up_where_it_ended(server: FileServer, watch: Watcher) -> None:
    server.script += [cut_after(300_000, watch.when(300_000)), cut_after(50_000, watch.when(350_000))]
    get(server, watch)
    assert server.ranges == [None, "bytes=300000-", "bytes=350000-"]
    assert contents(watch.directory) == {NAME: MODEL}
    assert len(watch.notes) == 2 and all("next try" in note for note in watch.notes)


def test_after_too_many_cuts_the_part_is_kept_for_another_day(server: FileServer, watch: Watcher) -> None:
    server.script += [cut_after(1000, watch.when(1000 * (n + 1))) for n in range(4)]
    with pytest.raises(FetchError, match=r"gave up after 4 tries\. The 4,000 bytes .* fetch again"):
        get(server, watch)
    assert contents(watch.directory) == {f"{NAME}.part": MODEL[:4000]}
    get(server, watch)
    assert server.ranges[-1] == "bytes=4000-"
    assert contents(watch.directory) == {NAME: MODEL}


def test_failures_between_which_much_comes_do_not_add_up(
    server: FileServer, watch: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "HEADWAY", 90_000)
    server.script += [cut_after(100_000, watch.when(100_000 * (n + 1))) for n in range(9)]
    get(server, watch)
    assert len(server.requests) == 10
    assert contents(watch.directory) == {NAME: MODEL}


@pytest.mark.parametrize(
    ("left", "script", "ranges", "notes"),
    [
        (MODEL[:700_000], [ignore_range], ["bytes=700000-"], []),
        (MODEL[:500_000], [another_range], ["bytes=500000-", None], ["the server has no such range of the file"]),
        (OTHER[:700_000], [], ["bytes=700000-", None], ["what was there is of another version"]),
        (MODEL, [], [], []),
        (OTHER, [], [None], ["what was there is of another version"]),
        (MODEL + b"more", [], ["bytes=1000004-", None], ["what was there is of another version"]),
        (b"", [unmeasured(MODEL[:400_000])], [None, "bytes=400000-"], ["the connection ended 600,000 bytes early"]),
        (
            b"",
            [status(503), status(500), status(429)],
            [None] * 4,
            [
                "the server answers 503 Service Unavailable",
                "the server answers 500 Internal Server Error",
                "the server answers 429 Too Many Requests",
            ],
        ),
    ],
    ids=[
        "no ranges",
        "another range",
        "a part of another version",
        "a whole part",
        "as long but another",
        "longer",
        "unmeasured",
        "busy",
    ],
)
def test_the_file_comes_whole_whatever_was_there_and_whatever_the_server_does(
    server: FileServer,
    watch: Watcher,
    left: bytes,
    script: list[Callable[[Handler], None]],
    ranges: list[str | None],
    notes: list[str],
) -> None:
    if left:
        part_of(watch.directory / NAME).write_bytes(left)
    server.script += script
    get(server, watch)
    assert server.ranges == ranges
    assert [note.partition(";")[0] for note in watch.notes] == notes
    assert contents(watch.directory) == {NAME: MODEL}


def test_a_whole_part_of_an_edition_of_another_length_is_recognised(server: FileServer, tmp_path: Path) -> None:
    edition = MODEL + b"more"
    known = {NAME: msgspec.structs.replace(table()[NAME], also_sha256=(sha256(edition),))}
    server.files[f"/{NAME}"] = edition
    part_of(tmp_path / NAME).write_bytes(edition)
    fetch(known, tmp_path, mirror=server.url, known=known)
    assert server.ranges == ["bytes=1000004-"]
    assert contents(tmp_path) == {NAME: edition}


@pytest.mark.parametrize("left", [b"", OTHER[:1000]], ids=["from nothing", "resumed"])
def test_a_wrong_hash_leaves_nothing_and_names_both(server: FileServer, watch: Watcher, left: bytes) -> None:
    if left:
        part_of(watch.directory / NAME).write_bytes(left)
    server.files[f"/{NAME}"] = OTHER
    with pytest.raises(FetchError) as caught:
        get(server, watch)
    assert sha256(OTHER) in str(caught.value) and sha256(MODEL) in str(caught.value)
    assert f"{server.url}/{NAME}" in str(caught.value)
    assert len(server.requests) == (2 if left else 1)
    assert contents(watch.directory) == {}


def test_a_wrong_file_does_not_replace_the_one_that_was_there(server: FileServer, watch: Watcher) -> None:
    corrupt = MODEL[:-1] + b"?"
    (watch.directory / NAME).write_bytes(corrupt)
    server.files[f"/{NAME}"] = OTHER
    with pytest.raises(FetchError):
        get(server, watch)
    assert contents(watch.directory) == {NAME: corrupt}


@pytest.mark.parametrize(
    ("script", "says", "requests"),
    [
        ([status(404)], r"/kokoro-v1\.0\.onnx .*404.*--mirror", 1),
        ([status(502)] * 4, r"502 Bad Gateway; gave up after 4 tries", 4),
        ([unmeasured(MODEL + OTHER)], r"sends more than the 1,000,000 bytes", 1),
        ([page], r"is a web page", 1),
    ],
    ids=["not there", "broken", "endless", "a log-in page"],
)
@pytest.mark.parametrize("left", [b"", MODEL[:700_000]], ids=["from nothing", "resumed"])
def test_what_a_server_refuses_costs_nothing_that_was_there(
    server: FileServer, watch: Watcher, script: list[Callable[[Handler], None]], says: str, requests: int, left: bytes
) -> None:
    if left:
        part_of(watch.directory / NAME).write_bytes(left)
    server.script += script
    with pytest.raises(FetchError, match=says):
        get(server, watch)
    assert len(server.requests) == requests
    kept = contents(watch.directory)
    assert [*kept] == ([f"{NAME}.part"] if left or "more than" in says else [])
    assert all(part.startswith(left) for part in kept.values())


def test_a_server_that_says_it_is_shorter_is_not_believed(server: FileServer, watch: Watcher) -> None:
    server.files[f"/{NAME}"] = MODEL[:-10]
    with pytest.raises(FetchError, match=r"999,990 bytes.*1,000,000 bytes"):
        get(server, watch)
    assert contents(watch.directory) == {}


def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        mirror = f"http://user:secret@127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(FetchError, match="gave up after 4 tries") as caught:
            fetch([NAME], tmp_path, mirror=mirror, known=table(), delays=AT_ONCE)
    assert "secret" not in str(caught.value)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("mirror", ["ftp://127.0.0.1/models", "http://[", "models"])
def test_a_mirror_that_is_no_address(tmp_path: Path, mirror: str) -> None:
    with pytest.raises(FetchError, match="can't be fetched"):
        fetch([NAME], tmp_path, mirror=mirror, known=table(), delays=AT_ONCE)
    assert contents(tmp_path) == {}


def test_an_unknown_name_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=rf"other\.onnx isn't .* Known are: {NAME}"):
        fetch(["other.onnx"], tmp_path, known=table())


def test_redirection_keeps_the_range(server: FileServer, watch: Watcher) -> None:
    part_of(watch.directory / NAME).write_bytes(MODEL[:700_000])
    server.files["/storage"] = MODEL
    server.script.append(status(302, Location="/storage"))
    get(server, watch)
    assert server.requests == [(f"/{NAME}", "bytes=700000-"), ("/storage", "bytes=700000-")]
    assert contents(watch.directory) == {NAME: MODEL}


def test_the_proxy_of_the_environment_is_used(
    server: FileServer, watch: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.files[f"http://models.invalid/{NAME}"] = MODEL
    fetch([NAME], watch.directory, mirror="http://models.invalid/", known=table(), delays=AT_ONCE)
    assert contents(watch.directory) == {NAME: MODEL}


def test_a_silent_server_is_left(server: FileServer, watch: Watcher) -> None:
    go_on = threading.Event()
    server.script.append(pause_after(1000, go_on))
    part = PartFile.lock(watch.directory / "part")
    assert part is not None
    with part:
        notes: list[str] = []
        asyncio.run(download.download(f"{server.url}/{NAME}", part, len(MODEL), notes.append, AT_ONCE, 0.2))
    go_on.set()
    assert any("Timeout" in note for note in notes)
    assert server.ranges == [None, "bytes=1000-"]
    assert contents(watch.directory) == {"part": MODEL}


def test_a_folder_in_the_files_place_is_told(server: FileServer, watch: Watcher) -> None:
    (watch.directory / NAME).mkdir()
    with pytest.raises(FetchError, match=rf"can't become .*{NAME}: Is a directory"):
        fetch([NAME], watch.directory, mirror=server.url, known=table(), delays=AT_ONCE)
