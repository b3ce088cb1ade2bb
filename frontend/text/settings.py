"""What the user can set about how texts are read; the rules of normalisation have settings of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TextSettings:
    """The user's pronunciations, and the bounds of markup.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    lexicon: Path | None = field(
        default=None,
        metadata={
            "help": "A file of pronunciations: on each line a word, a tab, and /IPA/ or other words. Changes are seen "
            "at the next request."
        },
    )
    max_pause_seconds: float = field(
        default=60.0, metadata={"help": "The most silence that the markup of one request may ask for, in seconds."}
    )

    def __post_init__(self) -> None:
        if self.lexicon is not None and not self.lexicon.is_file():
            raise ValueError(f"lexicon: there is no file {self.lexicon}")
        if self.max_pause_seconds < 0:
            raise ValueError(f"max_pause_seconds must be 0 or more, not {self.max_pause_seconds:g}")
