"""The announcement of the Wyoming port where there is nothing to announce it on."""

import socket
from typing import cast

import pytest

from frontend.dialects.wyoming import announcement as announcement_module
from frontend.dialects.wyoming.announcement import Announcement


class Unroutable:
    """A listening socket on an IPv6 address that no interface has."""

    def getsockname(self) -> tuple[str, int, int, int]:
        return "2001:db8::1", 10200, 0, 0


async def test_an_address_that_cannot_be_announced_does_not_end_the_front(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:  # as zeroconf does, which then leaves a socket open until it is collected
        raise RuntimeError("No adapter found for IP address 2001:db8::1")

    monkeypatch.setattr(announcement_module, "AsyncZeroconf", refuse)
    announcement = Announcement(cast(socket.socket, Unroutable()))
    await announcement.start()
    assert "isn't announced" in caplog.text
    await announcement.withdraw()
