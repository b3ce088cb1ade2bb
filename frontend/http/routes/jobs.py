"""Routes of jobs: books that are made while nobody listens."""

from __future__ import annotations

from frontend.http.jobs.form import JobForm
from frontend.http.jobs.report import MEDIA_TYPES, JobDeleted, JobList, JobReport
from frontend.http.routes.route import Answer, Operation, Route, json_answer
from frontend.serving.access.rules import Access

_FILE = dict.fromkeys(sorted({*MEDIA_TYPES.values()}))

JOBS: tuple[Route, ...] = (
    Route(
        "post",
        "/v1/jobs",
        Access.HERE,
        lambda handlers: handlers.jobs.post if handlers.jobs else None,
        Operation(
            "Books",
            "Have a book made while nobody listens",
            {202: json_answer("It is in the queue.", JobReport)},
            "Without configured keys it answers clients on the server's own machine only, as all operations on jobs "
            "do. A file that can't be read as a book makes a job that fails and says why.",
            (400, 403, 408, 409, 413, 415, 429, 503, 507),
            JobForm,
            {"file": "novel.epub", "format": "m4b", "voice": "af_heart"},
            body_type="multipart/form-data",
        ),
        streams_body=True,
    ),
    Route(
        "get",
        "/v1/jobs",
        Access.HERE,
        lambda handlers: handlers.jobs.get_all if handlers.jobs else None,
        Operation("Books", "All jobs", {200: json_answer("The oldest first.", JobList)}, errors=(403, 503)),
    ),
    Route(
        "get",
        "/v1/jobs/{id}/result",
        Access.HERE,
        lambda handlers: handlers.jobs.result if handlers.jobs else None,
        Operation(
            "Books",
            "The finished book",
            {
                200: Answer("The whole file.", _FILE),
                206: Answer("The range that `Range` names.", _FILE),
                416: Answer("There is no such range.", {}),
            },
            errors=(403, 404, 409, 503),
        ),
    ),
    Route(
        "get",
        "/v1/jobs/{id}",
        Access.HERE,
        lambda handlers: handlers.jobs.get if handlers.jobs else None,
        Operation("Books", "One job", {200: json_answer("How far it has come.", JobReport)}, errors=(403, 404, 503)),
    ),
    Route(
        "delete",
        "/v1/jobs/{id}",
        Access.HERE,
        lambda handlers: handlers.jobs.delete if handlers.jobs else None,
        Operation(
            "Books",
            "Stop a job, and delete all that was made of it",
            {200: json_answer("It is gone.", JobDeleted)},
            errors=(403, 404, 429, 503),
        ),
    ),
)
