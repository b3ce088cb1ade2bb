"""User settings of reading: the lexicon, pauses and the rules of normalisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from shm.setting import Group, check_bounds, setting
from text.markup.delimiters import wrong_delimiters
from text.normalization.settings import RULES, Normalization

if TYPE_CHECKING:
    from text.units.prosody import Pauses

Pronouncing = Literal["misaki", "espeak", "letters"]
"""The ways to pronounce words, the best first. A way goes on with the later ones where it fails."""

PRONOUNCING: tuple[Pronouncing, ...] = get_args(Pronouncing)

_PAUSES = {
    "heading": 0.9,
    "item": 0.5,
    "paragraph": 0.7,
    "dash": 0.0,
    "ellipsis": 0.0,
    "parenthesis": 0.0,
    "quotation": 0.0,
}
"""Default pauses in seconds at speed 1. The last four are inside a sentence, where 0 leaves the pause to the model."""


@dataclass(frozen=True, slots=True)
class TextSettings:
    """Settings of the user's lexicon, of pauses, of normalisation, and of the limits of markup.

    Raises:
        ValueError: a value is invalid; the message names the setting.
    """

    lexicon: Path | None = setting(
        Group.TEXT,
        "A file of pronunciations: on each line a word, a tab, and /IPA/ or other words. Changes are seen at the next "
        "request. Without it lexicon.tsv in the user's state folder.",
        None,
    )
    g2p: Pronouncing = setting(
        Group.TEXT,
        "What pronounces words: misaki (its lexicons, then espeak-ng's rules, then letters), espeak (espeak-ng's rules "
        "alone, as phonemizer reads) or letters (spelled out). Pronunciations of --lexicon and of markup win over all.",
        "misaki",
    )
    delimiters: str = setting(
        Group.TEXT,
        "Signs after which a segment ends besides the plan's own cuts, as in ;| or a regular expression between "
        "slashes, as in /[.;] /.",
        "",
    )
    mixed_languages: bool = setting(
        Group.TEXT,
        "Read obviously foreign words, quotations and sentences in their own language, with the sounds of the "
        "request's language.",
        True,
    )
    pauses: tuple[str, ...] = setting(
        Group.TEXT,
        "Silence in seconds at speed 1 after a heading (0.9), an item of a list (0.5) and a paragraph (0.7), and "
        "inside a sentence at a dash, an ellipsis, a parenthesis and a quotation (0: the model's own), as in "
        "paragraph=0.6,dash=0.3. In the file also a table.",
        (),
        pairs=True,
    )
    emphasis: float = setting(
        Group.TEXT,
        "How strongly a text without markup is inflected by its own signs (bold words, words in capitals, questions): "
        "0 not at all, 2 twice as much.",
        1.0,
        low=0.0,
        high=2.0,
    )
    normalize_without: tuple[str, ...] = setting(
        Group.TEXT,
        f"Rules of normalisation to leave out, with commas between, of: {', '.join(RULES)}.",
        (),
        separator=",",
    )
    normalize_emoji_names: bool = setting(Group.TEXT, "Say emoji by name instead of leaving them out.", False)
    skip_code_blocks: bool = setting(
        Group.TEXT, "Leave long code blocks out instead of naming their language and length.", False
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        try:
            if self.lexicon is not None and not self.lexicon.is_file():
                raise ValueError(f"lexicon: there is no file {self.lexicon}")
        except OSError as error:
            raise ValueError(f"lexicon: {self.lexicon} can't be read: {error.strerror}") from error
        if unknown := sorted(set(self.normalize_without) - set(RULES)):
            raise ValueError(f"normalize_without: there is no rule {unknown[0]!r}; there are {', '.join(RULES)}")
        if wrong := wrong_delimiters(self.delimiters):
            raise ValueError(f"delimiters: {wrong}")
        self._seconds()

    @property
    def own_lexicon(self) -> Path:
        """The file of `lexicon`, or the one in the user's folder, which may not exist yet."""
        from shm.folders import state_folder  # not above, either

        return self.lexicon or state_folder() / "lexicon.tsv"

    @property
    def layout_pauses(self) -> Pauses:
        from text.units.prosody import Pauses  # not above: the command line reads settings and stays light

        heading, item, paragraph, *inner = self._seconds().values()
        return Pauses(heading, item, paragraph, *(seconds or None for seconds in inner))

    @property
    def normalization(self) -> Normalization:
        rules = Normalization(emoji_names=self.normalize_emoji_names, skips_code=self.skip_code_blocks)
        return rules.without(self.normalize_without)

    def _seconds(self) -> dict[str, float]:
        found = dict(_PAUSES)
        for pair in self.pauses:
            name, _, seconds = (part.strip() for part in pair.partition("="))
            if name not in found:
                raise ValueError(f"pauses: there is no pause {name!r}; there are {', '.join(found)}")
            try:
                found[name] = float(seconds)
            except ValueError:
                found[name] = math.nan
            if not 0 <= found[name] < math.inf:
                raise ValueError(f"pauses: {name} must be seconds from 0 up, not {seconds!r}")
        return found
