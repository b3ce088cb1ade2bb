"""The player's presence on the D-Bus session bus, where there is one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from shm.playing import PlayerState

if TYPE_CHECKING:
    from player.mpris_interfaces import Controlled

BUS_NAME = "org.mpris.MediaPlayer2.kokoro_live"
"""The name under which desktops find the player; another instance takes the name with its process number."""

_PATH = "/org/mpris/MediaPlayer2"


class NoMediaKeys(Exception):
    """The desktop's media keys can't reach the player. The message says why."""


class MissingLibrary(NoMediaKeys):
    """There is a session bus, and dbus-fast isn't installed."""


class MediaKeys:
    """A name on the session bus. The bus ends it with the process."""

    def __init__(self, playback: Controlled) -> None:
        """
        Raises:
            NoMediaKeys: there is no session bus, or no library for it.
        """
        address = session_bus()
        try:
            from dbus_fast.aio import MessageBus

            from player.mpris_interfaces import PlayerInterface, Root
        except ImportError as error:
            raise MissingLibrary("dbus-fast is not installed") from error
        self._player, self._root = PlayerInterface(playback), Root()
        self._bus = MessageBus(bus_address=address)

    async def open(self) -> str:
        """Connect, and take the name; returns it.

        Raises:
            NoMediaKeys: the bus doesn't answer, or refuses.
        """
        from dbus_fast import NameFlag, RequestNameReply
        from dbus_fast.errors import AuthError, DBusError, InvalidAddressError

        try:
            await self._bus.connect()
            for interface in (self._root, self._player):
                self._bus.export(_PATH, interface)
            for name in (BUS_NAME, f"{BUS_NAME}.instance{os.getpid()}"):
                reply = await self._bus.request_name(name, NameFlag.DO_NOT_QUEUE)
                if reply is RequestNameReply.PRIMARY_OWNER:
                    return name
        except (OSError, EOFError, AuthError, DBusError, InvalidAddressError) as error:
            raise NoMediaKeys(f"the session bus refuses: {error}") from error
        raise NoMediaKeys(f"the name {BUS_NAME} is taken")

    async def until_lost(self) -> None:
        """Wait until the bus is gone or was left."""
        with contextlib.suppress(OSError, EOFError):
            await self._bus.wait_for_disconnect()  # type: ignore[no-untyped-call]

    def show(self, state: PlayerState) -> None:
        """Show the state on the desktop; does nothing once the bus is gone."""
        if self._bus.connected:
            self._player.show(state)

    def leave_bus(self) -> None:
        """Leave the bus."""
        self._bus.disconnect()


def session_bus() -> str:
    """The address of this login's session bus.

    Raises:
        NoMediaKeys: there is none.
    """
    if address := os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return address
    # systemd puts the bus there; a service may lack the variable.
    socket = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent"), "bus")
    if socket.is_socket():
        return f"unix:path={socket}"
    raise NoMediaKeys("there is no D-Bus session bus")
