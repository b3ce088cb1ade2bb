"""Normalisation rules of Spanish, French, Italian and Portuguese for numbers that a word next to them explains.

Examples: "Capítulo IV", "la II guerra mondiale", "le 14/07", "CEP 01310-100", "2³", "5 k€".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from text.locales.locale import Locale
from text.normalization.draft.draft import END, MASK, START, Draft
from text.normalization.draft.roman import value
from text.normalization.western.western_numbers import cardinal, nth, spoken_number

ROMAN = r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXL])"
_DAY = rf"(?P<day>[0-2]?\d|3[01])/(?P<month>0?[1-9]|1[0-2]){END}(?![/.,-]\d)"


@dataclass(frozen=True, slots=True)
class Labels:
    """Words of one language that explain a number next to them."""

    parts: str
    """Pattern of a text's parts, before Roman numerals."""
    parts_ordinal: bool
    """True if a part's number is an ordinal ("capitolo quarto")."""
    masculine: str
    """Pattern of masculine nouns after a Roman numeral that is an ordinal ("XX Congreso")."""
    feminine: str
    """Pattern of such feminine nouns ("II Guerra Mundial")."""
    before_dates: str
    """Pattern of the words before a date without a year."""
    postcode: str
    """Pattern of the words before a postcode."""
    square: str
    cube: str
    centuries: str
    """Pattern of the plural of "century" with the word between two Roman numerals, which come around it."""
    thousand: str
    million: str
    """Format of millions of a currency, with `{}` for the currency."""


_LABELS: Mapping[str, Labels] = {
    "es": Labels(
        parts="[Cc]apítulos?|[Tt]omos?|[Vv]olumen|[Ll]ibro|[Aa]cto|[Ee]scena|[Tt]ítulo|[Aa]nexo|[Ff]ase|[Nn]ivel|[Pp]arte",
        parts_ordinal=False,
        masculine="Congreso|Concilio|Encuentro|Festival|Foro|Simposio|Premio|Plan|Certamen",
        feminine="Guerra|República|Edición|Cumbre|Conferencia|Jornadas?|Semana|Internacional",
        before_dates=r"[Ee]l|[Dd]el|[Aa]l|[Dd]ía|[Hh]asta|[Dd]esde",
        postcode=r"C\.? ?P\.?|[Cc]ódigo postal",
        square="al cuadrado",
        cube="al cubo",
        centuries=rf"\b[Ss]iglos (?:{ROMAN})(?:,| y| o| al| a) ",
        thousand="mil",
        million="millones de {}",
    ),
    "fr": Labels(
        parts="[Cc]hapitres?|[Tt]omes?|[Vv]olume|[Ll]ivre|[Aa]cte|[Ss]cène|[Tt]itre|[Aa]nnexe|[Pp]hase|[Pp]artie|[Nn]iveau",
        parts_ordinal=False,
        masculine="$^",
        feminine="$^",
        before_dates=r"[Ll]e|[Dd]u|[Aa]u|[Dd]epuis le",
        postcode=r"[Cc]ode postal",
        square="au carré",
        cube="au cube",
        centuries="$^",
        thousand="mille",
        million="millions d'{}",
    ),
    "it": Labels(
        parts="[Cc]apitol[oi]|[Vv]olume|[Tt]omo|[Ll]ibro|[Aa]tto|[Ss]cena|[Tt]itolo|[Cc]anto",
        parts_ordinal=True,
        masculine="[Cc]ongresso|[Cc]oncilio|[Cc]onvegno|[Ff]estival|[Pp]iano|[Rr]eggimento",
        feminine="[Gg]uerra|[Rr]epubblica|[Ee]dizione|[Cc]onferenza|[Gg]iornata|[Ll]egislatura",
        before_dates=r"[Ii]l|[Dd]el|[Dd]al|[Aa]l|[Ee]ntro il|[Gg]iorno",
        postcode=r"C\.?A\.?P\.?|[Cc]odice postale",
        square="al quadrato",
        cube="al cubo",
        centuries="$^",
        thousand="mila",
        million="milioni di {}",
    ),
    "pt_BR": Labels(
        parts="[Cc]apítulos?|[Tt]omos?|[Vv]olume|[Ll]ivro|[Aa]to|[Cc]ena|[Tt]ítulo|[Aa]nexo|[Ff]ase|[Nn]ível|[Pp]arte",
        parts_ordinal=False,
        masculine="Congresso|Concílio|Encontro|Festival|Fórum|Simpósio|Prêmio|Plano|Exército",
        feminine="Guerra|República|Edição|Cúpula|Conferência|Jornada|Semana|Internacional",
        before_dates=r"[Dd]ia|[Ee]m|[Nn]o|[Dd]e|[Aa]té|[Dd]esde",
        postcode=r"CEP|[Cc]ódigo postal",
        square="ao quadrado",
        cube="ao cubo",
        centuries=rf"\b[Ss]éculos (?:{ROMAN})(?:,| e| ou| ao| a) ",
        thousand="mil",
        million="milhões de {}",
    ),
}
_POWER = re.compile(r"(?<=\d)[²³](?![\w²³])")
_FIRST_OF_TWO = re.compile(rf"\b(?P<numeral>{ROMAN})(?= (?:e|o) (?:il |lo )?{ROMAN} secol[oi]\b)")


class Labelled:
    """Rules of one language; each takes the draft that it rewrites."""

    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._words = words = _LABELS[locale.numbers]
        self._part = re.compile(rf"{START}(?:{words.parts}) (?P<numeral>{ROMAN}){END}(?!\.\w)")
        self._event = re.compile(
            rf"{START}(?P<numeral>{ROMAN}) (?=(?:(?P<masculine>{words.masculine})|(?P<feminine>{words.feminine}))\b)"
        )
        self._date = re.compile(rf"{START}(?:{words.before_dates}) (?P<date>{_DAY})")
        self._postcode = re.compile(rf"{START}(?:{words.postcode}):? (?P<code>\d{{5}}(?:-\d{{3}})?){END}")
        self._second = re.compile(rf"{words.centuries}(?P<numeral>{ROMAN}){END}")
        self._short_money = re.compile(rf"(?<![\w{MASK}.,])(?P<number>\d{{1,3}}(?:,\d{{1,2}})?) ?(?P<scale>[kM])€{END}")

    def romans(self, draft: Draft) -> None:
        """Roman numerals of chapters, events and second centuries."""
        draft.replace(self._part, lambda match: self._numeral(match, self._words.parts_ordinal), "numeral")
        draft.replace(
            self._event, lambda match: f"{nth(self._locale, value(match['numeral']), match['feminine'] is not None)} "
        )
        draft.replace(self._second, lambda match: self._numeral(match, self._locale.century_ordinal), "numeral")
        if self._locale.numbers == "it":
            draft.replace(_FIRST_OF_TWO, lambda match: self._numeral(match, True), "numeral")

    def _numeral(self, match: re.Match[str], ordinal: bool) -> str:
        number = value(match["numeral"])
        return nth(self._locale, number, False) if ordinal else cardinal(number, self._locale.numbers)

    def dates(self, draft: Draft) -> None:
        """Dates without a year, which only an article or a preposition tells from fractions."""
        draft.replace(self._date, self._day_and_month, "date")

    def _day_and_month(self, match: re.Match[str]) -> str | None:
        day, month = int(match["day"]), int(match["month"])
        if day == 0:
            return None
        said = self._locale.first_day if day == 1 else cardinal(day, self._locale.numbers)
        joint = " de " if self._locale.numbers in ("es", "pt_BR") else " "
        return f"{said}{joint}{self._locale.months[month - 1]}"

    def codes(self, draft: Draft) -> None:
        """Postcodes, digit by digit."""
        draft.replace(self._postcode, lambda match: ", ".join(map(self._digits, match["code"].split("-"))), "code")

    def _digits(self, written: str) -> str:
        return " ".join(cardinal(int(digit), self._locale.numbers) for digit in written)

    def money(self, draft: Draft) -> None:
        """Thousands and millions of euros in short: 5 k€, 3 M€."""
        draft.replace(self._short_money, self._thousands)

    def _thousands(self, match: re.Match[str]) -> str:
        euros = self._locale.currencies["€"][1]
        said = spoken_number(self._locale, match["number"])
        if match["scale"] == "k":
            joint = "" if self._words.thousand == "mila" else " "
            return f"{said}{joint}{self._words.thousand} {euros}"
        return f"{said} {self._words.million.format(euros)}"

    def powers(self, draft: Draft) -> None:
        """Squares and cubes of numbers."""
        draft.replace(_POWER, lambda match: f" {self._words.square if match[0] == '²' else self._words.cube}")
