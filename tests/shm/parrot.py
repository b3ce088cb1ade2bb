"""Work of helper processes in tests: a file of its own, because each helper imports it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path


def parrot() -> Callable[[bytes], bytes]:
    """Work that repeats its request, except for requests that begin with a command."""

    def answer(request: bytes) -> bytes:
        word, _, rest = request.partition(b" ")
        match word:
            case b"signal":
                os.kill(os.getpid(), int(rest))
            case b"once":
                marker = Path(rest.decode())
                if not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            case b"raise":
                raise LookupError("no such thing")
            case b"hang":
                signal.pause()
            case b"loop":
                while True:
                    pass
            case b"large":
                return b"x" * int(rest)
        return request

    return answer


def unloadable() -> Callable[[bytes], bytes]:
    raise FileNotFoundError("no library")
