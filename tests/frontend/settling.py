"""Waits until nothing is left of what a test has started."""

import asyncio

import psutil


async def settled(tasks: int, files: int) -> None:
    """Wait until no more tasks and descriptors are there than before."""
    async with asyncio.timeout(60):
        while len(asyncio.all_tasks()) > tasks or psutil.Process().num_fds() > files:  # noqa: ASYNC110 - transports end silently
            await asyncio.sleep(0.005)
