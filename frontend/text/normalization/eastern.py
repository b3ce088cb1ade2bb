"""Normalisation rules for Japanese and Mandarin: numbers become ideographs, which the languages' own readers read
correctly.

Examples: 4月8日7時 becomes 四月八日七時; $5 becomes 五ドル or 五美元; 2:30 becomes 二時三十分 or 两点三十分;
50% becomes 五十パーセント or 百分之五十.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from frontend.text.normalization.draft import Draft
from frontend.text.normalization.patterns import MASK
from frontend.text.normalization.western import Rule

_DIGITS = "〇一二三四五六七八九"
_SMALL = ("", "十", "百", "千")
_LARGE = ("", "万", "億", "兆")


@dataclass(frozen=True, slots=True)
class _Words:
    """Words and formats of one of the two languages."""

    zero: str
    point: str
    minus: str
    large: tuple[str, ...]
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
    phone_one: str
    """Spoken digit 1 in telephone numbers."""


_JAPANESE = _Words(
    zero="零",
    point="点",
    minus="マイナス",
    large=_LARGE,
    percent="{}パーセント",
    currencies={"$": "ドル", "€": "ユーロ", "£": "ポンド", "¥": "円", "￥": "円"},
    units={
        "km/h": "キロメートル毎時",
        "km": "キロメートル",
        "cm": "センチメートル",
        "mm": "ミリメートル",
        "m": "メートル",
    }
    | {
        "kg": "キログラム",
        "mg": "ミリグラム",
        "g": "グラム",
        "ml": "ミリリットル",
        "L": "リットル",
        "°C": "度",
        "℃": "度",
    }
    | {"㎡": "平方メートル", "m²": "平方メートル", "GB": "ギガバイト", "MB": "メガバイト", "kW": "キロワット"},
    date="{year}年{month}月{day}日",
    clock="{hour}時{minute}分",
    half_past="{hour}時",
    to="から",
    fraction="{below}分の{above}",
    signs={
        "+": "たす",
        "=": "は",
        "×": "かける",
        "÷": "わる",
        "@": "アットマーク",
        ".": "ドット",
        "/": "スラッシュ",
        "-": "ハイフン",
    },
    phone_one="一",
)
_MANDARIN = _Words(
    zero="零",
    point="点",
    minus="负",
    large=("", "万", "亿", "兆"),
    percent="百分之{}",
    currencies={"$": "美元", "€": "欧元", "£": "英镑", "¥": "元", "￥": "元"},
    units={
        "km/h": "公里每小时",
        "km": "公里",
        "cm": "厘米",
        "mm": "毫米",
        "m": "米",
        "kg": "公斤",
        "mg": "毫克",
        "g": "克",
    }
    | {"ml": "毫升", "L": "升", "°C": "摄氏度", "℃": "摄氏度", "㎡": "平方米", "m²": "平方米", "kW": "千瓦"},
    date="{year}年{month}月{day}日",
    clock="{hour}点{minute}分",
    half_past="{hour}点",
    to="到",
    fraction="{below}分之{above}",
    signs={"+": "加", "=": "等于", "×": "乘以", "÷": "除以", "@": "艾特", ".": "点", "/": "斜杠", "-": "杠"},
    phone_one="幺",
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,16})(?:\.\d{1,9})?"
_EDGE = rf"(?<![\d.,:/A-Za-z{MASK}-])"
_AFTER = r"(?![\d:/]|[.,]\d)"
_DATE = re.compile(rf"{_EDGE}(?P<year>[12]\d{{3}})[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>[0-2]?\d|3[01]){_AFTER}")
_YEAR = re.compile(r"(?<!\d)(?P<year>[12]\d{3})(?=年)")
_CLOCK = re.compile(rf"{_EDGE}(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?![:：]?\d)")
_PHONE = re.compile(
    rf"{_EDGE}(?:\+\d{{1,3}}[- ]?)?(?:0\d{{1,4}}[- ]\d{{1,4}}[- ]\d{{3,4}}|1[3-9]\d{{9}}"
    rf"|1[3-9]\d[- ]\d{{4}}[- ]\d{{4}}|\d{{3,4}}-\d{{7,8}})(?!\d)"
)
_PERCENT = re.compile(rf"{_EDGE}(?P<minus>[-−])?(?P<number>{_NUMBER}) ?[%％]")
_FRACTION = re.compile(rf"{_EDGE}(?P<above>\d{{1,3}})/(?P<below>\d{{1,3}}){_AFTER}")
_RANGE = re.compile(rf"{_EDGE}(?P<first>{_NUMBER})[~〜～–—](?=\d)")
_MINUS = re.compile(r"(?:(?<=^)|(?<=[\s(（は]))[-−](?=\d)")
_PLAIN = re.compile(rf"(?<![\d.,/A-Za-z])(?P<number>{_NUMBER})(?![\d/]|[.,]\d)")
_LONG = re.compile(r"\d{17,}")
_SIGN = re.compile(rf"(?<=[\d{MASK}]) ?(?P<sign>[+=×÷]) ?(?=[\d{MASK}])")
_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|(?:https?://|www\.)[\w./-]{3,200}(?<![.,/])", re.ASCII
)


class Eastern:
    """Rules of one language."""

    def __init__(self, words: _Words, japanese: bool) -> None:
        self._words = words
        self._japanese = japanese
        money = "|".join(map(re.escape, words.currencies))
        units = "|".join(re.escape(unit) for unit in sorted(words.units, key=len, reverse=True))
        self._money = re.compile(rf"(?P<sign>{money}) ?(?P<number>{_NUMBER})(?P<large>[万億亿兆千百])?")
        self._measure = re.compile(rf"{_EDGE}(?P<minus>[-−])?(?P<number>{_NUMBER}) ?(?P<unit>{units})(?![A-Za-z²³/])")

    def rules(self) -> tuple[Rule, ...]:
        """Rules with their setting (after `normalize_`), and a pattern that a sentence must contain for the rule."""
        digit = re.compile(r"\d")
        return (
            ("web_addresses", self._addresses, re.compile(r"@|://|www\.")),
            ("phones", lambda draft: draft.replace(_PHONE, lambda match: self._one_by_one(match[0])), digit),
            ("dates", self._dates, digit),
            ("times", lambda draft: draft.replace(_CLOCK, self._time), digit),
            ("money", lambda draft: draft.replace(self._money, self._amount), digit),
            ("units", self._measures, digit),
            ("fractions", lambda draft: draft.replace(_FRACTION, self._fraction), digit),
            ("ranges", lambda draft: draft.replace(_RANGE, self._range), digit),
            ("math", self._signs, digit),
            ("numbers", self._numbers, digit),
        )

    def number(self, written: str) -> str:
        """Number in ideographs: 千二百五十 in Japanese, 一千二百五十 in Mandarin."""
        whole, _, fraction = written.replace(",", "").partition(".")
        said = ideographs(int(whole), self._words.zero, self._words.large, self._japanese)
        return f"{said}{self._words.point}{_digits(self._words, fraction)}" if fraction else said

    def _one_by_one(self, written: str) -> str:
        groups = re.findall(r"\d+", written)
        return "、".join(_digits(self._words, group).replace("一", self._words.phone_one) for group in groups)

    def _dates(self, draft: Draft) -> None:
        draft.replace(
            _DATE,
            lambda match: self._words.date.format(
                year=self._year(match["year"]), month=self.number(match["month"]), day=self.number(match["day"])
            ),
        )
        draft.replace(_YEAR, lambda match: self._year(match["year"]))

    def _year(self, written: str) -> str:
        return self.number(written) if self._japanese else _digits(self._words, written)

    def _time(self, match: re.Match[str]) -> str:
        hour = self.number(match["hour"])
        hour = "两" if hour == "二" and not self._japanese else hour
        pattern = self._words.clock if int(match["minute"]) else self._words.half_past
        return pattern.format(hour=hour, minute=self.number(match["minute"]))

    def _amount(self, match: re.Match[str]) -> str:
        return f"{self.number(match['number'])}{match['large'] or ''}{self._words.currencies[match['sign']]}"

    def _measures(self, draft: Draft) -> None:
        draft.replace(
            _PERCENT,
            lambda match: _signed(self._words, match, self._words.percent.format(self.number(match["number"]))),
        )
        draft.replace(
            self._measure,
            lambda match: _signed(self._words, match, self.number(match["number"]) + self._words.units[match["unit"]]),
        )

    def _fraction(self, match: re.Match[str]) -> str | None:
        if int(match["below"]) < 2:
            return None
        return self._words.fraction.format(above=self.number(match["above"]), below=self.number(match["below"]))

    def _range(self, match: re.Match[str]) -> str:
        return f"{self.number(match['first'])}{self._words.to}"

    def _signs(self, draft: Draft) -> None:
        draft.replace(_MINUS, lambda match: self._words.minus)
        draft.replace(_SIGN, lambda match: self._words.signs[match["sign"]])

    def _numbers(self, draft: Draft) -> None:
        draft.replace(_LONG, lambda match: _digits(self._words, match[0]))
        draft.replace(_PLAIN, lambda match: self.number(match["number"]))

    def _addresses(self, draft: Draft) -> None:
        draft.replace(_ADDRESS, lambda match: _address(self._words, re.sub(r"^(?:https?://)?(?:www\.)?", "", match[0])))


def _digits(words: _Words, digits: str) -> str:
    """Digits one by one, in ideographs."""
    return "".join(words.zero if digit == "0" else _DIGITS[int(digit)] for digit in digits)


def _signed(words: _Words, match: re.Match[str], said: str) -> str:
    return f"{words.minus}{said}" if match["minus"] else said


def _address(words: _Words, written: str) -> str:
    return "".join(words.signs.get(part, part) for part in re.findall(r"[^\W_]+|[^\w\s]|_", written))


def ideographs(number: int, zero: str, large: tuple[str, ...], japanese: bool) -> str:
    """Number up to 10^16 in ideographs. Japanese drops 一 before 十, 百 and 千; Mandarin says 零 for gaps."""
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
        said += _below_ten_thousand(group, zero, japanese) + large[place]
    return said[1:] if not japanese and said.startswith("一十") else said


def _below_ten_thousand(number: int, zero: str, japanese: bool) -> str:
    said, gap = "", False
    for place in range(3, -1, -1):
        digit = number // 10**place % 10
        if not digit:
            gap = bool(said)
            continue
        if gap and not japanese:
            said += zero
        gap = False
        said += ("" if digit == 1 and place and japanese else _DIGITS[digit]) + _SMALL[place]
    return said


_MAKERS: Mapping[str, Callable[[], Eastern]] = {
    "ja": lambda: Eastern(_JAPANESE, japanese=True),
    "cmn": lambda: Eastern(_MANDARIN, japanese=False),
}


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """Rules for ja or cmn."""
    return _MAKERS[language]().rules()
