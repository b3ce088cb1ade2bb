"""Uploads of books over HTTP, refused and taken, with nobody who makes them."""

import asyncio
import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pytest
from msgspec import structs

from frontend.settings.front import FrontSettings
from shm.book_jobs import Job, JobJournal, JobOrder, JobState
from shm.job_folder import JobFolder
from shm.messages import BooksNews
from tests.frontend.http.jobs_desk import BOOK, desk
from tests.open_files import FullDisk, path_of


async def test_an_upload_is_a_job(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs") as at:
        status, job = await at.upload(name="C:\\books\\my book.md", voice="af_heart", speed="1.5", all_matter="true")
        assert (status, job["state"], job["position_in_queue"], job["file_name"]) == (202, "queued", 0, "my book.md")
        assert job["file_bytes"] == len(BOOK) and job["options"]["speed"] == 1.5 and job["options"]["all_matter"]
        assert (at.desk.folder.of(job["id"]) / "source").read_bytes() == BOOK
        assert at.told == [BooksNews("http://a", "k", True)]
        _, second = await at.upload()
        assert second["position_in_queue"] == 1
        async with at.session.get("/v1/jobs") as response:
            assert [each["id"] for each in (await response.json())["data"]] == [job["id"], second["id"]]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"format": "wma"}, "format"),
        ({"speed": "fast"}, "speed"),
        ({"speed": "9"}, "speed"),
        ({"voice": "nobody"}, "voice"),
        ({"cast": "quotes = 'nobody'"}, "cast"),
        ({"cast": "quotes ="}, "cast"),
        ({"cast": "villain = 'af_heart'"}, "cast"),
        ({"lang": "klingon"}, "lang"),
        ({"chapters": "x"}, "chapters"),
        ({"chapters": ",".join(["1-  "] * 150) + "x"}, "chapters"),
        ({"cast": "a" + ".a" * 30_000 + "=1"}, "cast"),
        ({"cast": "a=" + "[" * 60_000}, "cast"),
        ({"cast": "[speakers]\n" + "\n".join(f"a{number} = 'af_heart'" for number in range(201))}, "cast"),
        ({"format": "m4b\nmp3"}, "format"),
        ({"captions": "srt"}, "captions"),
        ({"captions": "txt", "format": "zip"}, "captions[0]"),
        ({"by_word": "true"}, "by_word"),
        ({"all_matter": "0"}, "all_matter"),
        ({"between": "at night"}, "between"),
        ({"loudness": "0"}, "loudness"),
        ({"colour": "red"}, None),
    ],
)
async def test_wrong_options_are_named_and_nothing_is_kept(
    tmp_path: Path, fields: dict[str, str], param: str | None
) -> None:
    async with desk(tmp_path / "jobs") as at:
        status, answer = await at.upload(**fields)
        assert (status, answer["error"]["param"]) == (400, param), answer
        assert at.kept == [] and at.told == []


async def test_files_that_are_missing_empty_or_too_long_are_refused(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs", max_job_bytes=1000) as at:
        for data, status, code in (
            (None, 400, "missing_required"),
            (b"", 400, "invalid_value"),
            (b"x" * 1001, 413, "request_too_large"),
            (b"x" * 1_000_000, 413, "request_too_large"),
        ):
            answer = await at.upload(data)
            assert (answer[0], answer[1]["error"]["code"], answer[1]["error"]["param"]) == (status, code, "file")
        assert at.kept == []
        assert (await at.upload(b"x" * 1000))[0] == 202


async def test_the_limits_of_jobs_and_of_the_disk(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs", max_jobs=1, max_jobs_bytes=5000) as at:
        assert (await at.upload(b"x" * 6000))[1]["error"]["code"] == "jobs_full"
        status, job = await at.upload()
        assert status == 202
        status, answer = await at.upload()
        assert (status, answer["error"]["code"]) == (409, "too_many_jobs")
        async with at.session.delete(f"/v1/jobs/{job['id']}") as response:
            assert response.status == 200
        assert at.kept == [] and at.told[-1] == BooksNews("http://a", "k", True)
        assert (await at.upload())[0] == 202


async def test_a_disk_that_fills_during_an_upload_is_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = "job-0000000000000001"
    monkeypatch.setattr(JobFolder, "_begin", lambda folder: (job, FullDisk(tmp_path / "full", "wb")))
    async with desk(tmp_path / "jobs") as at:
        status, answer = await at.upload()
        assert (status, answer["error"]["code"]) == (507, "disk_full")


async def test_a_client_that_leaves_as_its_book_becomes_a_job_leaves_a_job_that_is_made(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs") as at:
        begun, go = threading.Event(), threading.Event()
        publish = at.desk.folder.publish

        def slow(order: JobOrder, source: IO[bytes]) -> None:
            begun.set()
            assert go.wait(60)
            publish(order, source)

        at.desk.folder.publish = slow  # type: ignore[method-assign]

        async def receive() -> None:
            async with at.desk.upload(1) as (job, source):
                source.write(b"x")
                await at.desk.publish(JobOrder(id=job, file_name="a", file_bytes=1, created=1.0), source)

        upload = asyncio.create_task(receive())
        await asyncio.to_thread(begun.wait, 60)
        upload.cancel()
        await asyncio.sleep(0)
        assert not upload.done()
        go.set()
        await asyncio.wait((upload,))
        (job,) = await at.desk.jobs()
        assert (at.desk.folder.of(job.order.id) / "source").read_bytes() == b"x"
        assert at.told == [BooksNews("http://a", "k", True)]


async def test_uploads_on_their_way_count_as_jobs(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs", max_jobs=1) as at, at.desk.upload(1):
        status, answer = await at.upload()
        assert (status, answer["error"]["code"]) == (409, "too_many_jobs")


async def test_a_disk_that_hangs_costs_one_thread_however_often_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontend.jobs._PATIENCE", 0.0)
    async with desk(tmp_path / "jobs") as at:
        go, looks = threading.Event(), []

        def hanging() -> list[Job]:
            looks.append(1)
            assert go.wait(60)
            return []

        at.desk.folder.jobs = hanging  # type: ignore[method-assign]
        for _ in range(20):
            await at.desk.refresh()
        go.set()
        await at.desk.run(int)
        assert len(looks) == 1


async def test_jobs_of_an_earlier_server_are_announced_however_slow_the_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path / "jobs") as at:
        await at.upload()
    monkeypatch.setattr("frontend.jobs._PATIENCE", 0.0)
    async with desk(tmp_path / "jobs") as later:
        await later.desk.start()
        assert later.told == [BooksNews("http://a", "k", True)]


async def test_a_folder_that_cannot_be_used_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with desk(tmp_path / "file" / "jobs") as at:
        status, answer = await at.upload()
        assert (status, answer["error"]["code"]) == (503, "jobs_unavailable") and "--jobs-dir" in answer["error"][
            "message"
        ]
        await at.desk.refresh()
        assert at.desk.reason


async def test_what_is_no_job_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "order.json").write_text("{}")
    async with desk(tmp_path / "jobs") as at:
        for name in ("job-0000000000000000", "..", "%2e%2e", "x/result", "job-0000000000000000/result"):
            async with at.session.get(f"/v1/jobs/{name}") as response:
                assert response.status in (404,), name


async def test_jobs_need_the_key_where_there_is_one(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs", FrontSettings(api_keys=("secret-key",))) as at:
        for method, path in (("GET", "/v1/jobs"), ("POST", "/v1/jobs"), ("DELETE", "/v1/jobs/job-0")):
            async with at.session.request(method, path) as response:
                assert response.status == 401
        async with at.session.get("/v1/jobs", headers={"Authorization": "Bearer secret-key"}) as response:
            assert response.status == 200


def test_a_sweep_deletes_leftovers_and_nothing_else(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    with folder.upload() as (job, source):
        source.write(b"x")
        other = JobFolder(tmp_path)
        other.sweep()
        assert folder.of(job).exists(), "it is being uploaded"
        folder.publish(JobOrder(id=job, file_name="a", file_bytes=1, created=1.0), source)
    folder.note(job, JobJournal(state=JobState.MAKING))
    left = folder.of("job-00000000000000ff")
    (left / "work").mkdir(parents=True)
    (left / "source").touch()
    folder.sweep()
    assert not left.exists() and [each.order.id for each in folder.jobs()] == [job]
    (folder.of(job) / "journal.json").write_text("{damaged")
    found = folder.get(job)
    assert found and found.journal == JobJournal(), "what was spoken is kept, and the queue goes on"


async def test_a_result_is_read_in_threads_and_in_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object, **__: object) -> int:
        raise AssertionError("the event loop reads the disk itself")

    monkeypatch.setattr(asyncio.BaseEventLoop, "sendfile", refused)
    book = bytes(range(256)) * 4096
    async with desk(tmp_path / "jobs") as at:
        _, job = await at.upload()
        folder = at.desk.folder
        folder.note(job["id"], JobJournal(state=JobState.DONE, result="result.m4b", result_bytes=len(book)))
        path = f"/v1/jobs/{job['id']}/result"
        async with at.session.get(path) as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "job_result_missing")
        (folder.of(job["id"]) / "result.m4b").write_bytes(book)
        for asked, status, wanted in (
            (None, 200, book),
            ("bytes=0-", 206, book),
            ("bytes=300000-", 206, book[300_000:]),
            ("bytes=-5", 206, book[-5:]),
            ("bytes=7-7", 206, book[7:8]),
            (f"bytes={len(book)}-", 416, b""),
        ):
            async with at.session.get(path, headers={"Range": asked} if asked else {}) as response:
                assert (response.status, await response.read()) == (status, wanted), asked


async def test_a_finished_book_has_its_cover_if_there_is_one(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs") as at:
        _, job = await at.upload()
        done = JobJournal(state=JobState.DONE, result="result.m4b", result_bytes=1, cover="cover.png")
        at.desk.folder.note(job["id"], done)
        (at.desk.folder.of(job["id"]) / "cover.png").write_bytes(b"a picture")
        async with at.session.get(f"/v1/jobs/{job['id']}") as response:
            path = (await response.json())["cover"]
        async with at.session.get(path) as response:
            assert (response.content_type, await response.read()) == ("image/png", b"a picture")
        at.desk.folder.note(job["id"], structs.replace(done, cover=""))
        async with at.session.get(f"/v1/jobs/{job['id']}") as shown, at.session.get(path) as response:
            assert ((await shown.json())["cover"], response.status) == (None, 404)


@pytest.mark.parametrize("damage", ["order", "bytes", "another", "journal"])
async def test_a_damaged_job_is_shown_among_the_others_and_can_be_deleted(tmp_path: Path, damage: str) -> None:
    async with desk(tmp_path) as at:
        (_, bad), (_, good) = await at.upload(name="bad.md"), await at.upload()
        folder = at.desk.folder.of(bad["id"])
        order = (folder / "order.json").read_bytes()
        damaged = {"order": b"{", "bytes": b'{"id": "\xff"}', "another": order.replace(bad["id"].encode(), b"job-1")}
        if damage in damaged:
            (folder / "order.json").write_bytes(damaged[damage])
        else:
            (folder / "journal.json").mkdir()
        async with at.session.get("/v1/jobs") as response:
            jobs = {job["id"]: job for job in (await response.json())["data"]}
        assert response.status == 200 and jobs[good["id"]]["state"] == "queued"
        shown = jobs[bad["id"]]
        assert (shown["state"], shown["error"]["code"]) == ("failed", "job_unreadable")
        assert shown["file_name"] == (bad["id"] if damage in ("order", "bytes") else "bad.md")
        async with at.session.delete(f"/v1/jobs/{bad['id']}") as response:
            assert response.status == 200
        assert at.kept == [good["id"]]


async def test_uploads_leave_a_part_of_the_disk_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MB, without which other programs of this machine would fail."""
    free = 0
    monkeypatch.setattr("frontend.jobs.shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    async with desk(tmp_path / "jobs") as at:
        free = 64 * 2**20
        status, answer = await at.upload()
        assert (status, answer["error"]["code"]) == (507, "disk_full") and at.kept == []
        free = 64 * 2**20 + 10_000
        assert (await at.upload())[0] == 202


def test_what_makes_an_upload_a_job_is_on_the_disk_before_it_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file's bytes, the order and its name, the job's own name: synced in this order."""
    synced = []
    sync = os.fsync

    def noted(number: int) -> None:
        synced.append(str(path_of(number, tmp_path).relative_to(tmp_path)))
        sync(number)

    monkeypatch.setattr(os, "fsync", noted)
    folder = JobFolder(tmp_path / "jobs")
    with folder.upload() as (job, source):
        source.write(BOOK)
        order = JobOrder(id=job, file_name="b.md", file_bytes=len(BOOK), created=1.0)
        folder.publish(order, source)
    place = f"jobs/{job}"
    assert synced == [f"{place}/source", "jobs", f"{place}/.order.json.part", place]


@pytest.mark.parametrize("nth", range(1, 5))
async def test_a_refused_upload_is_no_job_whichever_sync_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    sync, calls = os.fsync, [0]

    def failing(file: int) -> None:
        calls[0] += 1
        if calls[0] == nth:
            raise OSError(errno.EIO, "Input/output error")
        sync(file)

    async with desk(tmp_path / "jobs") as at:
        monkeypatch.setattr(os, "fsync", failing)
        status, answer = await at.upload()
        assert (status, calls[0]) == (503, nth), answer
        assert not at.desk.folder.jobs() and not at.kept
        assert (await at.upload())[0] == 202


async def test_an_upload_that_is_a_job_is_not_refused_because_the_others_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path / "jobs") as at:
        read, publish = JobFolder.jobs, JobFolder.publish

        def unreadable(_: JobFolder) -> list[Job]:
            raise OSError(errno.EIO, "Input/output error")

        def then_unreadable(folder: JobFolder, order: JobOrder, source: IO[bytes]) -> None:
            publish(folder, order, source)
            monkeypatch.setattr(JobFolder, "jobs", unreadable)

        monkeypatch.setattr(JobFolder, "publish", then_unreadable)
        status, job = await at.upload()
        monkeypatch.setattr(JobFolder, "jobs", read)
        assert status == 202 and [each.order.id for each in at.desk.folder.jobs()] == [job["id"]]
