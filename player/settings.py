"""The player's settings; the supervisor makes each into a flag, a variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass

from shm.setting import Group, check_bounds, setting


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """Settings of the player process.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    play_buffer_ms: int = setting(
        Group.ANSWERS,
        "Milliseconds of audio that the sound card holds while /v1/play plays. More survives a busier machine, less "
        "skips sooner; pausing is immediate either way.",
        200,
        low=20,
        high=2000,
    )

    def __post_init__(self) -> None:
        check_bounds(self)
