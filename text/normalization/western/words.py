"""Words and conventions of a language that is read by `text.normalization.western`, and its numbers in words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

import msgspec
from num2words import num2words

from text.locales.tables import WordLists, table, word_lists
from text.normalization.classes.numbers import Written, written
from text.normalization.classes.tokens import Tokens

Forms = tuple[str, str]
"""Singular and plural."""

_MENDED = tuple((re.compile(wrong), right) for wrong, right in table("all", "numbers")["mended"].items())
"""Mistakes of num2words, with the right words."""
_CUT = re.compile(r"(?<=...)[^\W\d_aeiouyàáâãèéêìíòóôõùúü](?=[^\W\d_])", re.IGNORECASE)
"""Consonant after which a word may be cut."""
_MILLIONS = re.compile("ill(?:ón|ones|ions?|iards?)$|ili(?:on[ei]|ard[oi])$|ilh(?:ão|ões)$")  # numbers that are nouns
_GENDERED = ("a", "as", "ión", "ção", "dad", "dade", "o", "os", "or")
_DIGITS_APART = 4
"""Decimals from which they are said one by one."""


@dataclass(frozen=True)
class Locale:
    numbers: str
    """Language name in num2words; "" if numbers stay digits, which espeak-ng reads."""
    point: str
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    date: str
    """Format with `{day}`, `{month}` and `{year}`."""
    day_and_month: str
    first_day: str
    clock: tuple[str, str]
    """Formats of a full hour and of a time with minutes: `{h}`, `{hour}`, `{m}`."""
    hour: Forms
    percent: str
    per: str
    to: str
    joint: str
    """Word between units of money and hundredths."""
    hundredths: Forms
    """Hundredths of the currencies that `hundredths_of` doesn't have by their first word."""
    over: str
    """Word for the slash of a mark or quota: 15/20."""
    by: Forms
    """Words for x between numbers: sides with a unit; a plain product or score."""
    times: Forms
    """Words for x after a number: 10x."""
    half: Forms
    """A half before a masculine and a feminine noun."""
    fractions: Mapping[str, Forms]
    nths: str
    """Ending of greater denominators."""
    of: str
    """Word between a magnitude and what it counts."""
    square: Forms
    cube: Forms
    signs: Mapping[str, str]
    currencies: Mapping[str, Forms]
    units: Mapping[str, Forms]
    abbreviations: Mapping[str, str]
    hundredths_of: Mapping[str, Forms] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    """Names of letters that are words by themselves."""
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Sections of `forms.toml`."""
    decimal: str = ","
    prefixes: Mapping[str, str] = field(default_factory=dict)
    bases: Mapping[str, Forms] = field(default_factory=dict)
    """Units that take the prefixes."""
    magnitudes: Mapping[str, Forms] = field(default_factory=dict)
    before_numbers: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations that are read before a number or a Roman numeral only."""
    before_names: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations that are read before a capital letter only."""
    between_names: Mapping[str, str] = field(default_factory=dict)
    after_numbers: Mapping[str, str] = field(default_factory=dict)
    before_women: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations that are read so before a woman's name."""
    shortened: str = ""
    """Words that are often cut to an abbreviation; the first of those that begin so is read."""
    whole: str = ""
    """Words that aren't others cut."""
    plurals: Mapping[str, str] = field(default_factory=dict)
    """Endings of nouns and those of their plurals, the first that fits."""
    short_months: Mapping[str, int] = field(default_factory=dict)
    short_days: Mapping[str, int] = field(default_factory=dict)
    ordinals: Mapping[str, str] = field(default_factory=dict)
    """Endings of ordinals, "m" or "f" for their gender, or the whole word after "=" for one number ("1er")."""
    irregular: Mapping[str, str] = field(default_factory=dict)
    """Ordinals with words of their own, as they are written; of rulers after #."""
    feminine_first: str = ""
    pers: Mapping[str, str] = field(default_factory=dict)
    """Words after a slash that don't take `per` as it is."""
    duration_units: Mapping[str, str] = field(default_factory=dict)
    """Hour, minute or second by what is written."""
    stages: Mapping[str, str] = field(default_factory=dict)
    """What stands before a release (rc1), by what is written."""
    quarters: Mapping[str, str] = field(default_factory=dict)
    """Formats of times whose hour has a name after it, by the minutes: `{h}`, `{next}`; words by hour and minutes."""
    parts_of_day: Mapping[str, str] = field(default_factory=dict)
    """Words for a.m. and p.m. by the hour from which they are said; empty if a.m. isn't written."""
    directions: Mapping[str, str] = field(default_factory=dict)
    years_by_hundreds: str = ""
    """Word for hundred in years before 2000."""
    cues: Mapping[str, str] = field(default_factory=dict)
    roman: Mapping[str, str | int | bool] = field(default_factory=dict)
    """Words next to Roman numerals, and which are ordinals: `ordinal_centuries`, `ordinal_parts`, `ordinal_up_to`."""
    gender: Mapping[str, str] = field(default_factory=dict)
    """Feminine and masculine nouns, endings of feminine ones, and words that are none, to which no number agrees."""

    @cached_property
    def month_numbers(self) -> dict[str, int]:
        full = {name.casefold(): number for number, name in enumerate(self.months, 1)}
        return full | dict(self.short_months)

    @cached_property
    def day_numbers(self) -> dict[str, int]:
        return {name.casefold(): number for number, name in enumerate(self.weekdays)} | dict(self.short_days)

    @cached_property
    def all_units(self) -> dict[str, Forms]:
        """Units by symbol, with prefixes and signs."""
        made = {
            prefix + base: (before + one, before + many)
            for prefix, before in self.prefixes.items()
            for base, (one, many) in self.bases.items()
            if (prefix + base).casefold() not in self.abbreviations  # hj is hoje
        }
        said = {name.removesuffix("."): words.split("|") for name, words in self.after_numbers.items() if "|" in words}
        short = {name: (one, many) for name, (one, many) in said.items() if len(name) > 2 and "/" not in name}
        found = short | made | dict(self.bases) | dict(self.units) | {"%": (self.percent, self.percent)}
        found["‰"] = (self.signs.get("‰", self.percent),) * 2
        for sign in "°º˚":
            found |= {sign: found["°"]} | {f"{sign}{c}": found.get(f"°{c}", found["°"]) for c in "CF"}
        found |= dict.fromkeys("'’′", found[self.cues.get("prime", "min")])
        return found | (dict.fromkeys('"″', found["inch"]) if "inch" in found else {})

    @cached_property
    def cue(self) -> WordLists:
        return word_lists(self.cues)

    @cached_property
    def cut(self) -> dict[str, str]:
        """Words by each of their beginnings before a vowel (prob, probab), with * if they aren't alike."""
        tables = (self.abbreviations, self.before_numbers, self.after_numbers)
        read = (words.partition("|")[0] for rows in tables for words in rows.values())
        found = defaultdict[str, list[str]](list)
        for word in (*self.shortened.split(), *(word for word in read if word.isalpha() and len(word) > 5)):
            for end in _CUT.finditer(word):
                found[word[: end.end()].casefold()].append(word)
        alike = {cut: all(each.startswith(words[0][:-2]) for each in words) for cut, words in found.items()}
        listed = {cut: words[0] if alike[cut] else "*" + "; *".join(words) for cut, words in found.items()}
        return {cut: words for cut, words in listed.items() if cut not in self.whole.split()}

    def several(self, noun: str) -> str:
        return next((noun.removesuffix(one) + many for one, many in self.plurals.items() if noun.endswith(one)), noun)

    def agreed(self, noun: str, determiner: str) -> str:
        """A noun in the number of the determiner before it; "" if it is of the other gender or a plural after one."""
        many, one = determiner in self.cue["determiners_many"], determiner in self.cue["determiners_one"]
        if not ((many or one) and noun.isalpha()):
            return noun
        known = noun.endswith(_GENDERED) or noun in self.nouns["feminine"] | self.nouns["masculine"]
        feminine = self.feminine(noun) if known and not noun.endswith(("ista", "istas")) else None
        others = self.cue["determiners_masculine" if feminine else "determiners_feminine"]
        if noun.endswith("mente") or (feminine is not None and determiner in others):
            return ""
        plural = len(noun) > 5 and noun.endswith(("os", "as", "es"))
        return noun * (not plural) if one else noun if plural else self.several(noun)

    @cached_property
    def numerals(self) -> WordLists:
        return word_lists(self.roman)

    @cached_property
    def nouns(self) -> WordLists:
        return word_lists(self.gender)

    def feminine(self, noun: str) -> bool | None:
        """True for a feminine noun, None for a word that is no noun."""
        nouns, fold = self.nouns, noun.casefold()
        if not fold.isalpha() or len(fold) < 2 or fold in nouns["uncounted"]:
            return None
        return fold in nouns["feminine"] or (fold not in nouns["masculine"] and fold.endswith(tuple(nouns["endings"])))

    def counted(self, said: str, noun: str) -> str:
        """Cardinal that agrees with a noun after it: veintiún años, doscientas mujeres, un'ora."""
        feminine = self.feminine(noun.split()[0]) if noun else None
        if feminine is None:
            return said
        if self.numbers == "it":
            return _italian_one(noun, feminine) if said == "uno" else said
        if self.numbers == "es":
            said = re.sub("uno$", "una", said) if feminine else re.sub(r"iuno$", "iún", re.sub(r"\buno$", "un", said))
        if feminine and self.numbers == "fr":
            said = re.sub(r"\bun$", "une", said)
        if feminine and self.numbers == "pt_BR":
            said = re.sub(r"\bdois$", "duas", re.sub(r"\bum$", "uma", said))
        if feminine and self.numbers in ("es", "pt_BR") and "ilh" not in said and "illon" not in said:
            said = re.sub(r"entos\b", "entas", said)
        return said

    def digits_at(self, line: Tokens, place: int) -> tuple[str, int]:
        """Digits of the unsigned number at a token, with a point before decimals, and the place after it; or none."""
        number = written(line, place, self.decimal) if line[place].kind == "d" else None
        if number is None or number.exponent:
            return "", place
        return number.whole + f".{number.fraction}" * bool(number.fraction), number.after

    def cardinal(self, number: int) -> str:
        return cardinal(number, self.numbers) if self.numbers else str(number)

    def joint_words(self, name: str) -> str:
        """Word between two numbers, by its name in the fields of a measure."""
        to, over = self.signs.get("range", self.to), self.signs.get("falling /", self.over)
        return {"to": to, "by": self.by[0], "over": over}.get(name, self.signs.get(name, ""))

    def digits(self, written: str) -> str:
        return " ".join(self.cardinal(int(digit)) for digit in written if digit.isdecimal())

    def number(self, whole: str, fraction: str = "", point: str = "") -> str:
        """Number in words; zeros at its beginning are said, and two or three decimals are a number of their own."""
        said = self.digits(whole) if len(whole) > 1 and whole[0] == "0" else self.cardinal(int(whole))
        if not fraction:
            return said
        zeros = len(fraction) - len(fraction.lstrip("0"))
        if not self.numbers or len(fraction) >= _DIGITS_APART or zeros == len(fraction):
            rest = self.digits(fraction)
        else:
            rest = " ".join([self.cardinal(0)] * zeros + [self.cardinal(int(fraction))])
        return f"{said} {point or self.point} {rest}"

    def spelled(self, text: str) -> str:
        parts = re.findall(r"\D|\d+", text)
        return " ".join(
            self.cardinal(int(part)) if part.isdecimal() else self.letters.get(part, part) for part in parts
        )

    def year(self, number: int) -> str:
        hundreds, rest = divmod(number, 100)
        if not self.years_by_hundreds or not 1100 <= number < 2000:
            return self.cardinal(number)
        return f"{hundreds} {self.years_by_hundreds}" + (f" {rest}" if rest else "")

    def ordinal(self, number: int, feminine: bool, short: bool = False) -> str:
        if not self.numbers:
            return self.irregular.get(f"#{number}", str(number))
        said = ordinal(number, self.numbers)
        if not feminine:
            return re.sub("(?<=primer|tercer)o$", "", said) if short and self.numbers == "es" else said
        if self.feminine_first:
            return self.feminine_first if number == 1 else said
        return " ".join(re.sub("o$", "a", word) for word in said.split())


def spoken(locale: Locale, number: Written, noun: str = "") -> str:
    """Number in words, which agree with the noun after it."""
    said = locale.number(number.whole, number.fraction, locale.signs["."] if number.point else "")
    if not (number.fraction or number.exponent):
        said = locale.counted(said, noun)
    if number.exponent:
        minus = f"{locale.signs['−']} " * (number.exponent[0] == "-")
        power = f"{locale.cardinal(10)} {locale.signs['^']} {minus}{locale.cardinal(int(number.exponent.strip('-')))}"
        said = f"{said} {locale.signs['×']} {power}"
    if not number.sign:
        return said
    sign = locale.signs["−"] if number.sign == "−" else locale.signs.get("plus", locale.signs["+"])
    return f"{sign} {said}"


def powered(locale: Locale, unit: str, power: str) -> Forms:
    forms = locale.all_units.get(unit) or (locale.cut.get(unit, unit).strip("*").partition(";")[0],) * 2
    if not power:
        return forms
    words = locale.square if power == "2" else locale.cube
    made = [f"{one} {two}" if locale.numbers else f"{two} {one}" for one, two in zip(forms, words, strict=True)]
    return made[0], made[1]


def per_words(locale: Locale, per: str, power: str, count: str) -> str:
    """Words for a slash and a unit or word after it, with a space before them; "" if there is none."""
    if count:
        number = locale.number(*count.split("."))
        each = locale.pers.get(f"#{per}") or locale.pers.get("#", locale.per)
        return f" {each} {number} {locale.all_units[per][1]}"
    raised = f" {locale.signs['²' if power == '2' else '³']}" if power else ""
    said = ""
    for unit in filter(None, per.split("/")):
        phrase = locale.pers.get(unit.casefold())
        said += f" {phrase}{raised}" if phrase else f" {locale.per} {powered(locale, unit, power)[0]}"
    return said


def of(locale: Locale, noun: str) -> str:
    return f"d'{noun}" if noun[0] in {"fr": "aeiouéh", "it": "aho"}.get(locale.numbers, "") else f"{locale.of} {noun}"


def joined(locale: Locale, said: str, noun: str) -> str:
    """A number and its noun: un'ora, un millón de euros."""
    noun = of(locale, noun) if locale.of and _MILLIONS.search(said) else noun
    return said + noun if said.endswith("'") else f"{said} {noun}"


def noun_after(line: Tokens, place: int) -> str:
    token = line[place]
    name = token.text[:1].isupper() and not line.shouted
    return token.text if token.kind == "w" and token.gap and not name else ""


def plural(locale: Locale, number: Written) -> bool:
    """True if the noun after a number is in the plural; 1,5 is singular in French and Portuguese."""
    if locale.numbers in ("fr", "pt_BR"):
        return number.whole not in ("0", "1") or bool(number.exponent)
    return not number.is_one


def _italian_one(noun: str, feminine: bool) -> str:
    fold = noun.casefold()
    if feminine:
        return "un'" if fold[0] in "aeiouàèéìòù" else "una"
    return "uno" if re.match("z|gn|ps|x|y|s[^aeiou]", fold) else "un"


@lru_cache(4096)
def cardinal(number: int, language: str) -> str:
    """Cardinal in words, without num2words' commas."""
    said = _mended(str(num2words(number, lang=language)))
    return re.sub(r"(?<=\w)tre$", "tré", said) if language == "it" else said


@lru_cache(4096)
def ordinal(number: int, language: str) -> str:
    return _mended(str(num2words(number, lang=language, to="ordinal")))


def _mended(said: str) -> str:
    said = said.replace(",", "")
    for wrong, right in _MENDED:
        said = wrong.sub(right, said)
    return said


@cache
def locale_of(language: str) -> Locale | None:
    """The locale of a language code's first part; None for other languages."""
    read = table(language, "locale")
    return msgspec.convert(read | {"forms": table(language, "forms")}, Locale) if read else None
