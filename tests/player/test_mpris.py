"""MPRIS on a real session bus of the test's own, spoken to as a desktop does it."""

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from dbus_fast.errors import DBusError

from player.media_keys import BUS_NAME, MediaKeys, MissingLibrary, NoMediaKeys
from shm.playing import Change, PlayerAnswer, PlayerState, Playing, Steer, Verb

needs_bus = pytest.mark.skipif(
    not shutil.which("dbus-daemon"), reason="dbus-daemon isn't installed (apt-get install dbus)"
)

PATH, PLAYER = "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player"

CONFIGURATION = """<busconfig>
<type>session</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>"""

SPEAKING = PlayerState(
    state=Playing.PLAYING,
    id="play-1f",
    title="Letter",
    sentence="Dear you.",
    seconds=2.5,
    of=10.0,
    voice="v",
    speed=1.0,
)


class NotingPlayback:
    """Notes commands; `state` is what the test puts there."""

    def __init__(self) -> None:
        self.state = PlayerState()
        self.verbs: list[Verb] = []
        self.changes: list[Change] = []

    def steer(self, message: Steer) -> PlayerAnswer:
        self.verbs.append(message.verb)
        return PlayerAnswer(message.number)

    async def change(self, message: Change) -> PlayerAnswer:
        self.changes.append(message)
        beyond = (message.seek or 0) > (self.state.of or 0)
        return PlayerAnswer(0, refusal="The text ends before that." if beyond else "")


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    configuration = tmp_path / "bus.conf"
    configuration.write_text(CONFIGURATION.format(socket=tmp_path / "bus"))
    command = ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", daemon.stdout.readline().strip())
        yield daemon.kill  # type: ignore[misc]
        daemon.kill()


@pytest.fixture
async def desktop(bus: Callable[[], None]) -> AsyncIterator[tuple[NotingPlayback, MediaKeys, Any]]:
    """A playback, its media keys, and a desktop's view of them."""
    from dbus_fast.aio import MessageBus

    playback = NotingPlayback()
    keys = MediaKeys(playback)
    assert await keys.open() == BUS_NAME
    client = await MessageBus().connect()
    seen = client.get_proxy_object(BUS_NAME, PATH, await client.introspect(BUS_NAME, PATH))
    yield playback, keys, seen
    client.disconnect()
    with contextlib.suppress(EOFError):
        await client.wait_for_disconnect()
    keys.leave_bus()


@needs_bus
async def test_each_key_is_a_command(desktop: tuple[NotingPlayback, MediaKeys, Any]) -> None:
    playback, _, seen = desktop
    player = seen.get_interface(PLAYER)
    for call in (
        *(player.call_play_pause, player.call_pause, player.call_play, player.call_next, player.call_previous),
        player.call_stop,
    ):
        await call()
    assert playback.verbs == [Verb.TOGGLE, Verb.PAUSE, Verb.RESUME, Verb.SKIP, Verb.BACK, Verb.STOP]
    root = seen.get_interface("org.mpris.MediaPlayer2")
    assert (await root.get_identity(), await root.get_can_quit(), await root.get_supported_uri_schemes()) == (
        *("kokoro-live", False),
        [],
    )


@needs_bus
async def test_now_playing_follows_the_state(desktop: tuple[NotingPlayback, MediaKeys, Any]) -> None:
    playback, keys, seen = desktop
    player = seen.get_interface(PLAYER)
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    seen.get_interface("org.freedesktop.DBus.Properties").on_properties_changed(
        lambda interface, changed, gone: told.put_nowait(changed)
    )
    await player.call_play()  # the match rule of the signal is set before this is answered
    assert await player.get_playback_status() == "Stopped"
    playback.state = SPEAKING
    keys.show(SPEAKING)
    async with asyncio.timeout(30):
        changed = await told.get()
    assert changed["PlaybackStatus"].value == "Playing" and changed["CanSeek"].value is True
    fields = {name: value.value for name, value in changed["Metadata"].value.items()}
    assert (fields["mpris:trackid"], fields["xesam:title"]) == ("/org/kokoro_live/play_1f", "Letter")
    assert fields["mpris:length"] == 10_000_000 and await player.get_position() == 2_500_000
    keys.show(SPEAKING)
    paused = PlayerState(
        state=Playing.PAUSED, id="play-1f", title="Letter", sentence="Dear you.", of=10.0, voice="v", speed=1.0
    )
    playback.state = paused
    keys.show(paused)
    async with asyncio.timeout(30):
        changed = await told.get()
    assert {name: value.value for name, value in changed.items()} == {"PlaybackStatus": "Paused"}, (
        "nothing is told twice"
    )


@needs_bus
async def test_seeking_and_rates(desktop: tuple[NotingPlayback, MediaKeys, Any]) -> None:
    playback, _, seen = desktop
    player = seen.get_interface(PLAYER)
    playback.state = SPEAKING
    await player.call_seek(3_000_000)
    await player.call_seek(-9_000_000)
    await player.call_set_position("/org/kokoro_live/play_1f", 4_000_000)
    await player.call_set_position("/org/kokoro_live/another", 5_000_000)
    assert [change.seek for change in playback.changes] == [5.5, 0.0, 4.0]
    await player.call_seek(60_000_000)
    assert playback.verbs == [Verb.SKIP], "beyond the end"
    playback.changes.clear()
    await player.set_rate(9.0)
    await player.set_volume(0.25)
    await player.set_rate(0.0)
    assert playback.changes == [Change(speed=5.0), Change(volume=0.25)] and playback.verbs[-1] is Verb.PAUSE
    for setter in (player.set_rate, player.set_volume):
        with pytest.raises(DBusError, match="must be a number"):
            await setter(float("nan"))
    assert len(playback.changes) == 2, "a value that is no number changes nothing"


@needs_bus
async def test_a_second_server_has_a_name_of_its_own_and_a_lost_bus_is_no_failure(
    desktop: tuple[NotingPlayback, MediaKeys, Any], bus: Callable[[], None]
) -> None:
    second = MediaKeys(NotingPlayback())
    assert (await second.open()).startswith(f"{BUS_NAME}.instance")
    _, first, _ = desktop
    bus()
    async with asyncio.timeout(30):
        await asyncio.gather(first.until_lost(), second.until_lost())
    second.show(SPEAKING)
    second.leave_bus()


async def test_without_a_bus_or_the_library_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(NoMediaKeys, match="no D-Bus session bus"):
        MediaKeys(NotingPlayback())
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path / 'nobody'}")
    with pytest.raises(NoMediaKeys, match="refuses"):
        await MediaKeys(NotingPlayback()).open()
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
    with pytest.raises(NoMediaKeys, match="refuses"):
        await MediaKeys(NotingPlayback()).open()
    monkeypatch.setitem(__import__("sys").modules, "dbus_fast.aio", None)
    with pytest.raises(MissingLibrary, match="dbus-fast"):
        MediaKeys(NotingPlayback())
