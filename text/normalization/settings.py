"""The rules of normalisation by name, and which of them are on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

RULES = {
    "markdown": "Leave out Markdown's and HTML's markup, and say a link's text instead of its address: **bold**.",
    "code_blocks": "Mention long code blocks instead of reading them (needs markdown).",
    "layout": "Leave out subtitle times, page numbers, BBCode, wiki marks, LaTeX, notes; join lines: so.[12] Then.",
    "tex": "Say TeX between dollar signs and functions in formulas: $x^2$, f(x) = 2x.",
    "music": "Say notes, keys and chords: F#, Bb minor, C#m7.",
    "emoji": "Leave out emoji and emoticons: 😀.",
    "web_addresses": "Say web, mail and IP addresses, file paths, #tags and @names; shorten long ones: me@example.com.",
    "code": "Say options of commands, names with underscores, calls and short JSON: run ls -la.",
    "references": "Say references: Fig. 3a, § 5, Roe v. Wade, John 3:16, Room 204.",
    "addresses": "Say postal addresses: 221B Baker St., N. Main, Austin, TX.",
    "codes": "Say ZIP codes, ISBN, PINs and order numbers digit by digit: ZIP 90210.",
    "phones": "Say telephone, card and similar numbers digit by digit: call 555-0199.",
    "chemistry": "Say chemical formulas letter by letter: H2O, Ca²⁺.",
    "dates": "Say dates: 2026-11-21, 11/21/2026, 21 Nov.",
    "durations": "Say durations: 3h 20m, it lasted 1:23:45.",
    "times": "Say times of day: 10:30pm, 14:05.",
    "years": "Say years and decades as such where the context shows that they are: the 1990s.",
    "versions": "Say versions and section numbers: v1.2.3, Python 3.11.",
    "money": "Say amounts of money: $1,250.75, £3m.",
    "units": "Say measures: 5 km, 20°C, 60 mph, 5'11\".",
    "fractions": "Say fractions: 1/2, 2 1/2, ½.",
    "ranges": 'Say ranges and scores with "to": 5-10.',
    "ordinals": "Say ordinals: 22nd.",
    "numbers": "Say numbers that engines misread: -5, .5, 007, 10k, 1e6.",
    "initialisms": "Say initialisms that engines misread: AT&T, PhDs, JSON.",
    "math": "Say formulas and signs: 3 + 4 = 7, ≥, 10^6.",
    "roman_numerals": "Say Roman numerals after names and headings: Henry VIII, Chapter IV.",
    "abbreviations": "Say abbreviations in full: Dr., St., e.g., No. 5.",
}
"""Purpose of each rule, and after a colon an example, which its test reads. A rule is its row here, its function, and
its row in each language's list; text of a rule that is off is passed to the engine as written.
"""


@dataclass(frozen=True, slots=True)
class Normalization:
    on: frozenset[str] = frozenset(RULES)
    emoji_names: bool = False
    """Emoji are said by name instead of left out."""
    skips_code: bool = False
    """Long code blocks are left out instead of mentioned."""

    def without(self, rules: Iterable[str]) -> Normalization:
        return replace(self, on=self.on.difference(rules))

    def only(self, *rules: str) -> Normalization:
        """All rules off but these, which stay as they are."""
        return replace(self, on=self.on.intersection(rules))


AS_WRITTEN = Normalization(frozenset())
"""No rule is on: a text is spoken as it is written."""
