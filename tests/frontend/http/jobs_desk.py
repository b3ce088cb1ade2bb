"""A server's desk of jobs over HTTP, without a book maker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from frontend.jobs import JobDesk
from frontend.settings.front import FrontSettings, JobSettings
from shm.messages import ControlMessage
from tests.frontend.http_fakes import FakeSpeaker, serving

BOOK = b"# One\n\nA book.\n"


class Desk:
    def __init__(self, session: aiohttp.ClientSession, desk: JobDesk, told: list[ControlMessage]) -> None:
        self.session = session
        self.desk = desk
        self.told = told

    async def upload(self, data: bytes | None = BOOK, name: str = "b.md", **fields: str) -> tuple[int, dict[str, Any]]:
        form = aiohttp.FormData(quote_fields=False, default_to_multipart=True)
        for field, value in fields.items():
            form.add_field(field, value)
        if data is not None:
            form.add_field("file", data, filename=name)
        async with self.session.post("/v1/jobs", data=form) as response:
            return response.status, await response.json()

    @property
    def kept(self) -> list[str]:
        path = self.desk.folder.path
        return [each.name for each in path.iterdir()] if path.exists() else []


@asynccontextmanager
async def desk(folder: Path, front: FrontSettings | None = None, **settings: Any) -> AsyncIterator[Desk]:
    told: list[ControlMessage] = []
    made = JobDesk(JobSettings(jobs_dir=folder, **settings), told.append, "http://a", "k")
    async with serving(FakeSpeaker(), front, jobs=made) as server, aiohttp.ClientSession(server.url) as session:
        yield Desk(session, made, told)
