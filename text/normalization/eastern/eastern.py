"""Normalisation rules for Japanese and Mandarin: numbers become ideographs, which the languages' own readers read
correctly.

Examples: 4月8日7時 becomes 四月八日七時; $5 becomes 五ドル or 五美元; 2:30 becomes 二時三十分 or 两点三十分;
50% becomes 五十パーセント or 百分之五十.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import msgspec

from text.locales.tables import table
from text.normalization.draft import MASK, Draft, Rule
from text.normalization.number_words import ADDRESS, spoken_address

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,16})(?:\.\d{1,9})?"
_EDGE = rf"(?<![\d.,:/A-Za-z{MASK}-])"
_AFTER = r"(?![\d:/]|[.,]\d)"
_DATE = re.compile(rf"{_EDGE}(?P<year>[12]\d{{3}})[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>[0-2]?\d|3[01]){_AFTER}")
_DAY = re.compile(
    rf"{_EDGE}(?P<month>0?[1-9]|1[0-2])/(?P<day>[0-2]?\d|3[01])(?=(?:[\(（][月火水木金土日]|に|まで|から|は|頃|以降))"
)
"""A Japanese date without a year, which only the particle after it tells from a fraction."""

_YEARS = re.compile(r"(?<!\d)(?P<first>[12]\d{3})[-–—~〜～至](?=[12]\d{3}年)")
_YEAR = re.compile(r"(?<!\d)(?P<year>[12]\d{3})(?=年)")
_CLOCK = re.compile(
    rf"{_EDGE}(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?(?![:：]?\d)"
)
_PHONE = re.compile(
    rf"{_EDGE}(?:\+\d{{1,3}}[- ]?)?(?:0\d{{1,4}}[- ]\d{{1,4}}[- ]\d{{3,4}}|1[3-9]\d{{9}}"
    rf"|1[3-9]\d[- ]\d{{4}}[- ]\d{{4}}|\d{{3,4}}-\d{{7,8}}|400-\d{{3,4}}-\d{{3,4}})(?!\d)"
)
_CODES = {
    "ja": re.compile(r"〒 ?(?P<code>\d{3}-?\d{4})(?!\d)"),
    "cmn": re.compile(
        r"(?:(?:邮编|邮政编码|验证码|密码|编号|房间|拨打|致电|拨)[:： ]?|(?<=[0-9]或))"
        r"(?P<code>\d{3,8})(?![\d.,年月日元人个])"
        r"|(?<![A-Za-z])[GDCZTKSX](?P<train>\d{1,4})(?=次|列车|号|高速|国道)"
    ),
}
"""Numbers that are read digit by digit: postcodes, emergency numbers, trains."""

_JAPANESE_NUMBER = re.compile(r"(?<![A-Za-z])No\. ?(?=\d)")
_MINUS_BETWEEN = re.compile(r"(?<=\d) ?[-−] ?(?=\d{1,9} ?=)")
_PAIR = re.compile(
    r"(?<![\d.,第零〇一二三四五六七八九十百])2(?=个|本|人|位|只|条|张|次|天|年(?!级|代)|周|岁|家|件|名|块|元|米|公里|公斤|小时|分钟|点|杯|瓶|种|座|辆|匹|层|倍)"
)
"""The number two before a measure word, which Mandarin reads as 两."""
_PERCENT = re.compile(rf"{_EDGE}(?P<minus>[-−])?(?P<number>{_NUMBER}) ?[%％]")
_FRACTION = re.compile(rf"{_EDGE}(?P<above>\d{{1,3}})/(?P<below>\d{{1,3}}){_AFTER}")
_RANGE = re.compile(rf"{_EDGE}(?P<first>{_NUMBER})(?:[~〜～–—](?=\d)|-(?=\d{{1,4}}[\u4e00-\u9fff]))")
_UPTO = re.compile(rf"(?<=[{MASK}分時时点日月年人円元度个個岁歳])[~〜～](?=[\d{MASK}])")
"""Sign between a range's ends, where the first number has a unit."""
_MINUS = re.compile(r"(?:(?<=^)|(?<=[\s(（は]))[-−](?=\d)")
_PLAIN = re.compile(rf"(?<![\d.,/A-Za-z])(?P<number>{_NUMBER})(?![\d/]|[.,]\d)")
_LONG = re.compile(r"\d{17,}")
_SIGN = re.compile(rf"(?<=[\d{MASK}]) ?(?P<sign>[+=×÷]) ?(?=[\d{MASK}])")


class Eastern:
    def __init__(self, words: EasternWords) -> None:
        self._words = words
        self._numerals = Numerals(words)
        self._number = self._numerals.number
        money = "|".join(map(re.escape, words.currencies))
        units = "|".join(re.escape(unit) for unit in sorted(words.units, key=len, reverse=True))
        self._money = re.compile(rf"(?P<sign>{money}) ?(?P<number>{_NUMBER})(?P<large>[万億亿兆千百])?")
        self._measure = re.compile(rf"{_EDGE}(?P<minus>[-−])?(?P<number>{_NUMBER}) ?(?P<unit>{units})(?![A-Za-z²³/])")

    def rules(self) -> tuple[Rule, ...]:
        digit = re.compile(r"\d")
        return (
            Rule("web_addresses", self._addresses, re.compile(r"@|://|www\.")),
            Rule("codes", self._codes, digit),
            Rule("phones", lambda draft: draft.replace(_PHONE, lambda match: self._numerals.groups(match[0])), digit),
            Rule("dates", self._dates, digit),
            Rule("times", lambda draft: draft.replace(_CLOCK, self._time), digit),
            Rule("money", lambda draft: draft.replace(self._money, self._amount), digit),
            Rule("units", self._measures, digit),
            Rule("fractions", lambda draft: draft.replace(_FRACTION, self._fraction), digit),
            Rule("ranges", self._ranges, re.compile(r"[~〜～–—-]")),
            Rule("math", self._signs, digit),
            Rule("numbers", self._numbers, digit),
        )

    def _dates(self, draft: Draft) -> None:
        draft.replace(
            _DATE,
            lambda match: self._words.date.format(
                year=self._numerals.year(match["year"]),
                month=self._number(match["month"]),
                day=self._number(match["day"]),
            ),
        )
        if self._words.japanese:
            draft.replace(_DAY, lambda match: f"{self._number(match['month'])}月{self._number(match['day'])}日")
        draft.replace(_YEARS, lambda match: f"{self._numerals.year(match['first'])}{self._words.to}")
        draft.replace(_YEAR, lambda match: self._numerals.year(match["year"]))

    def _time(self, match: re.Match[str]) -> str:
        hour = self._number(match["hour"])
        hour = "两" if hour == "二" and not self._words.japanese else hour
        minute = self._numerals.two_digits(match["minute"])
        pattern = self._words.clock if int(match["minute"]) or match["second"] else self._words.half_past
        said = pattern.format(hour=hour, minute=minute)
        return f"{said}{self._numerals.two_digits(match['second'])}秒" if match["second"] else said

    def _amount(self, match: re.Match[str]) -> str:
        return f"{self._number(match['number'])}{match['large'] or ''}{self._words.currencies[match['sign']]}"

    def _measures(self, draft: Draft) -> None:
        draft.replace(
            _PERCENT,
            lambda match: _signed(self._words, match, self._words.percent.format(self._number(match["number"]))),
        )
        draft.replace(
            self._measure,
            lambda match: _signed(self._words, match, self._number(match["number"]) + self._words.units[match["unit"]]),
        )

    def _fraction(self, match: re.Match[str]) -> str | None:
        if int(match["below"]) < 2:
            return None
        return self._words.fraction.format(above=self._number(match["above"]), below=self._number(match["below"]))

    def _ranges(self, draft: Draft) -> None:
        draft.replace(_RANGE, self._range)
        draft.replace(_UPTO, lambda match: self._words.to)

    def _codes(self, draft: Draft) -> None:
        draft.replace(_CODES["ja" if self._words.japanese else "cmn"], self._code)

    def _code(self, match: re.Match[str]) -> str:
        group = "code" if match["code"] else "train"
        said = self._numerals.groups(match[group])
        if self._words.japanese:
            return f"郵便番号{said.replace('、', 'の')}"
        return match.string[match.start() : match.start(group)] + said

    def _range(self, match: re.Match[str]) -> str:
        return f"{self._number(match['first'])}{self._words.to}"

    def _signs(self, draft: Draft) -> None:
        draft.replace(_MINUS, lambda match: self._words.minus)
        draft.replace(_MINUS_BETWEEN, lambda match: self._words.less)
        draft.replace(_SIGN, lambda match: self._words.signs[match["sign"]])

    def _numbers(self, draft: Draft) -> None:
        if self._words.japanese:
            draft.replace(_JAPANESE_NUMBER, lambda match: "ナンバー")
        else:
            draft.replace(_PAIR, lambda match: "两")
        draft.replace(_LONG, lambda match: self._numerals.digits(match[0]))
        draft.replace(_PLAIN, lambda match: self._number(match["number"]))

    def _addresses(self, draft: Draft) -> None:
        draft.replace(ADDRESS, lambda match: spoken_address(match[0], self._words.signs, gap=""))


def _signed(words: EasternWords, match: re.Match[str], said: str) -> str:
    return f"{words.minus}{said}" if match["minus"] else said


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    return Eastern(eastern_words(language)).rules()


_DIGITS = "〇一二三四五六七八九"
_SMALL = ("", "十", "百", "千")


@dataclass(frozen=True, slots=True)
class EasternWords:
    """Words and formats of one of the two languages."""

    japanese: bool
    """True for Japanese, False for Mandarin, where their grammar differs."""
    zero: str
    point: str
    minus: str
    large: tuple[str, ...]
    """Names of the powers of 10,000."""
    percent: str
    """Format of a percentage, with `{}` for the number."""
    currencies: Mapping[str, str]
    units: Mapping[str, str]
    date: str
    clock: str
    half_past: str
    to: str
    fraction: str
    signs: Mapping[str, str]
    less: str
    """Spoken minus sign between two numbers."""
    phone_one: str
    """Spoken digit 1 in telephone numbers."""


@cache
def eastern_words(language: str) -> EasternWords:
    """Words of ja or cmn."""
    return msgspec.convert(table(language, "eastern"), EasternWords)


class Numerals:
    """Numbers of one language. Digits are given in ASCII."""

    def __init__(self, words: EasternWords) -> None:
        self._words = words

    def number(self, written: str) -> str:
        """Number in ideographs: 千二百五十 in Japanese, 一千二百五十 in Mandarin."""
        whole, _, fraction = written.replace(",", "").partition(".")
        said = self._ideographs(int(whole))
        return f"{said}{self._words.point}{self.digits(fraction)}" if fraction else said

    def digits(self, written: str) -> str:
        return "".join(self._words.zero if digit == "0" else _DIGITS[int(digit)] for digit in written)

    def groups(self, written: str) -> str:
        """Groups of digits, such as those of a telephone number, digit by digit with a pause after each group."""
        groups = re.findall(r"\d+", written)
        return "、".join(self.digits(group).replace("一", self._words.phone_one) for group in groups)

    def year(self, written: str) -> str:
        """Year, which Japanese reads as a number and Mandarin digit by digit."""
        return self.number(written) if self._words.japanese else self.digits(written)

    def two_digits(self, written: str) -> str:
        """Minutes or seconds; Mandarin says the zero of 8:05."""
        said = self.number(written)
        zero = not self._words.japanese and written[0] == "0" and int(written)
        return self._words.zero + said if zero else said

    def _ideographs(self, number: int) -> str:
        """Number up to 10^16 in ideographs. Japanese drops 一 before 十, 百 and 千; Mandarin says 零 for gaps, and 两
        for two thousand and two ten thousands.
        """
        japanese, zero = self._words.japanese, self._words.zero
        if number == 0:
            return zero
        groups: list[int] = []
        while number:
            number, group = divmod(number, 10_000)
            groups.append(group)
        said = ""
        for place in range(len(groups) - 1, -1, -1):
            group = groups[place]
            if not group:
                continue
            if said and not japanese and group < 1000:
                said += zero
            paired = group == 2 and place and not japanese
            said += ("两" if paired else self._below_ten_thousand(group)) + self._words.large[place]
        return said[1:] if not japanese and said.startswith("一十") else said

    def _below_ten_thousand(self, number: int) -> str:
        japanese = self._words.japanese
        said, gap = "", False
        for place in range(3, -1, -1):
            digit = number // 10**place % 10
            if not digit:
                gap = bool(said)
                continue
            if gap and not japanese:
                said += self._words.zero
            gap = False
            paired = digit == 2 and place == 3 and not japanese
            name = "两" if paired else "" if digit == 1 and place and japanese else _DIGITS[digit]
            said += name + _SMALL[place]
        return said
