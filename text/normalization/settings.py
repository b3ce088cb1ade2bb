"""User settings of normalisation."""

from __future__ import annotations

from dataclasses import dataclass, field, fields


def _rule(help_text: str, default: bool = True) -> bool:
    on: bool = field(default=default, metadata={"help": help_text})
    return on


@dataclass(frozen=True, slots=True)
class Normalization:
    """Switches for families of normalisation rules; text of a family that is off is passed to the engine as written."""

    normalize_markdown: bool = _rule(
        "Leave out Markdown's and HTML's markup, and say a link's text instead of its address."
    )
    normalize_code_blocks: bool = _rule("Mention long code blocks instead of reading them (needs normalize_markdown).")
    normalize_tex: bool = _rule("Say TeX between dollar signs and functions in formulas: $x^2$, f(x) = 2x.")
    normalize_music: bool = _rule("Say notes, keys and chords: F#, Bb minor, C#m7.")
    normalize_emoji: bool = _rule("Leave out emoji and emoticons.")
    normalize_emoji_names: bool = _rule(
        "Say emoji by name instead of leaving them out (needs normalize_emoji).", default=False
    )
    normalize_web_addresses: bool = _rule(
        "Say web, mail and IP addresses, file paths, #tags and @names; shorten long ones."
    )
    normalize_code: bool = _rule("Say options of commands, names with underscores, calls and short JSON.")
    normalize_references: bool = _rule("Say references: Fig. 3a, § 5, Roe v. Wade, John 3:16, Room 204.")
    normalize_addresses: bool = _rule("Say postal addresses: 221B Baker St., N. Main, Austin, TX.")
    normalize_codes: bool = _rule("Say ZIP codes, ISBN, PINs and order numbers digit by digit.")
    normalize_phones: bool = _rule("Say telephone, card and similar numbers digit by digit.")
    normalize_chemistry: bool = _rule("Say chemical formulas letter by letter: H2O, Ca²⁺.")
    normalize_dates: bool = _rule("Say dates: 2026-11-21, 11/21/2026, 21 Nov.")
    normalize_durations: bool = _rule("Say durations: 3h 20m, it lasted 1:23:45.")
    normalize_times: bool = _rule("Say times of day: 10:30pm, 14:05.")
    normalize_years: bool = _rule("Say years and decades as such where the context shows that they are.")
    normalize_versions: bool = _rule("Say versions and section numbers: v1.2.3, Python 3.11.")
    normalize_money: bool = _rule("Say amounts of money: $1,250.75, £3m.")
    normalize_units: bool = _rule("Say measures: 5 km, 20°C, 60 mph, 5'11\".")
    normalize_fractions: bool = _rule("Say fractions: 1/2, 2 1/2, ½.")
    normalize_ranges: bool = _rule('Say ranges and scores with "to": 5-10.')
    normalize_ordinals: bool = _rule("Say ordinals: 22nd.")
    normalize_math: bool = _rule("Say formulas and signs: 3 + 4 = 7, ≥, 10^6.")
    normalize_numbers: bool = _rule("Say numbers that engines misread: -5, .5, 007, 10k, 1e6.")
    normalize_roman_numerals: bool = _rule("Say Roman numerals after names and headings: Henry VIII, Chapter IV.")
    normalize_initialisms: bool = _rule("Say initialisms that engines misread: AT&T, PhDs, JSON.")
    normalize_abbreviations: bool = _rule("Say abbreviations in full: Dr., St., e.g., No. 5.")

    def on(self, rule: str) -> bool:
        """True if the rule of that name is on."""
        value: bool = getattr(self, f"normalize_{rule}")
        return value

    @classmethod
    def none(cls) -> Normalization:
        """Settings with all rules off: the text is spoken as it is written."""
        return cls(**{rule.name: False for rule in fields(cls)})


RULES = tuple(rule.name for rule in fields(Normalization))
"""Names of the settings of all rules."""
