"""Normalisation rules for Spanish, French, Italian and Portuguese: one set of rules, parameterised by a `Locale`.

Plain numbers stay digits, which espeak-ng reads well. The rules rewrite text that it misreads: separators, signs,
dates, times, money, measures, ordinals, Roman numerals, abbreviations, addresses and telephone numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from num2words import num2words

from frontend.text.normalization.draft import Draft
from frontend.text.normalization.locales import LOCALES, Locale
from frontend.text.normalization.patterns import DASH, END, MASK, START
from frontend.text.normalization.roman import value

Rule = tuple[str, Callable[[Draft], None], re.Pattern[str]]

_NUMBER = r"(?:\d{1,3}(?:[.\u202f\u00a0 ]\d{3})+(?!\d)|\d{1,15})(?:,\d{1,9})?"
_ROMAN = r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_EDGE = rf"(?<![\w{MASK}.,/-])"
_MAGNITUDES = (
    r"(?: (?P<big>mil millones|mil|millones|millón|millions?|milliards?|mille|milioni|milione|miliardi|milhões"
    r"|milhão|bilhões))?"
)
_DE_BEFORE = frozenset(
    ("millones", "millón", "millions", "million", "milliards", "milliard", "milioni", "milione", "miliardi")
)
_MANY_DE = _DE_BEFORE | {"milhões", "milhão", "bilhões", "mil millones"}
_CLOCK = re.compile(
    rf"{_EDGE}(?P<hours>[01]?\d|2[0-4])(?:(?P<sign>:|\.(?=\d\d\b)| ?h ?)(?P<minutes>[0-5]\d)|(?P<alone> ?h))"
    rf"(?::(?P<seconds>[0-5]\d))?(?: ?h(?:rs?|s)?\.?)?{END}(?![.,:]\d)"
)
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
    rf"(?<![\w{MASK}.,/-])(?:\+\d{{1,3}}[ .-]?)?(?:\(0?\d{{1,3}}\) ?)?\d{{2,5}}(?:(?:[ .-]\d{{2,5}}){{2,5}}"
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


class Western:
    """The rules of one language."""

    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._units = _alternatives(locale.units)
        self._money = _alternatives(locale.currencies)
        self._abbreviations = re.compile(
            rf"{START}(?P<name>{_alternatives(locale.abbreviations)})(?!(?<=\w)\w)(?P<last>[\"”’)]*$)?"
        )
        sign = rf"(?P<sign>{self._money})"
        self._before = re.compile(rf"(?<![\w$€£]){sign} ?(?P<number>{_NUMBER}){_MAGNITUDES}{END}(?![.,]\d)")
        self._after = re.compile(rf"{_EDGE}(?P<number>{_NUMBER}){_MAGNITUDES} ?{sign}{END}")
        self._measure = re.compile(
            rf"{_EDGE}(?P<minus>[-−])?(?P<number>{_NUMBER})(?P<gap> ?)(?P<unit>{self._units})(?![\w{MASK}²³/])"
            rf"(?:\.(?= [a-z]))?"
        )
        self._percent = re.compile(rf"{_EDGE}(?P<number>{_NUMBER})[ \u202f]?%")
        self._ordinal = re.compile(rf"{_EDGE}(?P<number>\d{{1,4}}){locale.ordinals}(?!\w)(?! ?C\b)")
        self._roman_ordinal = re.compile(rf"{START}(?P<numeral>(?=[IVX]){_ROMAN})(?P<ending>{locale.ordinals})(?!\w)")
        self._century = re.compile(locale.century.replace("{numeral}", rf"\b(?P<numeral>{_ROMAN})", 1))
        self._ruler = re.compile(rf"{START}(?:{locale.rulers}) (?P<numeral>{_ROMAN}){END}")
        self._month = re.compile(
            rf"{_EDGE}(?P<day>1)(?:\.?º|er|°)?(?= (?:de )?(?:{'|'.join(locale.months)})\b)", re.IGNORECASE
        )
        if locale.century.count("{numeral}") > 1:
            before, _, after = locale.century.partition("|")
            second = after.replace("{numeral}", rf"(?P<other>{_ROMAN})")
            self._century = re.compile(before.replace("{numeral}", rf"\b(?P<numeral>{_ROMAN})") + "|" + second)

    def rules(self) -> tuple[Rule, ...]:
        """Rules with their setting (after `normalize_`), and a pattern that a sentence must contain for the rule."""
        digit = re.compile(r"\d")
        return (
            ("web_addresses", self._web, re.compile(r"@|\w\.\w")),
            ("phones", self._phones, digit),
            ("dates", self._dates, digit),
            ("money", self._amounts, digit),
            ("times", self._times, digit),
            ("units", self._measures, digit),
            ("ordinals", self._ordinals, re.compile(r"[\dIVXL]")),
            ("roman_numerals", self._romans, re.compile(r"[IVXL]")),
            ("fractions", self._fractions, re.compile(r"\d/\d")),
            ("ranges", self._ranges, digit),
            ("math", self._signs, re.compile(r"[+×÷=<>&−-]")),
            ("numbers", self._numbers, re.compile(r"\d[., \u202f]\d")),
            ("abbreviations", self._shortened, re.compile(r"\w[.°º]|\bM[mr]|[DP]r |nº|Mlle|Me ")),
        )

    def _said(self, written: str) -> str:
        """Number in words; the decimals are a number of their own, as all four languages read them."""
        written = re.sub(r"[.\u202f\u00a0 ]", "", written)
        whole, _, fraction = written.partition(",")
        said = cardinal(int(whole), self._locale.numbers)
        if not fraction:
            return said
        zeros = len(fraction) - len(fraction.lstrip("0"))
        rest = [cardinal(0, self._locale.numbers)] * zeros
        if fraction.strip("0"):
            rest.append(cardinal(int(fraction), self._locale.numbers))
        return f"{said} {self._locale.point} {' '.join(rest)}"

    def _counted(self, written: str, forms: tuple[str, str]) -> str:
        """Number in words with its unit: `un euro`, `veintiún kilómetros`, `une heure`."""
        said = self._said(written)
        whole = re.sub(r"[^\d,]", "", written)
        one = whole == "1" or (self._locale.numbers in ("fr", "pt_BR") and whole.partition(",")[0] in ("0", "1"))
        form = forms[0] if one else forms[1]
        if "," not in written:
            said = self._agreeing(said, form)
        return f"{said} {form}"

    def _agreeing(self, said: str, noun: str) -> str:
        feminine = noun.split()[0] in _FEMININE
        for ending, short in self._locale.one.items():
            if said.endswith(ending):
                return said.removesuffix(ending) + ("una" if ending == "uno" and feminine else short)
        if feminine and self._locale.numbers in ("fr", "pt_BR") and re.search(r"\bum?n?$", said):
            return re.sub(r"\b(un|um)$", lambda one: "une" if one[0] == "un" else "uma", said)
        return said

    def _web(self, draft: Draft) -> None:
        draft.replace(_MAIL, lambda match: self._address(match[0]))
        draft.replace(_WEB, lambda match: self._address(re.sub(r"^(?:https?://)?(?:www\.)?", "", match[0])))

    def _address(self, written: str) -> str:
        parts = re.findall(r"[^\W_]+|[^\w\s]|_", written.rstrip("/"))
        return " ".join(self._locale.signs.get(part, part if part.isalnum() else "") for part in parts)

    def _phones(self, draft: Draft) -> None:
        named = _PHONE_SIGNS.search(draft.sentence) is not None
        draft.replace(_PHONE, lambda match: self._phone(match[0], named))

    def _phone(self, written: str, named: bool) -> str | None:
        groups = re.findall(r"\d+", written)
        plain = not (named or written[0] == "+" or (written[0] == "0" and len(groups) >= 4))
        if plain or sum(map(len, groups)) < 7:
            return None
        said = [", ".join(filter(None, (self._group(group) for group in groups)))]
        return " ".join([self._locale.signs["+"], *said] if written[0] == "+" else said)

    def _group(self, digits: str) -> str:
        """Words for a group of digits: two digits as one number in languages that do so, others digit by digit."""
        if len(digits) == 2 and digits[0] != "0" and self._locale.numbers in ("fr", "es"):
            return cardinal(int(digits), self._locale.numbers)
        return " ".join(cardinal(int(digit), self._locale.numbers) for digit in digits)

    def _dates(self, draft: Draft) -> None:
        draft.replace(_ISO, lambda match: self._date(match["day"], match["month"], match["year"]))
        draft.replace(_DATE, lambda match: self._date(match["day"], match["month"], match["year"]))
        draft.replace(self._month, lambda match: self._locale.first_day)

    def _date(self, day: str, month: str, year: str) -> str | None:
        if not (1 <= int(day) <= 31 and 1 <= int(month) <= 12):
            return None
        full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 70 else 1900)
        said = self._locale.first_day if int(day) == 1 else cardinal(int(day), self._locale.numbers)
        return self._locale.date.format(
            day=said, month=self._locale.months[int(month) - 1], year=cardinal(full, self._locale.numbers)
        )

    def _times(self, draft: Draft) -> None:
        draft.replace(_CLOCK, self._time)

    def _time(self, match: re.Match[str]) -> str | None:
        hours, minutes = int(match["hours"]), match["minutes"]
        if match["sign"] == ".":
            return None
        named = self._locale.hours_first
        said = cardinal(hours, self._locale.numbers)
        said = self._agreeing(said, "hora") if self._locale.numbers != "it" else said
        if named:
            said = f"{'une' if hours == 1 and self._locale.numbers == 'fr' else said}"
            if self._locale.numbers == "pt_BR":
                said = {"um": "uma", "dois": "duas", "vinte e um": "vinte e uma", "vinte e dois": "vinte e duas"}.get(
                    said, said
                )
            said += f" {self._locale.hour[0 if hours <= 1 else 1]}"
        elif match["alone"]:
            said += f" {'hora' if hours == 1 else 'horas'}" if self._locale.numbers == "es" else ""
        if minutes and int(minutes):
            said = " ".join(filter(None, (said, self._locale.time_joint, cardinal(int(minutes), self._locale.numbers))))
        elif minutes and not named:
            said += " en punto" if self._locale.numbers == "es" else ""
        if match["seconds"]:
            said += f", {cardinal(int(match['seconds']), self._locale.numbers)}"
        return said

    def _amounts(self, draft: Draft) -> None:
        draft.replace(self._before, self._amount)
        draft.replace(self._after, self._amount)

    def _amount(self, match: re.Match[str]) -> str:
        forms, written, big = self._locale.currencies[match["sign"]], match["number"], match["big"]
        if big:
            de = ("d'" if forms[1][0] in "aeiou" else "de ") if self._locale.numbers == "fr" else "de "
            de = "di " if self._locale.numbers == "it" else de
            return f"{self._said(written)} {big} {de if big in _MANY_DE else ''}{forms[1]}"
        whole, _, fraction = written.partition(",")
        if len(fraction) != 2 or not int(fraction):
            return self._counted(whole if fraction and not int(fraction) else written, forms)
        if re.sub(r"\D", "", whole) == "0":
            return self._counted(fraction.lstrip("0"), self._locale.hundredths)
        cents = self._locale.hundredths
        return f"{self._counted(whole, forms)} {self._locale.joint} {self._counted(fraction.lstrip('0'), cents)}"

    def _measures(self, draft: Draft) -> None:
        draft.replace(self._percent, lambda match: f"{self._said(match['number'])} {self._locale.percent}")
        draft.replace(self._measure, self._unit)

    def _unit(self, match: re.Match[str]) -> str | None:
        if match["unit"] in ("s", "h", "g", "W", "V", "L", "l") and not match["gap"] and match["unit"] not in "gW":
            return None
        if match["unit"] == "°" and self._locale.numbers == "it":
            return None
        said = self._counted(match["number"], self._locale.units[match["unit"]])
        return f"{self._locale.signs['−']} {said}" if match["minus"] else said

    def _ordinals(self, draft: Draft) -> None:
        draft.replace(self._ordinal, lambda match: self._nth(int(match["number"]), match["feminine"] is not None))

    def _nth(self, number: int, feminine: bool) -> str:
        said = ordinal(number, self._locale.numbers)
        if not feminine:
            return said
        masculine, ending = self._locale.feminine
        if masculine == "o":
            return " ".join(re.sub("o$", ending, word) for word in said.split())
        return ending if said == masculine else said

    def _romans(self, draft: Draft) -> None:
        draft.replace(self._century, lambda match: self._century_said(match), 0)
        draft.replace(self._ruler, self._king, "numeral")
        draft.replace(self._roman_ordinal, self._roman_nth)

    def _roman_nth(self, match: re.Match[str]) -> str | None:
        """Ordinal for a Roman numeral with an ending. French I counts only as Ier and Ire, which count only for I:
        "Vers" is a word.
        """
        number = value(match["numeral"])
        if self._locale.numbers == "fr" and (number == 1) != match["ending"].startswith(("er", "re")):
            return None
        return self._nth(number, match["feminine"] is not None)

    def _century_said(self, match: re.Match[str]) -> str:
        numeral = match["numeral"] or match["other"]
        number = value(numeral)
        said = self._nth(number, False) if self._locale.century_ordinal else cardinal(number, self._locale.numbers)
        start = match.start("numeral") if match["numeral"] else match.start("other")
        before = match.string[match.start() : start]
        return f"{before}{said}"

    def _king(self, match: re.Match[str]) -> str:
        number = value(match["numeral"])
        if number == 1:
            return self._nth(1, False)
        if self._locale.rulers_ordinal and (number <= 10 or self._locale.numbers == "it"):
            return self._nth(number, False)
        return cardinal(number, self._locale.numbers)

    def _fractions(self, draft: Draft) -> None:
        draft.replace(_FRACTION, self._fraction)

    def _fraction(self, match: re.Match[str]) -> str | None:
        above, below = int(match["above"]), int(match["below"])
        names = _FRACTIONS[self._locale.numbers]
        if below not in names or not 0 < above < below:
            return None
        one, many = names[below]
        return (
            f"{_ONE[self._locale.numbers]} {one}" if above == 1 else f"{cardinal(above, self._locale.numbers)} {many}"
        )

    def _ranges(self, draft: Draft) -> None:
        draft.replace(_RANGE, self._range)

    def _range(self, match: re.Match[str]) -> str | None:
        if int(match["first"]) >= int(match["last"]):
            return None
        return f"{self._said(match['first'])} {self._locale.to} {self._said(match['last'])}"

    def _signs(self, draft: Draft) -> None:
        draft.replace(_MINUS, lambda match: f"{self._locale.signs['−']} ")
        draft.replace(_SIGN, lambda match: f" {self._locale.signs[match['sign']]} ", "sign")
        draft.replace(_AND, lambda match: f" {self._locale.signs['&']} ")

    def _numbers(self, draft: Draft) -> None:
        draft.replace(_GROUPED, lambda match: self._said(match["number"]))

    def _shortened(self, draft: Draft) -> None:
        draft.replace(self._abbreviations, self._full)

    def _full(self, match: re.Match[str]) -> str:
        said = self._locale.abbreviations[match["name"]]
        if match["last"] is not None and match["name"].endswith("."):
            return f"{said}.{match['last']}"
        return said


_FEMININE = frozenset(
    (
        "libra",
        "libras",
        "hora",
        "horas",
        "livre",
        "livres",
        "heure",
        "heures",
        "sterlina",
        "sterline",
        "tonelada",
        "hectárea",
        "hectáreas",
        "minute",
        "minutes",
        "seconde",
        "secondes",
    )
)
_ONE = {"es": "un", "fr": "un", "it": "un", "pt_BR": "um"}
_FRACTIONS = {
    "es": {2: ("medio", "medios"), 3: ("tercio", "tercios"), 4: ("cuarto", "cuartos"), 5: ("quinto", "quintos")},
    "fr": {2: ("demi", "demis"), 3: ("tiers", "tiers"), 4: ("quart", "quarts"), 5: ("cinquième", "cinquièmes")},
    "it": {2: ("mezzo", "mezzi"), 3: ("terzo", "terzi"), 4: ("quarto", "quarti"), 5: ("quinto", "quinti")},
    "pt_BR": {2: ("meio", "meios"), 3: ("terço", "terços"), 4: ("quarto", "quartos"), 5: ("quinto", "quintos")},
}


@lru_cache(4096)
def cardinal(number: int, language: str) -> str:
    """Cardinal in words, without num2words' commas."""
    return str(num2words(number, lang=language)).replace(",", "")


@lru_cache(4096)
def ordinal(number: int, language: str) -> str:
    """Ordinal in words, in the masculine singular."""
    return str(num2words(number, lang=language, to="ordinal")).replace(",", "")


def _alternatives(names: object) -> str:
    assert hasattr(names, "keys")
    return "|".join(re.escape(name) for name in sorted(names.keys(), key=len, reverse=True))


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """Rules for a language code's first part; none for other languages."""
    return Western(LOCALES[language]).rules() if language in LOCALES else ()
