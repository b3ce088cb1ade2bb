"""The supervisor's report on the server's processes, which it sends to each front."""

from __future__ import annotations

import msgspec

from shm.engine_info import EngineInfo, Priority


class ProcessReport(msgspec.Struct, frozen=True, kw_only=True):
    """The supervisor's view of one process, or of a role that has no process at the moment."""

    role: str
    """One of front, worker, player, books, standby, fetcher, trial. A `draining` process is a `worker` or `front`
    too."""
    state: str
    """A `supervisor.processes.role.RoleState`, or `draining`; for a standby, `imported` or `loaded`."""
    generation: int | None = None
    pid: int | None = None
    """Process id; None while the role has no process."""
    started: float | None = None
    """Start of the process, in monotonic seconds."""
    load_seconds: float | None = None
    """Seconds that a worker took to load its engine."""
    restarts: int | None = None
    """Number of restarts of the role so far."""
    last_exit: str = ""
    """Ending of the role's last process that died: `SIGKILL`, `status 1`; empty if none has died."""
    last_exit_at: float | None = None
    """Death of the role's last process, in monotonic seconds."""
    next_start: float | None = None
    """Next try of a role that keeps dying or can't start, in monotonic seconds."""
    slot: int | None = None
    """The worker's slot, from 0; None if there is only one worker."""
    provider: str = ""
    """Execution provider of a worker's engine; empty while no engine is loaded."""
    loading: str = ""
    """Execution provider for which a worker is loading Kokoro; empty before, after, and for espeak-ng."""
    priority: Priority | None = None
    """Scheduling of a worker that has loaded."""


class TuningState(msgspec.Struct, frozen=True, kw_only=True):
    """State of the profile that `kokoro-live tune` keeps."""

    reason: str = ""
    """Reason why no profile is in use; empty if one is."""
    created: float | None = None
    """Seconds since 1970."""
    chosen: dict[str, str] = {}
    """The profile's values for settings that the user didn't give, as text for people."""
    verdict: str = ""
    """One sentence that states the choice and its reason."""


class Situation(msgspec.Struct, frozen=True, tag="situation"):
    """Supervisor -> front: state of the processes; the reason if no engine can speak (`/ready`, 503s, `/metrics`)."""

    worker_state: str
    """State of the worker; with several workers, the best of their states."""
    reason: str
    restarts: dict[str, int]
    """Number of restarts so far, by process role: front, worker, player, books."""
    provider_failures: dict[str, str] = {}
    """Execution providers that were abandoned, with the reasons."""
    processes: tuple[ProcessReport, ...] = ()
    tuning: TuningState | None = None
    returning: dict[int, EngineInfo] = {}
    """Last engines of the slots that rest (`--idle-unload`) or are being started, by slot: requests wait for them, also
    in a front that was started since."""
    streams_cut: int = 0
    """Responses that ended in the middle because their front died, so far."""
    player_reason: str = ""
    """The reason why there is no player; empty if there may be one. The next text starts another one."""
    books_reason: str = ""
    """The reason why no process makes books for a while; empty if one may. The next job starts another one."""
