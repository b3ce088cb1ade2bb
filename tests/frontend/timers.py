"""Timers of the event loop, for tests that need them to have acted."""

import asyncio

from tests.frontend.http_fakes import DEFAULT_TIMEOUT


async def due_timers_act() -> None:
    """Let every timer act that is due by now: timers act in the order of their times."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(0.0, over.set)
    await asyncio.wait_for(over.wait(), DEFAULT_TIMEOUT)
