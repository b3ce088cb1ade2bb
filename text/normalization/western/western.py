"""Normalisation rules for Spanish, French, Italian and Portuguese: one set of rules, parameterised by a `Locale`.

Plain numbers stay digits, which espeak-ng reads well. The rules rewrite text that it misreads: separators, signs,
dates, times, money, measures, ordinals, Roman numerals, abbreviations, addresses and telephone numbers.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from text.normalization.draft import DASH, END, MASK, START, Draft, Rule
from text.normalization.number_words import roman_value
from text.normalization.western import forms
from text.normalization.western.words import Locale, cardinal, locale_of, nth, spoken_number

_NUMBER = r"(?:\d{1,3}(?:[.\u202f\u00a0 ]\d{3})+(?!\d)|\d{1,15})(?:,\d{1,9})?"
_EDGE = rf"(?<![\w{MASK}.,/-])"
_MAGNITUDES = (
    r"(?: (?P<big>mil millones|mil|millones|millón|millions?|milliards?|mille|milioni|milione|miliardi|milhões"
    r"|milhão|bilhões))?"
)
_CLOCK = re.compile(
    rf"{_EDGE}(?P<hours>[01]?\d|2[0-4])(?:(?P<sign>:|\.(?=\d\d\b)| ?h ?)(?P<minutes>[0-5]\d)|(?P<alone> ?h))"
    rf"(?::(?P<seconds>[0-5]\d))?(?:(?P<hour> ?h(?:rs?|s)?)\b(?:\.(?=\s*\w))?)?(?P<span> ?min\b(?:\.(?=\s*\w))?)?"
    rf"(?: ?(?P<noon>[ap])\. ?m\.)?{END}(?![.,:]\d)"
)
_NOON = re.compile(rf"{_EDGE}(?P<hours>1[0-2]|[1-9]) ?(?P<noon>[ap])\. ?m\.{END}")
_DOTTED_CLOCK = re.compile(
    r"\b(?:[Oo]re|[Aa]lle|[Dd]alle|[Ll]e|[Vv]erso le) (?P<clock>(?P<hours>[01]?\d|2[0-3])\.(?P<minutes>[0-5]\d))"
    rf"{END}(?![.,]\d)"
)
"""Italian times with a full stop."""
_DATE = re.compile(
    rf"{_EDGE}(?P<day>\d{{1,2}})(?P<sign>[/.-])(?P<month>\d{{1,2}})(?P=sign)(?P<year>[12]\d{{3}}|\d\d){END}(?![./-]\d)"
)
_ISO = re.compile(rf"{_EDGE}(?P<year>[12]\d{{3}})-(?P<month>\d\d)-(?P<day>\d\d){END}")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}", re.ASCII)
_WEB = re.compile(
    r"(?<![\w@.])(?:https?://|www\.)[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}(?:/[^\s<>\"]{0,200}(?<![.,;:!?)]))?"
    r"|(?<![\w@./])(?:[a-z0-9-]{2,63}\.){1,3}(?:com|org|net|es|fr|it|br|pt|eu|io|mx|ar|be|ch|ca)\b(?:/[\w./-]{0,100}\w)?",
    re.IGNORECASE,
)
_PHONE = re.compile(
    rf"(?<![\w{MASK}.,/-])(?:\+\d{{1,3}}[ .-]?(?:\d[ .-])?)?(?:\(0?\d{{1,3}}\) ?)?\d{{2,5}}(?:(?:[ .-]\d{{2,5}}){{2,5}}"
    rf"|(?<=\) \d{{5}})-\d{{4}}|(?<=\) \d{{4}})-\d{{4}}){END}(?![.,/-]?\d)"
)
_PHONE_SIGNS = re.compile(
    r"\b(?:t[eé]l|telefon|tel[eé]fono|fax|m[oó]vil|llam|ligue|chiam|appel|whatsapp|celular|portable)", re.IGNORECASE
)
_RANGE = re.compile(rf"{_EDGE}(?P<first>\d{{1,4}})(?P<dash>{DASH})(?P<last>\d{{1,4}}){END}(?![.,/-]\d)")
_MINUS = re.compile(r"(?:(?<=^)|(?<=[\s(]))[-−](?=\d)")
_FRACTION = re.compile(rf"{_EDGE}(?P<above>\d)/(?P<below>[2-9]|10){END}(?!/)")
_GROUPED = re.compile(
    rf"{_EDGE}(?P<number>\d{{1,3}}(?:[.\u202f ]\d{{3}})+(?:,\d{{1,9}})?|\d{{1,15}},\d{{1,9}}){END}(?![.,]\d)"
)
_SIGN = re.compile(rf"(?P<left>[\d{MASK})]) ?(?P<sign>[+×÷=<>]) ?(?=[\d(])")
_AND = re.compile(r" ?& ?")


ROMAN = r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXL])"
_DAY = rf"(?P<day>[0-2]?\d|3[01])/(?P<month>0?[1-9]|1[0-2]){END}(?![/.,-]\d)"


_POWER = re.compile(r"(?<=\d)[²³](?![\w²³])")
_FIRST_OF_TWO = re.compile(rf"\b(?P<numeral>{ROMAN})(?= (?:e|o) (?:il |lo )?{ROMAN} secol[oi]\b)")


class Western:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._units = _alternatives(locale.units)
        self._money = _alternatives(locale.currencies)
        self._abbreviations = re.compile(
            rf"{START}(?P<name>{_alternatives(locale.abbreviations)})(?!(?<=\w)\w)(?P<last>[\"”’)]*$)?"
        )
        sign = rf"(?P<sign>{self._money})"
        per = rf"(?P<per>/(?:{self._units}))?"
        upto = rf"(?:(?P<first>\d{{1,4}}(?:,\d{{1,3}})?){DASH})?"
        self._before = re.compile(rf"(?<![\w$€£]){sign} ?(?P<number>{_NUMBER}){_MAGNITUDES}{END}(?![.,]\d){per}")
        self._after = re.compile(rf"{_EDGE}{upto}(?P<number>{_NUMBER}){_MAGNITUDES} ?{sign}{END}{per}")
        self._measure = re.compile(
            rf"{_EDGE}{upto}(?P<minus>[-−])?(?P<number>{_NUMBER})(?P<gap> ?)(?P<unit>{self._units})(?![\w{MASK}²³/])"
            rf"(?:\.(?= [a-z]))?"
        )
        self._percent = re.compile(rf"{_EDGE}{upto}(?P<minus>[-−])?(?P<number>{_NUMBER})[ \u202f]?%")
        self._ordinal = re.compile(rf"{_EDGE}(?P<number>\d{{1,4}}){locale.ordinals}(?!\w)(?! ?C\b)")
        self._roman_ordinal = re.compile(rf"{START}(?P<numeral>(?=[IVX]){ROMAN})(?P<ending>{locale.ordinals})(?!\w)")
        self._century = re.compile(locale.century.replace("{numeral}", rf"\b(?P<numeral>{ROMAN})", 1))
        self._ruler = re.compile(rf"{START}(?:{locale.rulers}) (?P<numeral>{ROMAN}){END}")
        self._month = re.compile(
            rf"{_EDGE}(?P<day>1)(?:\.?º|er|°)?(?= (?:de )?(?:{'|'.join(locale.months)})\b)", re.IGNORECASE
        )
        if locale.century.count("{numeral}") > 1:
            before, _, after = locale.century.partition("|")
            second = after.replace("{numeral}", rf"(?P<other>{ROMAN})")
            self._century = re.compile(before.replace("{numeral}", rf"\b(?P<numeral>{ROMAN})") + "|" + second)
        words = locale.labels
        self._part = re.compile(rf"{START}(?:{words.parts}) (?P<numeral>{ROMAN}){END}(?!\.\w)")
        self._event = re.compile(
            rf"{START}(?P<numeral>{ROMAN}) (?=(?:(?P<masculine>{words.masculine})|(?P<feminine>{words.feminine}))\b)"
        )
        self._date = re.compile(rf"{START}(?:{words.before_dates}) (?P<date>{_DAY})")
        self._postcode = re.compile(rf"{START}(?:{words.postcode}):? (?P<code>\d{{5}}(?:-\d{{3}})?){END}")
        self._second = re.compile(rf"{words.centuries.replace('{numeral}', ROMAN)}(?P<numeral>{ROMAN}){END}")
        self._short_money = re.compile(rf"(?<![\w{MASK}.,])(?P<number>\d{{1,3}}(?:,\d{{1,2}})?) ?(?P<scale>[kM])€{END}")

    def rules(self) -> tuple[Rule, ...]:
        digit = re.compile(r"\d")
        return (
            Rule("web_addresses", self._web, re.compile(r"@|[\w-]\.[\w-]|://")),
            Rule("codes", self._codes, re.compile(r"\d{5}")),
            Rule("phones", self._phones, digit),
            Rule("dates", self._dates, digit),
            Rule("money", self._amounts, digit),
            Rule("times", self._times, digit),
            Rule("units", self._measures, digit),
            Rule("ordinals", self._ordinals, re.compile(r"[\dIVXL]")),
            Rule("roman_numerals", self._romans, re.compile(r"[IVXL]")),
            Rule("fractions", self._fractions, re.compile(r"\d/\d")),
            Rule("ranges", self._ranges, digit),
            Rule("math", self._signs, re.compile(r"[+×÷=<>&−²³-]")),
            Rule("numbers", self._numbers, re.compile(r"\d[., \u202f]\d")),
            Rule("abbreviations", self._shortened, self._abbreviations),
        )

    def _web(self, draft: Draft) -> None:
        draft.replace(_MAIL, lambda match: forms.address(self._locale, match[0]))
        draft.replace(
            _WEB, lambda match: forms.address(self._locale, re.sub(r"^(?:https?://)?(?:www\.)?", "", match[0]))
        )

    def _codes(self, draft: Draft) -> None:
        draft.replace(self._postcode, lambda match: ", ".join(map(self._digits, match["code"].split("-"))), "code")

    def _phones(self, draft: Draft) -> None:
        named = _PHONE_SIGNS.search(draft.sentence) is not None
        draft.replace(_PHONE, lambda match: forms.phone(self._locale, match[0], named))

    def _dates(self, draft: Draft) -> None:
        draft.replace(_ISO, lambda match: forms.date(self._locale, match["day"], match["month"], match["year"]))
        draft.replace(_DATE, lambda match: forms.date(self._locale, match["day"], match["month"], match["year"]))
        draft.replace(self._month, lambda match: self._locale.first_day)
        draft.replace(self._date, self._day_and_month, "date")

    def _times(self, draft: Draft) -> None:
        draft.replace(_CLOCK, partial(forms.time, self._locale))
        if self._locale.numbers == "es":
            draft.replace(_NOON, partial(forms.noon, self._locale))
        if self._locale.numbers == "it":
            draft.replace(_DOTTED_CLOCK, partial(forms.clock, self._locale), "clock")

    def _amounts(self, draft: Draft) -> None:
        draft.replace(self._short_money, self._thousands)
        draft.replace(self._before, partial(forms.amount, self._locale))
        draft.replace(self._after, partial(forms.amount, self._locale))

    def _measures(self, draft: Draft) -> None:
        draft.replace(self._percent, partial(forms.percentage, self._locale))
        draft.replace(self._measure, partial(forms.measure, self._locale))

    def _ordinals(self, draft: Draft) -> None:
        draft.replace(self._ordinal, partial(forms.ordinal_number, self._locale))

    def _romans(self, draft: Draft) -> None:
        draft.replace(self._part, lambda match: self._numeral(match, self._locale.labels.parts_ordinal), "numeral")
        draft.replace(
            self._event,
            lambda match: f"{nth(self._locale, roman_value(match['numeral']), match['feminine'] is not None)} ",
        )
        draft.replace(self._second, lambda match: self._numeral(match, self._locale.century_ordinal), "numeral")
        if self._locale.numbers == "it":
            draft.replace(_FIRST_OF_TWO, lambda match: self._numeral(match, True), "numeral")
        draft.replace(self._century, partial(forms.century, self._locale), 0)
        draft.replace(self._ruler, partial(forms.ruler, self._locale), "numeral")
        draft.replace(self._roman_ordinal, partial(forms.roman_ordinal, self._locale))

    def _fractions(self, draft: Draft) -> None:
        draft.replace(_FRACTION, partial(forms.fraction, self._locale))

    def _ranges(self, draft: Draft) -> None:
        draft.replace(_RANGE, partial(forms.number_range, self._locale))

    def _signs(self, draft: Draft) -> None:
        draft.replace(
            _POWER, lambda match: f" {self._locale.labels.square if match[0] == '²' else self._locale.labels.cube}"
        )
        draft.replace(_MINUS, lambda match: f"{self._locale.signs['−']} ")
        draft.replace(_SIGN, lambda match: f" {self._locale.signs[match['sign']]} ", "sign")
        draft.replace(_AND, lambda match: f" {self._locale.signs['&']} ")

    def _numbers(self, draft: Draft) -> None:
        draft.replace(_GROUPED, lambda match: spoken_number(self._locale, match["number"]))

    def _shortened(self, draft: Draft) -> None:
        draft.replace(self._abbreviations, partial(forms.abbreviation, self._locale))

    def _numeral(self, match: re.Match[str], ordinal: bool) -> str:
        number = roman_value(match["numeral"])
        return nth(self._locale, number, False) if ordinal else cardinal(number, self._locale.numbers)

    def _day_and_month(self, match: re.Match[str]) -> str | None:
        day, month = int(match["day"]), int(match["month"])
        if day == 0:
            return None
        said = self._locale.first_day if day == 1 else cardinal(day, self._locale.numbers)
        joint = " de " if self._locale.numbers in ("es", "pt_BR") else " "
        return f"{said}{joint}{self._locale.months[month - 1]}"

    def _digits(self, written: str) -> str:
        return " ".join(cardinal(int(digit), self._locale.numbers) for digit in written)

    def _thousands(self, match: re.Match[str]) -> str:
        euros = self._locale.currencies["€"][1]
        said = spoken_number(self._locale, match["number"])
        if match["scale"] == "k":
            joint = "" if self._locale.labels.thousand == "mila" else " "
            return f"{said}{joint}{self._locale.labels.thousand} {euros}"
        return f"{said} {self._locale.labels.million.format(euros)}"


def _alternatives(names: object) -> str:
    assert hasattr(names, "keys")
    return "|".join(re.escape(name) for name in sorted(names.keys(), key=len, reverse=True))


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """Rules for a language code's first part; none for other languages."""
    locale = locale_of(language)
    return Western(locale).rules() if locale else ()
