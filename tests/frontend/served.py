"""A server in a thread of its own, for programs that run in the test's thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

from tests.frontend.http_fakes import DEFAULT_TIMEOUT

T = TypeVar("T")


@contextmanager
def served(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Enter and leave the context in the event loop of another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        entered = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(DEFAULT_TIMEOUT)
        try:
            yield entered
        finally:
            left = asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop)
            left.result(DEFAULT_TIMEOUT)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
