"""The supervisor, restarts, and texts that kill."""

from __future__ import annotations

from benchmarks.breaks.mutation import Mutation

BREAKS = (
    Mutation(
        "cancel-when-the-client-leaves",
        "frontend/process.py",
        "handler_cancellation=True",
        "handler_cancellation=False",
        ("tests/chaos/test_disconnects.py", "-k", "first_sample"),
    ),
    Mutation(
        "eof-of-commits",
        "supervisor/processes/channels.py",
        "for fd in (arena, orders_read, orders_write, commits_read, commits_write):",
        "for fd in (arena, orders_read, orders_write, commits_read):",
        ("tests/supervisor/processes/test_channels.py",),
    ),
    Mutation(
        "eof-of-orders",
        "supervisor/processes/channels.py",
        "for fd in (arena, orders_read, orders_write, commits_read, commits_write):",
        "for fd in (arena, orders_read, commits_read, commits_write):",
        ("tests/supervisor/processes/test_channels.py",),
    ),
    Mutation(
        "an-arena-per-generation",
        "supervisor/processes/channels.py",
        "    arena = reserve(rings * ring_samples * SAMPLE_BYTES)\n",
        "    kept = globals().setdefault('KEPT', [])\n"
        "    kept[:] = kept or [reserve(rings * ring_samples * SAMPLE_BYTES)]\n"
        "    arena = os.dup(kept[0])\n",
        ("tests/supervisor/processes/test_channels.py",),
    ),
    Mutation(
        "hanging-worker-killed",
        "supervisor/processes/role.py",
        "        child.dump_stacks()\n        self._nursery.kill_after(child)\n",
        "        child.dump_stacks()\n",
        ("tests/supervisor/processes/test_generations.py", "tests/supervisor/processes/test_lifecycle.py"),
    ),
    Mutation(
        "progress-counts",
        "supervisor/processes/restarts.py",
        "        if progressed:\n",
        "        if False:\n",
        ("tests/supervisor/processes/test_restart_intensity.py",),
    ),
    Mutation(
        "quick-kills-are-no-loop",
        "supervisor/processes/restarts.py",
        " and (not proven or now - self._first >= self._window)",
        "",
        ("tests/supervisor/processes/test_restart_intensity.py",),
    ),
    Mutation(
        "deadly-text",
        "supervisor/processes/suspect_texts.py",
        "if found.deaths >= MANY",
        "if False",
        ("tests/supervisor/processes/test_suspect_texts.py",),
    ),
    Mutation(
        "innocent-company",
        "supervisor/processes/suspect_texts.py",
        "texts.working or (texts.waiting if by_itself else ())",
        "texts.working | texts.waiting",
        ("tests/supervisor/processes/test_suspect_texts.py",),
    ),
    Mutation(
        "languages-load-before-suspects",
        "frontend/process.py",
        "                if message.suspected:\n",
        "                if False:\n",
        ("tests/system/test_deadly_texts.py", "-k", "language"),
    ),
    Mutation(
        "answered-text-is-cleared",
        "frontend/contract/in_flight.py",
        "            self._tell(Cleared(digest))\n",
        "            pass\n",
        ("tests/frontend/http/test_texts_in_flight.py",),
    ),
    Mutation(
        "crash-loop",
        "supervisor/processes/restarts.py",
        "if self._deaths >= self._max_deaths and",
        "if False and",
        ("tests/supervisor/processes/test_restarts.py", "tests/supervisor/processes/test_lifecycle.py"),
    ),
    Mutation(
        "longest-backoff",
        "supervisor/processes/restarts.py",
        "MAX_BACKOFF = 5.0",
        "MAX_BACKOFF = 500.0",
        ("tests/supervisor/processes/test_restarts.py",),
    ),
    Mutation(
        "a-wait-of-an-earlier-death",
        "supervisor/processes/role.py",
        "self.state is state and self._wait is wait",
        "self.state is state",
        ("tests/supervisor/processes/test_restarts.py",),
    ),
    Mutation(
        "one-crash-is-no-provider-s-fault",
        "supervisor/processes/provider_failures.py",
        "MANY = 2",
        "MANY = 1",
        ("tests/supervisor/processes/test_generations.py",),
    ),
    Mutation(
        "providers-are-given-up",
        "supervisor/processes/provider_failures.py",
        "MANY = 2",
        "MANY = 200",
        ("tests/supervisor/processes/test_generations.py",),
    ),
    Mutation(
        "an-outside-kill-is-no-provider-s-fault",
        "supervisor/processes/provider_failures.py",
        "OWN_FAULT = (",
        "OWN_FAULT = (signal.SIGKILL, ",
        ("tests/supervisor/processes/test_generations.py",),
    ),
    Mutation(
        "one-replacement-at-a-time",
        "supervisor/processes/workers.py",
        "if self._stopping or any(role.successor for role in self.roles):",
        "if self._stopping:",
        ("tests/supervisor/processes/test_worker_slots.py", "tests/supervisor/processes/test_reload.py"),
    ),
    Mutation(
        "standby-rests",
        "supervisor/processes/supply.py",
        "self._no_standby_before = self._timers.clock() + STANDBY_BACKOFF",
        "self._no_standby_before = self._timers.clock()",
        (
            "tests/supervisor/processes/test_generations.py",
            "tests/supervisor/processes/test_lifecycle.py",
            "tests/supervisor/processes/test_restarts.py",
        ),
    ),
    Mutation(
        "load-deadline",
        "supervisor/processes/supply.py",
        "if child.ready is None and child in self._nursery.children:",
        "if False:",
        ("tests/supervisor/processes/test_load_deadline.py",),
    ),
    Mutation(
        "cores-are-divided",
        "supervisor/processes/supply.py",
        "        accelerated = _provider(first) in ACCELERATORS\n",
        "        accelerated = False\n",
        ("tests/supervisor/processes/test_worker_slots.py",),
    ),
    Mutation(
        "one-server-a-folder",
        "supervisor/processes/metrics_folder.py",
        "    if lock is None:\n        raise",
        "    if False:\n        raise",
        ("tests/supervisor/processes/test_metrics_folder.py",),
    ),
)
