"""Multipart bodies that are no upload of a book: refused, and nothing is kept."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.frontend.http.jobs_desk import desk


async def test_a_length_of_100_mb_is_refused_before_the_body(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs") as at:
        headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(101 << 20)}
        async with at.session.post("/v1/jobs", headers=headers, data=_never()) as response:
            assert response.status == 413


async def _never() -> AsyncIterator[bytes]:
    yield b"--b\r\n"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"--b\r\n", "multipart/form-data", 400),
        (b"nothing of it", "multipart/form-data; boundary=b", 400),
        (b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b", 400),
        (b"--b--\r\n", "multipart/form-data; boundary=b", 400),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n'
            b"Content-Transfer-Encoding: base64\r\n\r\neA==\r\n--b--\r\n",
            "multipart/form-data; boundary=b",
            400,
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
            400,
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'
            + b'--b\r\nContent-Disposition: form-data; name="voice"\r\n\r\n\r\n' * 64
            + b"--b--\r\n",
            "multipart/form-data; boundary=b",
            400,
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="voice"\r\n\r\n\xff\xfe\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
            400,
        ),
    ],
)
async def test_bodies_that_are_no_upload_are_refused(tmp_path: Path, body: bytes, kind: str, status: int) -> None:
    async with desk(tmp_path / "jobs") as at:
        async with at.session.post("/v1/jobs", data=body, headers={"Content-Type": kind}) as response:
            assert response.status == status, await response.text()
        assert at.kept == []


HEADS = (
    b'Content-Disposition: form-data; name="file"; filename="a\x00b.txt"',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nX\x00: y',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n: no name',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nno colon',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n folded',
    b'Content-Disposition: form-data; name="file"; filename="' + b"a" * 100_000 + b'"',
    b"Content-Disposition: form-data; name=file; filename*=utf-8''%ff%00%zz",
    b"Content-Disposition: form-data; name=file; filename*0*=x'y'z; filename*1=\"",
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Length: -5',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Length: x',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: \xff/\xfe; charset=none',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: multipart/mixed',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Encoding: gzip',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n' + b"X: y\r\n" * 9_000,
)


def _noisy_head(seed: int) -> bytes:
    chance = random.Random(seed)
    head = bytearray(HEADS[1].replace(b"\x00", b"x"))
    for _ in range(chance.randint(1, 5)):
        head[chance.randrange(len(head))] = chance.choice(b'\x00\x01\t\r\n :;="\\\x7f\x80\xff%*')
    return bytes(head)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # aiohttp's, of odd Content-Disposition headers
async def test_no_header_of_a_part_is_a_failure_of_the_server(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs", max_jobs=500) as at:
        for head in (*HEADS, *map(_noisy_head, range(60))):
            body = b"--b\r\n" + head + b"\r\n\r\nHello.\r\n--b--\r\n"
            kept = len(at.kept)
            kind = {"Content-Type": "multipart/form-data; boundary=b"}
            async with at.session.post("/v1/jobs", data=body, headers=kind) as response:
                assert response.status in (202, 400), (head[:200], await response.text())
                assert len(at.kept) == kept + (response.status == 202)
