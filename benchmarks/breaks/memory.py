"""Shared memory, frames, helper processes."""

from __future__ import annotations

from benchmarks.breaks.mutation import Mutation

BREAKS = (
    Mutation(
        "crc",
        "shm/ring.py",
        "if found != crc32:",
        "if False:",
        ("tests/shm/test_ring.py",),
    ),
    Mutation(
        "ring-bounds",
        "shm/ring.py",
        "if len(samples) > self.room:",
        "if False:",
        ("tests/shm/test_ring.py", "tests/shm/test_ring_schedules.py"),
    ),
    Mutation(
        "release-bounds",
        "shm/ring.py",
        "if not self._released <= position <= self._position:",
        "if False:",
        ("tests/shm/test_ring.py",),
    ),
    Mutation(
        "partial-frame",
        "shm/frames.py",
        "            if len(self._buffer) < end:\n                break\n",
        "            end = min(end, len(self._buffer))\n",
        ("tests/shm/test_frames.py",),
    ),
    Mutation(
        "lifeline",
        "shm/lifeline.py",
        "os._exit(ORPHANED)",
        "pass",
        ("tests/shm/test_control.py",),
    ),
    Mutation(
        "a-kill-amid-a-request",
        "shm/expendable.py",
        "if struck is link and link.ended and not self._interrupted:",
        "if False:",
        ("tests/shm/test_expendable.py", "-k", "middle_of_reading"),
    ),
    Mutation(
        "one-error-of-decoders",
        "shm/decoding.py",
        "except (UnicodeDecodeError, RecursionError) as error:",
        "except RecursionError as error:",
        ("tests/shm/test_messages.py",),
    ),
    Mutation(
        "report-without-sense",
        "shm/handover.py",
        'raise BrokenChannel(f"a report that makes no sense: {error}") from error',
        "raise",
        ("tests/supervisor/processes/test_connections.py", "-k", "sense"),
    ),
    Mutation(
        "later-journal-begins-again",
        "shm/job_folder.py",
        "except kept.LaterVersion as error:\n            return _unreadable(order, error)",
        "except kept.LaterVersion as error:\n            return Job(order, JobJournal())",
        ("tests/state/test_kept_files.py", "-k", "later_journal"),
    ),
    Mutation(
        "later-version-is-read",
        "shm/kept.py",
        "if version > self.version:",
        "if False:",
        ("tests/state/test_kept_files.py", "-k", "later"),
    ),
    Mutation(
        "another-jobs-order",
        "shm/job_folder.py",
        "if order.id != job:",
        "if False:",
        ("tests/frontend/http/test_jobs_over_http.py", "-k", "damaged"),
    ),
    Mutation(
        "helper-timeout",
        "shm/expendable.py",
        "                    link.end_server()\n",
        "                    pass\n",
        ("tests/shm/test_expendable.py", "-k", "hangs_ends"),
    ),
)
