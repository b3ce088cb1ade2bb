"""A selector with a descriptor of its own, as macOS's kqueue(2) has one, which another selector may watch."""

import select
import selectors
from typing import Any

_epoll = select.epoll  # before it is taken away
_READ, _WRITE = select.EPOLLIN, select.EPOLLOUT


class KqueueSelector(selectors.PollSelector):
    def __init__(self) -> None:
        super().__init__()
        self._queue = _epoll()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        key = super().register(fileobj, events, data)
        self._queue.register(key.fd, _mask(events))
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        key = super().unregister(fileobj)
        try:
            self._queue.unregister(key.fd)
        except OSError:
            pass  # its descriptor was closed before, and is out
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        key = super().modify(fileobj, events, data)
        self._queue.modify(key.fd, _mask(events))
        return key

    def fileno(self) -> int:
        return self._queue.fileno()

    def close(self) -> None:
        self._queue.close()
        super().close()


def _mask(events: int) -> int:
    return _READ * bool(events & selectors.EVENT_READ) | _WRITE * bool(events & selectors.EVENT_WRITE)


def imitate() -> None:
    selectors.DefaultSelector = KqueueSelector  # type: ignore[misc]
