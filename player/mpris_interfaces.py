"""The two D-Bus interfaces of an MPRIS player, version 2.2 (specifications.freedesktop.org/mpris-spec/latest).

dbus-fast reads the D-Bus types from the annotations, which must therefore not be strings: it refuses the string "None"
of a method that returns nothing. Names are those of the specification.
"""

import math
import re
from typing import Annotated, Any, Protocol

from dbus_fast import ErrorType, PropertyAccess, Variant
from dbus_fast.annotations import DBusBool, DBusDouble, DBusInt64, DBusObjectPath, DBusSignature, DBusStr
from dbus_fast.errors import DBusError
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

from shm.audio import FASTEST, SLOWEST
from shm.playing import Change, PlayerAnswer, PlayerState, Playing, Steer, Verb

DBusStrings = Annotated[list[str], DBusSignature("as")]
DBusMetadata = Annotated[dict[str, Variant], DBusSignature("a{sv}")]

NO_TRACK = "/org/mpris/MediaPlayer2/TrackList/NoTrack"


_MICROSECONDS = 1_000_000
_STATUSES = {
    Playing.PLAYING: "Playing",
    Playing.BUFFERING: "Playing",
    Playing.PAUSED: "Paused",
    Playing.IDLE: "Stopped",
}
_READ = PropertyAccess.READ


class Controlled(Protocol):
    """The part of `player.playback.ItemPlayback` that media keys need."""

    @property
    def state(self) -> PlayerState: ...

    def steer(self, message: Steer) -> PlayerAnswer: ...

    async def change(self, message: Change) -> PlayerAnswer: ...


def _constant(name: str, kind: Any, value: Any) -> Any:
    """A property that never changes, of a D-Bus type."""

    def get(self: ServiceInterface) -> Any:
        return value

    get.__name__ = name  # by which dbus-fast finds it again
    get.__annotations__["return"] = kind
    return dbus_property(_READ)(get)


class Root(ServiceInterface):
    """`org.mpris.MediaPlayer2`: who plays. It has no window, and media keys can't end it."""

    def __init__(self) -> None:
        super().__init__("org.mpris.MediaPlayer2")

    @dbus_method()
    def Raise(self) -> None:
        """Show a window: there is none (`CanRaise`)."""

    @dbus_method()
    def Quit(self) -> None:
        """End the program: not possible (`CanQuit`)."""

    CanQuit = _constant("CanQuit", DBusBool, False)
    CanRaise = _constant("CanRaise", DBusBool, False)
    HasTrackList = _constant("HasTrackList", DBusBool, False)
    Identity = _constant("Identity", DBusStr, "kokoro-live")
    SupportedUriSchemes = _constant("SupportedUriSchemes", DBusStrings, [])
    SupportedMimeTypes = _constant("SupportedMimeTypes", DBusStrings, [])


class PlayerAbilities(ServiceInterface):
    """The part of `org.mpris.MediaPlayer2.Player` that says what a desktop may ask for."""

    def __init__(self, playback: Controlled) -> None:
        super().__init__("org.mpris.MediaPlayer2.Player")
        self._playback = playback

    MinimumRate = _constant("MinimumRate", DBusDouble, SLOWEST)
    MaximumRate = _constant("MaximumRate", DBusDouble, FASTEST)
    CanPlay = _constant("CanPlay", DBusBool, True)
    CanPause = _constant("CanPause", DBusBool, True)
    CanControl = _constant("CanControl", DBusBool, True)

    @dbus_property(_READ)
    def CanGoNext(self) -> DBusBool:
        return self._playback.state.id is not None

    @dbus_property(_READ)
    def CanGoPrevious(self) -> DBusBool:
        return self._playback.state.id is not None

    @dbus_property(_READ)
    def CanSeek(self) -> DBusBool:
        return self._playback.state.id is not None


class PlayerProperties(PlayerAbilities):
    """The part of `org.mpris.MediaPlayer2.Player` that says what plays, and how fast and loud."""

    @dbus_property(_READ)
    def PlaybackStatus(self) -> DBusStr:
        return _STATUSES[self._playback.state.state]

    @dbus_property(_READ)
    def Metadata(self) -> DBusMetadata:
        return metadata(self._playback.state)

    @dbus_property(_READ)
    def Position(self) -> DBusInt64:
        return self._position()

    @dbus_property()
    def Rate(self) -> DBusDouble:
        return self._playback.state.speed or 1.0

    @Rate.setter
    async def set_rate(self, speed: DBusDouble) -> None:
        """Speak at that speed from the next sentence on; 0 pauses, as the specification says.

        Raises:
            DBusError: it is no number.
        """
        if math.isnan(speed):
            raise DBusError(ErrorType.INVALID_ARGS, "Rate must be a number")
        if speed <= 0:
            self._steer(Verb.PAUSE)
        else:
            await self._playback.change(Change(speed=min(max(speed, SLOWEST), FASTEST)))

    @dbus_property()
    def Volume(self) -> DBusDouble:
        return self._playback.state.volume

    @Volume.setter
    async def set_volume(self, volume: DBusDouble) -> None:
        """Speak at that volume from now on.

        Raises:
            DBusError: it is no number.
        """
        if math.isnan(volume):
            raise DBusError(ErrorType.INVALID_ARGS, "Volume must be a number")
        await self._playback.change(Change(volume=min(max(volume, 0.0), 1.0)))

    def _steer(self, verb: Verb) -> None:
        self._playback.steer(Steer(0, verb))

    def _position(self) -> int:
        return round((self._playback.state.seconds or 0.0) * _MICROSECONDS)


class PlayerInterface(PlayerProperties):
    """`org.mpris.MediaPlayer2.Player`: what plays. Next and Previous go by sentence, as the player's own verbs do."""

    def __init__(self, playback: Controlled) -> None:
        super().__init__(playback)
        self._shown: dict[str, Any] = {}

    def show(self, state: PlayerState) -> None:
        """Tell the desktop what has changed."""
        now = {
            "PlaybackStatus": _STATUSES[state.state],
            "Metadata": metadata(state),
            "Rate": state.speed or 1.0,
            "Volume": state.volume,
            **dict.fromkeys(("CanGoNext", "CanGoPrevious", "CanSeek"), state.id is not None),
        }
        changed = {name: value for name, value in now.items() if self._shown.get(name) != value}
        self._shown = now
        if changed:
            self.emit_properties_changed(changed)

    # -- methods

    @dbus_method()
    def Next(self) -> None:
        self._steer(Verb.SKIP)

    @dbus_method()
    def Previous(self) -> None:
        self._steer(Verb.BACK)

    @dbus_method()
    def Pause(self) -> None:
        self._steer(Verb.PAUSE)

    @dbus_method()
    def PlayPause(self) -> None:
        self._steer(Verb.TOGGLE)

    @dbus_method()
    def Stop(self) -> None:
        self._steer(Verb.STOP)

    @dbus_method()
    def Play(self) -> None:
        self._steer(Verb.RESUME)

    @dbus_method()
    async def Seek(self, offset: DBusInt64) -> None:
        """Go by that many microseconds, to the beginning of a sentence; beyond the end as `Next`."""
        seconds = max((self._playback.state.seconds or 0.0) + offset / _MICROSECONDS, 0.0)
        if not await self._go(seconds):
            self.Next()

    @dbus_method()
    async def SetPosition(self, track: DBusObjectPath, position: DBusInt64) -> None:
        """Go to that time of that track; ignored if another one is being played, or the track is shorter."""
        if position >= 0 and track == path_of(self._playback.state):
            await self._go(position / _MICROSECONDS)

    @dbus_method()
    def OpenUri(self, uri: DBusStr) -> None:
        """Play a file: not possible (`SupportedUriSchemes`)."""

    async def _go(self, seconds: float) -> bool:
        answer = await self._playback.change(Change(seek=seconds))
        if not answer.refusal:
            self.Seeked(self._position())
        return not answer.refusal

    @dbus_signal()
    def Seeked(self, position: DBusInt64) -> DBusInt64:
        return position


def path_of(state: PlayerState) -> str:
    """The D-Bus object path that stands for the text: ids have characters that a path can't have."""
    return "/org/kokoro_live/" + re.sub(r"\W", "_", state.id, flags=re.ASCII) if state.id else NO_TRACK


def metadata(state: PlayerState) -> dict[str, Variant]:
    """The text as MPRIS describes a track: without a title, the sentence that sounds stands for it."""
    found = {"mpris:trackid": Variant("o", path_of(state))}
    if state.id:
        found["xesam:title"] = Variant("s", state.title or state.sentence or "")
        found["xesam:asText"] = Variant("s", state.sentence or "")
        found["xesam:artist"] = Variant("as", [state.voice or ""])
        found["mpris:length"] = Variant("x", round((state.of or 0.0) * _MICROSECONDS))
    return found
