"""User settings of reading: the lexicon, pauses and the limits of markup. Normalisation rules have settings of their
own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from text.units.prosody import Pauses


@dataclass(frozen=True, slots=True)
class TextSettings:
    """Settings of the user's lexicon, of pauses, and of the limits of markup.

    Raises:
        ValueError: a value is invalid; the message names the setting.
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

    mixed_languages: bool = field(
        default=True,
        metadata={
            "help": "Read obviously foreign words, quotations and sentences in their own language, with the sounds of "
            "the request's language."
        },
    )
    heading_pause_seconds: float = field(
        default=0.9, metadata={"help": "Silence after a heading, in seconds at speed 1."}
    )
    item_pause_seconds: float = field(
        default=0.5, metadata={"help": "Silence after an item of a list, in seconds at speed 1."}
    )
    paragraph_pause_seconds: float = field(
        default=0.7, metadata={"help": "Silence after a paragraph, in seconds at speed 1."}
    )

    dash_pause_seconds: float = field(
        default=0.0,
        metadata={"help": "Silence at a dash inside a sentence, in seconds at speed 1; 0: the model's own."},
    )
    ellipsis_pause_seconds: float = field(
        default=0.0,
        metadata={"help": "Silence at an ellipsis inside a sentence, in seconds at speed 1; 0: the model's own."},
    )
    parenthesis_pause_seconds: float = field(
        default=0.0,
        metadata={"help": "Silence before and after parentheses, in seconds at speed 1; 0: the model's own."},
    )
    quotation_pause_seconds: float = field(
        default=0.0,
        metadata={
            "help": "Silence before and after a quotation inside a sentence, in seconds at speed 1; 0: the model's own."
        },
    )

    def __post_init__(self) -> None:
        try:
            if self.lexicon is not None and not self.lexicon.is_file():
                raise ValueError(f"lexicon: there is no file {self.lexicon}")
        except OSError as error:
            raise ValueError(f"lexicon: {self.lexicon} can't be read: {error.strerror}") from error
        for name in ("max", "heading", "item", "paragraph", "dash", "ellipsis", "parenthesis", "quotation"):
            name += "_pause"
            if (seconds := getattr(self, f"{name}_seconds")) < 0:
                raise ValueError(f"{name}_seconds must be 0 or more, not {seconds:g}")

    @property
    def pauses(self) -> Pauses:
        """Pauses after headings, items and paragraphs, and at marks inside sentences."""
        from text.units.prosody import Pauses  # not above: the command line reads settings and stays light

        return Pauses(
            self.heading_pause_seconds,
            self.item_pause_seconds,
            self.paragraph_pause_seconds,
            self.dash_pause_seconds or None,
            self.ellipsis_pause_seconds or None,
            self.parenthesis_pause_seconds or None,
            self.quotation_pause_seconds or None,
        )
