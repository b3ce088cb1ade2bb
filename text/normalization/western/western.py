"""Spanish, French, Italian, Portuguese and Hindi: the same classes for all, found by tokens, with a table a language.

Plain numbers stay digits, which espeak-ng reads well, unless they agree with a noun.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from text.normalization.classes.codes import Versions
from text.normalization.classes.cover import Classed, Classes, InWords, Parser
from text.normalization.classes.dates import Dates
from text.normalization.classes.dimensions import Dimensions
from text.normalization.classes.forms import Forms
from text.normalization.classes.measures import Measures
from text.normalization.classes.numbers import SIGNS, written
from text.normalization.classes.roman import RomanNumerals
from text.normalization.classes.telephones import Identifier, Telephones
from text.normalization.classes.times import Durations, Times, Years
from text.normalization.classes.tokens import VULGAR, Tokens
from text.normalization.classes.weekdays import Calendar
from text.normalization.draft import MASK, Draft, Rule
from text.normalization.english.maths import CHEMISTRY, chemistry
from text.normalization.english.web import hashtags
from text.normalization.number_words import spoken_address
from text.normalization.western.figures import FigureParser, FractionParser
from text.normalization.western.money import MoneyParser
from text.normalization.western.saying import said
from text.normalization.western.words import Locale, locale_of, per_words

_SMALL = frozenset(["de", "da", "das", "do", "dos", "del", "della", "di", "du", "des", "la", "le"])
"""Words between a title or street and its name."""
_APART = frozenset("sSvVlLaAtTbBjJfFcCdDHK")
"""Units of one letter that are none if they are glued to a number: 5s, 3A."""
_TOGETHER = frozenset("ABCDEFadey")
"""Letters that are no units after a space."""
_UNSAYABLE = re.compile("(?=[AEIOU])[A-Z]{1,3}[B-DF-HJ-NP-TV-Z]{2}")  # initials taken for a word: IPC, ICMS
_TABLES = ["abbreviations", "before_numbers", "before_names", "between_names", "after_numbers", "before_women"]
_AGREEING = frozenset(("abbreviations", "before_names", "cut"))
_VOWELS = frozenset("aeiouyàéè")
_OPENING = frozenset(("", *'([¿¡«“"'))
_LETTERS = re.compile("[A-Z]{1,3}")
_CENTURY = re.compile("[IVX]+(?:e|er|ème)?")
_ROMAN = re.compile("[IVXLC]+|[ivxl]+|[A-Z]")


class _Row(NamedTuple):
    texts: tuple[str, ...]
    gaps: tuple[bool, ...]
    """True for a text after a space."""
    exact: bool
    said: str
    where: str
    lower: bool


class AbbreviationParser:
    def __init__(self, locale: Locale) -> None:
        self._and, self._cue, self._spelled = locale.signs["&"], locale.cue, locale.spelled
        self._rows: dict[str, list[_Row]] = {}
        for where in _TABLES:
            self._add(where, getattr(locale, where))
        for cut, words in locale.cut.items():
            self._rows.setdefault(cut, []).append(_Row((cut, "."), (True, False), False, words, "cut", True))
        for rows in self._rows.values():
            rows.sort(key=lambda row: (-len(row.texts), row.where == "abbreviations"))
        self._feminine, self._several, self._agreed = locale.feminine, locale.several, locale.agreed
        self._determiners = self._cue["determiners_one"] | self._cue["determiners_many"]
        seconds: dict[str, set[str]] = defaultdict(set)
        for row in (row for rows in self._rows.values() for row in rows):
            start = row.texts[0] if row.exact and not row.lower else row.texts[0].casefold()
            seconds[start].add(row.texts[1].casefold() if row.texts[1:] else "")
        self.parser = Parser.of(self.parse, seconds).also_bare()
        initials = Parser(self._cue["initials"], self.initials, numbers=False, also=_UNSAYABLE.fullmatch)
        self.initials_parser = initials.also_bare()

    def _add(self, where: str, table: Mapping[str, str]) -> None:
        for name, full in table.items():
            texts, gaps = zip(*((token.text, bool(token.gap)) for token in Tokens(name).tokens), strict=True)
            letters = "".join(filter(str.isalpha, texts))
            exact = len(letters) < 4 and set(name).isdisjoint("/º°" if len(letters) == 1 else "./º°")
            texts = texts if exact else tuple(map(str.casefold, texts))
            self._rows.setdefault(texts[0].casefold(), []).append(_Row(texts, gaps, exact, full, where, name.islower()))

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token, stop = line[place], line[place + 1]
        if stop.text == "." and line.has(place + 2, ".", glued=True) and token.fold not in ("etc", "ecc"):
            return  # an ellipsis
        for row in self._rows.get(token.fold, ()):
            length = len(row.texts)
            run = [line[place + step] for step in range(length)]
            begins = line[place - 1].text in _OPENING if len(token.text) < 3 else _VOWELS.isdisjoint(token.fold)
            begins &= len(token.text) > 1 or (stop.gap and stop.text.islower())  # N sei; no key Q
            begun = token.text.istitle() and begins
            folded = not row.exact or (row.lower and (begun or (row.where == "before_numbers" and line.shouted)))
            texts = tuple(token.fold if folded else token.text for token in run)
            shouted = len(row.texts[0]) < 4 and run[0].text.isupper() and len(run[0].text) > 1 and not line.shouted
            after = place + length
            apart = any(each.gap and not gap for each, gap in zip(run[1:], row.gaps[1:], strict=True))
            initial = len(token.text) == 1 and token.text.isupper() and row.lower and row.where == "abbreviations"
            apart |= initial and stop.text == "." and line[after].text[:1].isupper()  # H. L. Mencken
            if texts != row.texts or (shouted and not row.exact and row.lower) or apart:
                continue
            name = row.lower and token.text.istitle() and line[place - 1].text.istitle() and length == 2  # Hyde Park.
            if (name and token.gap and line.last(after - 1)) or not self._fits(line, place, after, row.where):
                continue
            if run[-1].text == "." and line.last(after - 1) and line[after].text not in (")", "!", "?"):
                after -= 1
            elif run[-1].kind == "w":
                per = line[place - 1].text == "/" and not run[0].gap  # €/km
                if per or not (line.ends(after) or line[after].text == "-"):
                    continue
                after += line.has(after, ".", glued=True) and line[after + 1].text.islower()  # Hrs. de visita
            one, _, many = row.said.partition("|")
            several = many and line[place - 1].kind == "d" and line[place - 1].text != "1"
            if not several and not (one := self._agreeing(one, line, place, row)):
                continue
            cost = 0.9 if row.where == "cut" else 0.5 - 0.01 * length - 0.1 * (row.where == "before_women")
            one = one.capitalize() if row.where == "cut" and token.text.istitle() else one
            yield Classed(place, after, InWords("Abbreviation", many if several else one), cost)

    def _agreeing(self, listed: str, line: Tokens, place: int, row: _Row) -> str:
        """The one of several words that may stand at a place, in its form there: zona máxima, los tribunales."""
        before, rows = line[place - 1].fold, self._rows.get(line[place - 2].fold)
        noun = rows[-1].said.partition(";")[0] if before == "." and rows else before  # inst. elec.
        counted = row.where == "cut" and before.isdecimal()
        determined, gender = before in self._determiners or counted, self._feminine(noun)
        beside = gender is not None and (before == "." or (line[place - 1].text.islower() and len(before) > 3))
        for each in sorted(listed.split("; "), key=lambda each: (each in self._cue["agree"]) != beside):
            if each in self._cue["agree"]:
                feminine = each.endswith("o") and (gender or before in self._cue["determiners_feminine"])
                one = f"{each[:-1]}a" if feminine else each
                return self._several(one) if before != "." and noun.endswith(("as", "es", "os", "ais", "eis")) else one
            one = each.removeprefix("*")
            shown = row.texts[-1] == "." and row.where in _AGREEING and one.isalpha()
            if (determined or one == each) and (not shown or (one := self._agreed(one, before))):
                return self._several(one) if counted and before != "1" else one
        return ""

    def initials(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """Initials that are said letter by letter, where a language has a list of them."""
        token, cue = line[place], self._cue
        hard = len(token.text) < 5 and _UNSAYABLE.fullmatch(token.text) and token.fold not in cue["words"]
        if token.text.isupper() and (token.fold in cue["initials"] or (hard and cue["initials"] and not line.shouted)):
            yield Classed(place, place + 1, InWords("Initials", self._spelled(token.text)), 0.6)

    def _fits(self, line: Tokens, place: int, after: int, where: str) -> bool:
        following = line[after]
        if where == "before_numbers":
            here = line[after + (following.text in ("º", "°", ":", "#"))]
            coded = here.text.isupper() and (line[after + 1].kind == "d" or line.has(after + 1, "-/"))
            return coded or here.kind in ("d", "m") or bool(_ROMAN.fullmatch(here.text))
        if where == "cut":
            return not line.last(after - 1) and not line[after - 1].gap and (following.gap or following.text in ",;:)")
        if where == "before_women":
            return following.text.istitle() and following.text.endswith("a") and following.gap
        if where in ("before_names", "between_names"):
            named = where == "before_names" or line[place - 1].text[:1].isupper()
            following = line[after + (following.fold in _SMALL or following.fold == self._and)]
            return named and following.text[:1].isupper() and following.gap
        if where == "after_numbers":
            before = line[place - 1]
            unit = before.kind == "w" and not before.gap and line[place - 2].kind == "d"
            counted = unit or before.kind in ("d", "m") or line.has(place - 1, "%°ºª½¼¾⅓⅔")
            return counted or bool(_CENTURY.fullmatch(before.text))
        return True


_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}", re.ASCII)
_WEB = re.compile(
    r"(?<![\w@.])(?:https?://|www\.)[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}(?:/[^\s<>\"]{0,200}(?<![.,;:!?)]))?"
    r"|(?<![\w@./])(?:[a-z0-9_-]{2,63}\.){1,3}"
    r"(?:com|org|net|es|fr|it|br|pt|eu|io|mx|ar|be|ch|ca|in|gov|edu|info|co|cl|pe|app|dev|tv|uk|ly|gg|ru|jp|nl|tech|shop|me)\b(?:/[\w./-]{0,100}\w)?",
    re.IGNORECASE | re.ASCII,
)
_EXPONENT = re.compile(r"(?<=[\w)])\^?(?P<power>(?<=\^)[-−]?\d{1,3}|⁻?[⁰¹²³⁴-⁹]{2,4}|[⁰¹⁴-⁹])(?![\w⁰¹²³⁴-⁹])")
_BOTH = re.compile(r"(?<![\w#])([a-zà-ÿ]{2,20})@(s?)(?!\w|\.\w|[\]}{\[])", re.IGNORECASE)  # tod@s
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_POWER = re.compile(r"(?<=[\w)])(?<![⁰¹²³⁴-⁹])[²³](?![\w²³])")
_MINUS = re.compile(rf"(?:(?<=^)|(?<=[\s(=<>≥≤×÷]))[-−](?=\d)|(?:(?<=[(=<>])|(?<=[=<>] ))[-−](?={MASK})")
_LESS = re.compile(
    rf"(?<=[\w{MASK})]) [-−–] (?=[\w{MASK}(]{{1,12}} ?(?:[=<>≤≥]|[-−+×*/] ?[\w{MASK}(]{{1,12}} ?=)"
    rf"|\w\b ?[=<>+×]|\d{{1,4}}[a-z]{{1,2}}\b)"
    rf"|(?:(?<=\d[a-z])|(?<=[a-z]{MASK})) [-−–] (?=\d)|(?<=\d)[-−](?=\d{{1,9}} ?=)"
)
_parts = re.compile(r"[^\W\d_]+|\d+").findall
_ALWAYS = "≥≤≠≈×÷±√∞∑∆→⇒≡∈∪∩≅∝↑↓"
_SIGN = re.compile(
    rf"(?<=[\w{MASK})²³%]) ?(?P<sign>[+=<>]|==) ?(?=[\w(√{MASK}])|(?P<always>[{_ALWAYS}])"
    rf"|(?<!\S)(?P<lone>[+=<>~]) ?(?=[\w{MASK}])"
)
_WORD_BEFORE = re.compile(r"[^\W\d_]{3,} ?$|^$|[:;(,] ?$")
_BIS = re.compile(r"(?<=\d)/(?=(?:bis|ter|[A-Z])\b)")
_PAUSE = re.compile(
    rf"(?:(?<=[a-zà-ÿ]{{2}})|(?<=[A-Z]{{2}})|(?<={MASK}))/(?=[A-Z]{{2,5}}\b)"
    rf"|(?<={MASK}) ?/ ?(?={MASK})|(?<=[ँ-ॣ){MASK}A-Za-z]) ?/ ?(?=[अ-ह])|(?<=[ँ-ॣ])/(?=[A-Z{MASK}])"
    r"|(?<=\w) / (?=[^\W\d_]{2})|(?<=[^\W\d_]{3}) > (?=[A-ZÀ-Ú][^\W\d_]{2})"
)
"""Slash between a town and its province (Santos/SP) or two items, and the sign between a menu's names."""
_PRODUCT = re.compile(rf"(?<={MASK})[·⋅]([A-Za-z]{{1,3}})(?![\w/])")
_TIMES = re.compile(
    rf"(?<=[\d{MASK}])(?: [xX] | ?\* ?)(?=[\d{MASK}]|[LlHhPpBØ] ?[\d{MASK}])|(?<=[a-zà-ÿ]{{3}}) x (?=[\d{MASK}])"
)
_AND = re.compile(r" ?& ?")


def _pause(match: re.Match[str]) -> str | None:
    return None if re.search("(?:^|[a-z.~])/", match.string[: match.start()].rpartition(" ")[2]) else ", "  # /usr/DOC


class Western:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        joints = frozenset(("or", "each")) & locale.signs.keys()
        sized = {"only_apart": _APART - locale.cue["glued_units"], "only_together": _TOGETHER, "joints": joints}
        cues, read = locale.cue | sized | {"of": frozenset((locale.of,))}, partial(written, decimal=locale.decimal)
        quantities = Measures(locale.all_units, locale.pers, cues, read, plain=True, noun=locale.feminine)
        figures, amounts = FigureParser(locale), MoneyParser(locale, quantities)
        names, hundreds = map(str.casefold, (*locale.months, *locale.weekdays)), bool(locale.years_by_hundreds)
        cues = locale.cue | {"between_days": locale.cue["between_days"] | {locale.to}}
        months, days = locale.month_numbers, locale.day_numbers
        calendar = Calendar(months, days, frozenset(names), cues, plain=True, hundreds=hundreds)
        number, digits = (lambda it, _: locale.number(*it.split("."))), locale.digits_at
        forms = Forms(locale.forms, number, None, digits, locale.counted, locale.agreed)
        short, numerals = AbbreviationParser(locale), RomanNumerals(locale.numerals, plain=True)
        self.classes = Classes(
            (
                ("phones", Telephones(locale.cue, locale.cues["phone_forms"]).parser),
                ("abbreviations", forms.parser),
                ("dates", Dates(calendar).parser),
                ("years", Years(calendar).parser),
                ("times", Times({}, locale.cue, halves=bool(locale.parts_of_day)).parser),
                ("durations", Durations(locale.duration_units, locale.cue).parser),
                ("money", Parser(amounts.starts | SIGNS, amounts.parse)),
                ("units", Dimensions(quantities, frozenset(locale.directions)).parser),
                ("units", quantities.parser),
                ("fractions", Parser(VULGAR, FractionParser(locale, quantities).parse)),
                ("ordinals", Parser(frozenset(), figures.ordinals)),
                ("versions", Versions(locale.signs.get("v", ""), locale.cue["versions"], locale.stages).parser),
                ("codes", Parser(figures.starts, figures.codes, mixed=True)),
                ("references", Parser(frozenset(), figures.labels, mixed=True, also=_LETTERS.fullmatch)),
                ("ranges", Parser(frozenset(), figures.ranges)),
                ("ranges", Parser(frozenset(), figures.ratios)),
                ("times", Parser(frozenset(), figures.minutes)),
                ("numbers", Parser(SIGNS, figures.counted)),
                ("roman_numerals", numerals.parser),
                ("initialisms", short.initials_parser),
                ("abbreviations", short.parser),
            ),
            lambda fields, british: said(locale, fields),
        )
        self._signs = locale.signs
        self._spelled = re.compile(locale.cues.get("spelled", "(?!)"))
        self._genders = re.compile(locale.cues.get("genders", "(?!)"))
        named = sorted((name for name in locale.pers if name[0].isalpha()), key=len, reverse=True)
        self._per = re.compile(
            rf"(?:(?<=[\w{MASK}]{{3}})|(?<={MASK})|(?<=[\w{MASK}][\w{MASK}]\.|[ (][A-Z]{{2}})|(?<=\d)(?=/[^\W\d]\S\S))/"
            rf"(?P<unit>{'|'.join(map(re.escape, named))}|kg|k?m|cm|ha|min)(?P<power>[²³]?)"
            r"(?:\.(?= ?[,;:)a-zà-ÿ])|(?![\w/]))"
        )

    def rules(self) -> tuple[Rule, ...]:
        say = self._locale
        return (
            Rule("web_addresses", self._web, re.compile(r"[@#]|\.(?<=[\w-]\.)[\w-]|://")),
            Rule("codes", self._codes, self._spelled),
            Rule("chemistry", lambda draft: chemistry(draft, say.cardinal, say.signs, say.spelled), CHEMISTRY),
            Rule("classes", self.classes.rewrite, re.compile("")),
            Rule("math", self._maths, re.compile(rf"[-–+=<>&^@*²³⁰¹⁴-⁹−~/xX(·{_ALWAYS}]")),
        )

    def _web(self, draft: Draft) -> None:
        for pattern in (_MAIL, _WEB):
            draft.replace(pattern, lambda match: spoken_address(match[0], self._signs, gap=" "))
        hashtags(draft)

    def _codes(self, draft: Draft) -> None:
        """A language's codes, by their shape."""
        draft.replace(self._spelled, lambda m: said(self._locale, Identifier("", (*_parts(m[0].replace(".", "")),))))

    def _maths(self, draft: Draft) -> None:
        draft.replace(self._per, lambda m: per_words(self._locale, m["unit"], m["power"].translate(_RAISED), ""), "/")
        draft.replace(_PRODUCT, lambda match: f" {self._locale.all_units.get(match[1], (match[1],))[0]}", "·⋅")
        draft.replace(_BIS, lambda match: " ", "/")
        draft.replace(self._genders, lambda m: m.expand(rf"\g<one>\g<s> {self._signs['or']} \g<stem>\g<f>\g<s>"), "/(·")
        draft.replace(_PAUSE, _pause, "/>")
        draft.replace(_BOTH, lambda match: f"{match[1]}o{match[2]}", "@")
        draft.replace(_TIMES, lambda match: f" {self._signs['×']} ", "xX*")
        draft.replace(_POWER, lambda match: f" {self._signs.get(match[0], '')}", "²³")
        draft.replace(_EXPONENT, self._exponent, "^⁻⁰¹⁴⁵⁶⁷⁸⁹²³")
        draft.replace(_LESS, lambda match: f" {self._signs['−']} ", "-−–")
        draft.replace(_MINUS, lambda match: f"{self._signs['−']} ", "-−")
        draft.replace(_SIGN, self._sign, f"+=<>~{_ALWAYS}")
        draft.replace(_AND, lambda match: f" {self._signs['&']} ", "&")

    def _exponent(self, match: re.Match[str]) -> str | None:
        name, power = self._signs.get("^"), match["power"].translate(_RAISED)
        minus = f"{self._signs['−']} " if power[0] in "-−" else ""
        return f" {name} {minus}{power.lstrip('-−')}" if name else None

    def _sign(self, match: re.Match[str]) -> str | None:
        sign = match["sign"] or match["always"] or match["lone"]
        name = self._signs.get(sign[:1])
        masked = match.string[match.end() : match.end() + 1] == MASK
        lone = match["lone"] or (match[0][0] == " " != match[0][-1])  # de >100
        if sign in "<>" and (lone or (masked and _WORD_BEFORE.search(match.string[: match.start()][-24:]))):
            name = self._signs.get(f"lone {sign}", name)
        return f" {name} " if name else None


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """Rules for a language code's first part; none for other languages."""
    locale = locale_of(language)
    return Western(locale).rules() if locale else ()
