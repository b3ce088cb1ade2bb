"""The player's settings; the supervisor makes each into a flag, a variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """Settings of the player process.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    play_buffer_ms: int = field(
        default=200,
        metadata={
            "help": "Milliseconds of audio that the sound card holds while /v1/play plays. More survives a busier "
            "machine, less skips sooner; pausing is immediate either way."
        },
    )

    def __post_init__(self) -> None:
        if not 20 <= self.play_buffer_ms <= 2000:
            raise ValueError(f"play_buffer_ms must be from 20 to 2000, not {self.play_buffer_ms}")
