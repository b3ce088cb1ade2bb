"""Normalisation rules for Japanese and Mandarin: numbers become ideographs, which the languages' own readers read
correctly.

Examples: 4月8日7時 becomes 四月八日七時; $5 becomes 五ドル or 五美元; 2:30 becomes 二時三十分 or 两点三十分;
50% becomes 五十パーセント or 百分之五十.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from text.normalization.draft import MASK, Draft, Rule
from text.normalization.eastern.numerals import MEASURE_WORDS, EasternWords, Numerals, eastern_words
from text.normalization.number_words import ADDRESS, spoken_address

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,16})(?:\.\d{1,9})?"
_LISTED = r"(?:(?<!\d,)|(?=(?!\d{3}(?!\d))\d{1,9}[\u3040-\u9fff]))"
"""Not after a comma between digits, unless it ends an item: 邮编100020,2号楼."""
_EDGE = rf"(?<![\d.:/A-Za-z{MASK}-]){_LISTED}"
_AFTER = r"(?![\d:/]|\.\d|,\d{3}(?!\d)|,\d{1,9}(?![\d\u3040-\u9fff]))"
_TIMES_TEN = r"(?: ?[×x·] ?10(?P<power>⁻?[⁰¹²³⁴-⁹]{1,3}))"
_TENS = re.compile(rf"(?<![\d.,:/A-Za-z{MASK}])(?P<number>{_NUMBER}){_TIMES_TEN}")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_DATE = re.compile(
    rf"{_EDGE}(?P<year>[12]\d{{3}}|[0-4]\d(?=/))"
    rf"[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>[0-2]?\d|3[01]){_AFTER}"
)
_DAY = re.compile(
    rf"{_EDGE}(?P<month>0?[1-9]|1[0-2])/(?:(?P<late>1[3-9]|2\d|3[01])(?![\d/.]|の量)|(?P<day>[0-2]?\d|3[01])"
    r"(?=[\(（][月火水木金土日周]|に|まで|から|頃|以降|[〜~～]|日|締|の[朝昼夜午]))"
)
"""A Japanese date without a year, which only the particle after it tells from a fraction."""

_YEARS = re.compile(
    r"(?<!\d)(?P<first>[12]\d{3})[-–—~〜～至](?:(?=[12]\d{3}(?:年|学年|赛季|级))"
    r"|(?<=[(（]\d{4}[-–—~〜～])(?P<last>[12]\d{3})(?=[)）]))"
)
"""Years of a span, the last one with a word after it or in brackets: (1990-2005)."""
_YEAR = re.compile(
    r"(?<=[(（〔])(?P<alone>(?:19|20)\d\d)(?=[)）〕][\u4e00-\u9fff])|(?<!\d)(?P<year>[12]\d{3})(?=年|学年|赛季|级|款)|(?<!\d)(?P<short>[5-9]\d)(?=年(?:出生|生人|毕业|入学))"
)
_CLOCK = re.compile(
    r"(?<![\d.:A-Za-z])(?<!(?<!:\d\d)/)(?<!\d,)(?<!(?<!\d)[-−])(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?"
    r"(?![:：]?\d|[.,]\d|[-–~〜～]\d{1,2}(?!\d|[:：]))(?P<upto> ?[-–—~〜～] ?(?=\d{1,2}[:：]\d\d))?"
)
_RATIO = re.compile(
    rf"{_EDGE}(?P<first>{_NUMBER}) ?[:：] ?(?P<last>{_NUMBER})(?![\d:：/]|[.,]\d)(?P<more>(?:[:：]\d+)*)"
)
_SCORE = re.compile(rf"{_EDGE}(?P<first>\d{{1,3}}) ?[-–—−:：] ?(?P<last>\d{{1,3}})(?![\d/:：%％℃°-]|[.,]\d)")
_VERSUS = re.compile(
    r"(?<=[\u3040-\u30ff\u4e00-\u9fff])(?P<first>\d{1,2})[-–](?P<last>\d{1,2})(?=[\u30a0-\u30ff\u4e00-\u9fff])"
)
_CHAIN = re.compile(rf"(?<![\d.,:/{MASK}-])(?P<numbers>\d{{1,4}}(?:[-‐−ー–]\d{{1,4}}){{1,4}})(?![\d/]|[.,]\d)")
_LONG_CHAIN = re.compile(rf"(?<![\d.,:/{MASK}-])(?P<numbers>\d{{1,4}}(?:[-‐−ー–]\d{{1,4}}){{2,4}})(?![\d/]|[.,]\d)")
_PLACE = re.compile(r"[\u4e00-\u9fffァ-ヶ]")
_VERSION = re.compile(rf"(?<![\d,/{MASK}-])(?<![\d\s]\.)\d{{1,4}}(?:\.\d{{1,4}}){{2,4}}(?![\d/]|\.\d)")
_PAGE = re.compile(
    r"(?<![A-Za-z\d])[PpＰｐ]{1,2}\.? ?(?P<number>\d{1,4})(?:[-–~〜～](?P<last>\d{1,4}))?(?![\d.,A-Za-z])"
)
_WEEKDAY = re.compile(rf"(?<=[日\d{MASK}])[(（](?P<day>[月火水木金土日])(?:[・･]祝)?[)）]")
_SLASH = re.compile(rf"(?<={MASK})/(?={MASK})")
_PER_UNIT = (
    r"(?:[a-zA-Z]{1,3}[²³]?|[ァ-ヶー]{2,8}"
    r"|[月年日天周週人个個件位次回晚夜泊時时秒分平米坪斤桶吨股张枚台本名份座头㎡㎥])"
)
_PER = re.compile(rf"(?<=[{MASK}元円圓人回次件個枚本点万億ル])/(?P<units>{_PER_UNIT}(?:/{_PER_UNIT})?)(?![A-Za-z])")
_BETWEEN = re.compile(
    rf"(?<=[{MASK}円日時分])[~〜～](?=$|[。、)）])"
    r"|(?<=[\u4e00-\u9fff\u30a0-\u30ff)）])[~〜～](?=[\u4e00-\u9fff\u30a0-\u30ff\d])|(?<=[\u4e00-\u9fff])[-–](?=[\u4e00-\u9fff])"
)
_ALWAYS_SIGN = re.compile(r" ?(?P<sign>[≥≤≠≈±√∞≧≦→×÷]) ?")
_OPERATION = re.compile(
    rf"(?<=[A-Za-z\d{MASK})²³\u3040-\u30ff\u4e00-\u9fff]) ?(?P<sign>[=<>＝＜＞+]) ?(?=[A-Za-z\d{MASK}(√−?？-])"
)
_HEIGHT = re.compile(r"(?<![\d.A-Za-z])(?P<meters>\d)(?:m|米)(?P<rest>\d\d)(?P<cm>cm)?(?![\d.A-Za-z米厘公])")
_COORDINATE = re.compile(
    r"(?<![\d.])(?P<degrees>\d{1,3}(?:\.\d+)?)°(?:(?P<minutes>\d{1,2})[′'’])?"
    r"(?:(?P<seconds>\d{1,2}(?:\.\d+)?)[″\"”])?"
    r"(?: ?(?P<way>[NSEW])(?![A-Za-z])|(?<=[′'’″\"”]))"
)
_PLUS = re.compile(rf"(?<![A-Za-z\d{MASK}])\+(?=\d)")
_POWER = re.compile(rf"(?<=[A-Za-z\d{MASK})])[²³]")
_AGES = re.compile(r"(?<!\d)(?P<digits>[0-9]0)(?=[后後])")
_DISCOUNT = re.compile(r"(?<![\d.])(?P<first>\d)\.(?P<last>\d)(?=折)")
_ROOM = re.compile(rf"{_EDGE}(?P<code>\d{{3,4}})(?=室|房(?![间价屋]))")
_PHONE = re.compile(
    rf"(?<![\d.,/A-Za-z{MASK}-])(?<!\d:)(?:\+\d{{1,3}}[- ]?)?(?:0\d{{1,4}}[- ]\d{{1,4}}[- ]\d{{3,4}}"
    rf"|[(（]0\d{{1,3}}[)）] ?\d{{3,4}}[- ]?\d{{4}}|0\d{{1,4}}[(（]\d{{1,4}}[)）] ?\d{{3,4}}"
    rf"|1[3-9]\d{{9}}"
    rf"|1[3-9]\d[- ]\d{{4}}[- ]\d{{4}}|\d{{3,4}}-\d{{7,8}}|400-\d{{3,4}}-\d{{3,4}})(?!\d)"
)
_NUMERO = re.compile(r"(?:(?<![A-Za-z])No\.|№) ?(?=\d)")
_MINUS_BETWEEN = re.compile(r"(?<=\d) ?[-−] ?(?=\d{1,9} ?=)")
_COUNTED = re.compile(MEASURE_WORDS)
_PAIR = re.compile(rf"(?<![A-Za-z\d.,第零〇一二三四五六七八九十百{MASK}/:：-])2(?={MEASURE_WORDS})")
_FIRST = rf"(?:(?P<first>[-−]?{_NUMBER})[-~〜～–])?"
_RATE = re.compile(
    r"(?<![\d.])(?P<number>\d{1,3})(?P<unit>[次回粒片錠杯个個篇枚件包袋本])/(?P<per>[日天周週月年人晚分時时])(?![a-zA-Z])"
)
_LABEL = re.compile(
    r"(?<![A-Za-z\d.])(?P<letters>[A-Z]{1,4})(?P<dash>-?)(?P<number>\d{1,4})(?P<span>[-–~～〜](?=(?P=letters)\d))?"
    r"(?=[\u3040-\u30ff\u4e00-\u9fff，。、；：（）！？,;()]|$|(?<=[-–~～〜])[A-Z])(?!\.\d)"
)
"""Letters and a number, as of a flight, gate, terminal or road; K12-K16 is a span of them."""
_NUMBERED = re.compile("[便号番席線系階室棟口型判組列系]")
"""Signs after the number of a Japanese label, which is no English one as in MP3."""
_DISPLAY = re.compile(
    r"(?<![\d.])(?P<number>[248])K(?=/\d|超?高清|电视|屏|分辨率|画质|视频|显示|蓝光|テレビ|映像|放送|動画|画質|モニター|対応|解像度|カメラ)"
)
_TEN_MINUTES = re.compile(r"(?<![\d.,:/年月日時])10分(?!の[\d一-九])")
"""Ten minutes, which in ideographs are also the word for enough."""
_SIZE = re.compile(r"(?<![\d.])(?P<number>\d{2,3})V(?=型)")
_FLOOR = re.compile(r"(?<![A-Za-z\d.车車排])(?P<number>\d{1,2})F(?![A-Za-z\d.])")
_ROOMS = re.compile(r"(?<![\d.])(?P<number>[1-4])(?=S?LDK|DK(?![A-Za-z])|[KR]・)")
_ENGLISH_ROOMS = ("ワン", "ツー", "スリー", "フォー")
_PERCENT = re.compile(rf"{_EDGE}{_FIRST}(?P<minus>[-−+])?(?P<number>{_NUMBER}) ?[%％]")
_FRACTION = re.compile(
    rf"{_EDGE}(?P<above>\d{{1,3}}(?:\.\d{{1,3}})?)/(?P<below>\d{{1,4}})(?P<unit>mmHg|議席|席|票|页|頁|集|[层層階分点题題問问])?{_AFTER}"
)
_RANGE = re.compile(
    rf"(?P<minus>(?<![\d\w])[-−])?(?<![\d.:/A-Za-z{MASK}]){_LISTED}(?P<first>{_NUMBER})"
    r"(?:(?:[~〜～]|[–—](?!\d{4}-)) ?(?=[-−]?\d)"
    r"|-(?=\d{1,9}(?:\.\d+)?[ ]?(?:[\u4e00-\u9fff%％℃°]|[kcm]?[mgLl](?![A-Za-z]))))"
)
_UPTO = re.compile(
    rf"(?<=[{MASK}分時时点日月年人円元度个個岁歳)）%％号万億亿])[~〜～](?=[-−\d{MASK}])"
    r"|(?<=[日月年号时周期])[-–](?=\d)"
)
_MINUS = re.compile(rf"(?<![\d.A-Za-z{MASK})）])[-−](?=\d)")
_PLAIN = re.compile(rf"(?<![\d.A-Za-z])(?<![\dA-Za-z{MASK}]/){_LISTED}(?P<number>{_NUMBER}){_AFTER}")
_CODE_LIKE = re.compile(
    r"(?<=[A-Za-z])\d{5,16}(?!\d)|(?<![\d.,A-Za-z])(?:0\d{1,15}|\d{9,16})(?![\d.,]|[万億亿兆年円元人])"
)
_LAST = re.compile(r"(?P<number>\d{1,9})(?=[号室栋])")
_AFTER_PAIR = re.compile(rf"\d(?:{MEASURE_WORDS})")
_LARGE = re.compile(rf"(?<![\d.,/A-Za-z])(?P<number>{_NUMBER})(?P<large>[kKM])(?![A-Za-z\d])")
_LONGEST = 17  # digits
_LONG = re.compile(r"\d{17,}")
_SIGN = re.compile(rf"(?<=[\d{MASK}]) ?(?P<sign>[+=×÷]) ?(?=[\d{MASK}])")


class Eastern:
    def __init__(self, words: EasternWords) -> None:
        self._words = words
        self._numerals = Numerals(words)
        self._number = self._numerals.number
        money = "|".join(map(re.escape, sorted(words.currencies, key=len, reverse=True)))
        units = "|".join(re.escape(unit) for unit in sorted(words.units, key=len, reverse=True))
        large = "(?P<large>[万億亿兆千百]+|(?:[kKMB]|bn)(?![A-Za-z]))?"
        minus = "(?P<minus>(?<![A-Za-z\\d])[-−+])?"
        self._money = re.compile(
            rf"{minus}(?P<sign>{money}) ?(?P<inner>[-−])?(?P<first>(?!))?(?P<number>{_NUMBER}) ?{large}(?!\d)"
        )
        self._money_after = re.compile(
            rf"(?<![\d.,A-Za-z{MASK}]){minus}(?:(?P<first>{_NUMBER})[-~〜～–])?"
            rf"(?P<inner>(?!))?(?P<number>{_NUMBER}) ?{large} ?(?P<sign>{money})(?![A-Za-z\d])"
        )
        named = "|".join(words.code_words.split())
        self._coded = re.compile(
            rf"〒 ?(?P<code>\d{{3}}-?\d{{4}})(?!\d)"
            rf"|(?:{named})[:：は ]{{0,2}}(?P<train>\d{{3,16}}(?:-\d{{1,6}}){{0,4}})(?!\d)"
            if words.japanese
            else rf"(?:(?:{named})[:：是为 ]?|(?<=[0-9]或))(?P<code>\d{{3,18}})(?!,\d{{3}}(?!\d)|[\d.年月日元人个]|-\d)"
            r"|(?<![A-Za-z])[GDCZTKSX](?P<train>\d{1,4})(?=次|列车|号|高速|国道)"
        )
        self._score_cue = re.compile("|".join(words.score_cues.split()))
        self._measure = re.compile(
            rf"(?<![\d.:{MASK}-])(?:(?<![A-Za-z])|(?<=\dh)(?=\d{{1,2}}min))(?<!\d,)"
            rf"(?<![\dA-Z]/(?!\d{{1,4}} ?[MGT]B))(?<![a-z]/){_FIRST}(?P<minus>[-−+])?"
            rf"(?P<number>{_NUMBER}){_TIMES_TEN}?(?P<large>[万億亿千百])?"
            rf" ?(?P<unit>{units})(?![A-Za-z²³])(?!/(?!(?:{units})(?![A-Za-z]))[A-Za-z])"
        )

    def rules(self) -> tuple[Rule, ...]:
        digit = re.compile(r"\d")
        return (
            Rule("web_addresses", self._addresses, re.compile(r"@|://|www\.")),
            Rule("codes", lambda draft: draft.replace(self._coded, self._code), digit),
            Rule("phones", lambda draft: draft.replace(_PHONE, lambda match: self._numerals.groups(match[0])), digit),
            Rule("versions", lambda draft: draft.replace(_VERSION, self._version), digit),
            Rule("dates", self._dates, re.compile(r"\d|日[(（]")),
            Rule("times", lambda draft: draft.replace(_CLOCK, self._time), digit),
            Rule("references", self._references, digit),
            Rule("money", self._amounts, digit),
            Rule("units", self._measures, re.compile(r"\d|/")),
            Rule("fractions", lambda draft: draft.replace(_FRACTION, self._fraction), digit),
            Rule("ranges", self._ranges, re.compile(r"[~〜～–—:：−‐ー-]")),
            Rule("math", self._signs, re.compile(r"[-−+=<>＝＜＞²³≥≤≠≈±√∞≧≦→×÷\d]")),
            Rule("numbers", self._numbers, digit),
        )

    def _version(self, match: re.Match[str]) -> str | None:
        if _DATE.fullmatch(match[0]):
            return None
        return self._joined(self._words.point, match[0].split("."))

    def _joined(self, joint: str, numbers: Iterable[str | None]) -> str:
        return joint.join(map(self._number, filter(None, numbers)))

    def _references(self, draft: Draft) -> None:
        """Pages, rooms and scores."""
        draft.replace(
            _PAGE, lambda match: self._words.page.format(self._joined(self._words.to, match.group("number", "last")))
        )
        draft.replace(_RATE, self._rate)
        draft.replace(_DISPLAY, lambda match: f"{self._number(match['number'])}K")
        if self._words.japanese:
            draft.replace(_TEN_MINUTES, lambda match: "じゅっぷん")
            draft.replace(_SIZE, lambda match: f"{self._number(match['number'])}ブイ")
            draft.replace(_ROOMS, lambda match: _ENGLISH_ROOMS[int(match["number"]) - 1])
        draft.replace(_FLOOR, lambda match: f"{self._number(match['number'])}{self._words.floor}")
        draft.replace(_LABEL, self._label)
        if not self._words.japanese:
            draft.replace(_ROOM, lambda match: self._numerals.groups(match["code"]))
            draft.replace(_AGES, lambda match: self._numerals.digits(match["digits"]))
            draft.replace(_DISCOUNT, lambda match: self._numerals.digits(match["first"] + match["last"]))
        draft.replace(_VERSUS, self._score)
        if self._score_cue.search(draft.sentence):
            draft.replace(_SCORE, self._score)

    def _rate(self, match: re.Match[str]) -> str:
        rate = self._words.rates.get(match["per"], self._words.rate.format(match["per"]))
        return f"{rate}{self._counted(match['number'])}{match['unit']}"

    def _counted(self, written: str) -> str:
        """Number before what it counts: 两 in place of 二 in Mandarin."""
        number = self._number(written)
        return "两" if number == "二" and not self._words.japanese else number

    def _label(self, match: re.Match[str]) -> str | None:
        """Letters, and their number in words; digit by digit in Mandarin from three digits on."""
        if self._words.japanese and not _NUMBERED.match(match.string, match.end()):
            return None
        long = len(match["number"]) > 2 and not self._words.japanese
        said = self._numerals.groups(match["number"]) if long else self._number(match["number"])
        return f"{match['letters']}{said}{self._words.to if match['span'] else ''}"

    def _score(self, match: re.Match[str]) -> str | None:
        before, after = _beside(match)
        if after in self._words.counters or _COUNTED.match(after) or before in self._words.numbered:
            return None
        return self._joined(self._words.versus, match.group("first", "last"))

    def _dates(self, draft: Draft) -> None:
        draft.replace(_DATE, self._date)
        if self._words.japanese:
            draft.replace(_DAY, lambda match: self._joined("月", match.group("month", "day", "late")) + "日")
            draft.replace(_WEEKDAY, lambda match: f"{match['day']}曜日")
        draft.replace(_YEARS, self._years)
        draft.replace(_YEAR, self._year)

    def _date(self, match: re.Match[str]) -> str:
        month, day = self._number(match["month"]), self._number(match["day"])
        return self._words.date.format(year=self._numerals.year(match["year"]), month=month, day=day)

    def _years(self, match: re.Match[str]) -> str:
        last = self._numerals.year(match["last"]) if match["last"] else ""
        return f"{self._numerals.year(match['first'])}{self._words.to}{last}"

    def _year(self, match: re.Match[str]) -> str:
        year = match["year"] or match["alone"]
        return self._numerals.year(year) if year else self._numerals.digits(match["short"])

    def _time(self, match: re.Match[str]) -> str:
        hour, minute = self._counted(match["hour"]), self._numerals.two_digits(match["minute"])
        pattern = self._words.clock if int(match["minute"]) or match["second"] else self._words.half_past
        said = pattern.format(hour=hour, minute=minute)
        said = f"{said}{self._numerals.two_digits(match['second'])}秒" if match["second"] else said
        return said + (self._words.to if match["upto"] else "")

    def _amounts(self, draft: Draft) -> None:
        draft.replace(self._money, self._amount)
        draft.replace(self._money_after, self._amount)

    def _amount(self, match: re.Match[str]) -> str:
        minus, plus = self._words.minus, self._words.plus if self._words.japanese else self._words.signs["+"]
        sign = minus if match["inner"] or match["minus"] in ("-", "−") else plus * bool(match["minus"])
        said = f"{sign}{self._upto(match)}{self._scaled(match['number'], match['large'] or '')}"
        return said + self._words.currencies[match["sign"]]

    def _scaled(self, number: str, large: str) -> str:
        """Number with an ideograph or a letter (1.5M) for its magnitude."""
        power = self._words.magnitudes.get(large)
        if power is None:
            return self._number(number) + large
        value = f"{Decimal(number.replace(',', '')) * power:.9f}".rstrip("0").rstrip(".")
        return self._number(value) if len(value) < _LONGEST else self._number(number) + large

    def _measures(self, draft: Draft) -> None:
        draft.replace(_COORDINATE, self._coordinate)
        draft.replace(_HEIGHT, self._height)
        draft.replace(
            _PERCENT, lambda match: self._signed(match, self._words.percent.format(self._number(match["number"])))
        )
        draft.replace(self._measure, self._quantity)
        draft.replace(_PER, self._per)
        draft.replace(_SLASH, lambda match: "、")

    def _height(self, match: re.Match[str]) -> str:
        meters, rest = self._words.units["m"], match["rest"]
        said = self._number(rest) if self._words.japanese else self._numerals.digits(rest)
        return f"{self._number(match['meters'])}{meters}{said}" + self._words.units["cm"] * bool(match["cm"])

    def _coordinate(self, match: re.Match[str]) -> str:
        minutes = f"{self._number(match['minutes'])}分" if match["minutes"] else ""
        seconds = f"{self._number(match['seconds'])}秒" if match["seconds"] else ""
        return f"{self._words.directions.get(match['way'], '')}{self._number(match['degrees'])}度{minutes}{seconds}"

    def _quantity(self, match: re.Match[str]) -> str:
        unit = self._words.units[match["unit"]]
        counts = not match["large"] and "度" not in unit
        number = self._tens(match) if match["power"] else (self._counted if counts else self._number)(match["number"])
        number += match["large"] or ""
        said = unit.format(number) if "{}" in unit else number + unit
        return self._signed(match, said)

    def _signed(self, match: re.Match[str], said: str) -> str:
        """Measure with its sign, unless a word before it is one, and with the range's first number."""
        sign = "" if not match["minus"] or _beside(match)[0] in "涨升增跌降" else self._words.minus
        return self._upto(match) + (self._words.plus if sign and match["minus"] == "+" else sign) + said

    def _upto(self, match: re.Match[str]) -> str:
        """Words for a range's first number and the word after it; empty if there is no range."""
        first = match["first"]
        if not first:
            return ""
        minus = self._words.minus if first[0] in "-−" else ""
        return f"{minus}{self._number(first.lstrip('-−'))}{self._words.to}"

    def _per(self, match: re.Match[str]) -> str:
        japanese, names = self._words.japanese, self._words.units
        units = (names.get(unit, "か月" if unit == "月" and japanese else unit) for unit in match["units"].split("/"))
        return "".join(map(self._words.per.format, units))

    def _fraction(self, match: re.Match[str]) -> str | None:
        above, below = float(match["above"]), int(match["below"])
        if below < 2 or above == 0:
            return None
        one, two = self._number(match["above"]), self._number(match["below"])
        if match["unit"] and match["unit"] != "mmHg":
            return self._words.of_whole.format(part=one, whole=two, unit=match["unit"])
        if above > below:
            return f"{one}、{two}{self._words.units.get(match['unit'] or '', '')}"
        return self._words.fraction.format(above=one, below=two)

    def _ranges(self, draft: Draft) -> None:
        draft.replace(_RATIO, self._ratio)
        draft.replace(_LONG_CHAIN, self._chain)
        draft.replace(_RANGE, self._range)
        draft.replace(_UPTO, lambda match: self._words.to)
        draft.replace(_BETWEEN, lambda match: self._words.to)
        draft.replace(_CHAIN, self._chain)

    def _ratio(self, match: re.Match[str]) -> str:
        return self._joined(self._words.versus, (*match.group("first", "last"), *re.findall(r"\d+", match["more"])))

    def _chain(self, match: re.Match[str]) -> str | None:
        numbers = re.findall(r"\d+", match["numbers"])
        before, after = _beside(match)
        house = after in "号室栋"
        falls = len(numbers) == 2 and int(numbers[0]) > int(numbers[1])
        if "=" in match.string or (falls and len(numbers[0]) > 2 and not house):
            return None
        place = _PLACE.match(before) if self._words.japanese else before in self._words.numbered
        if len(numbers) > 2 or place or (house and falls):
            joint = self._words.chain
        else:
            joint = self._words.versus if int(numbers[0]) >= int(numbers[1]) else self._words.to
        return self._joined(joint, numbers)

    def _code(self, match: re.Match[str]) -> str:
        group = "code" if match["code"] else "train"
        said = self._numerals.groups(match[group])
        if self._words.japanese and match["code"]:
            return f"郵便番号{said.replace('、', 'の')}"
        return match.string[match.start() : match.start(group)] + said

    def _range(self, match: re.Match[str]) -> str | None:
        last = _LAST.match(match.string, match.end())
        if last and float(match["first"].replace(",", "")) > float(last["number"]):
            return None
        pair = _AFTER_PAIR.match(match.string, match.end())
        first = (self._counted if pair else self._number)(match["first"])
        return f"{self._words.minus if match['minus'] else ''}{first}{self._words.to}"

    def _tens(self, match: re.Match[str]) -> str:
        power = match["power"].translate(_LOWERED)
        minus = self._words.minus * (power[0] == "-")
        return self._words.tens.format(self._number(match["number"]), minus + self._number(power.strip("-")))

    def _signs(self, draft: Draft) -> None:
        draft.replace(_TENS, self._tens)
        draft.replace(_MINUS, lambda match: self._words.minus)
        draft.replace(_MINUS_BETWEEN, lambda match: self._words.less)
        draft.replace(_PLUS, lambda match: self._words.plus)
        draft.replace(_SIGN, lambda match: self._words.signs[match["sign"]])
        draft.replace(_POWER, lambda match: self._words.powers[match[0] == "³"])
        draft.replace(_ALWAYS_SIGN, lambda match: self._words.signs.get(match["sign"]))
        draft.replace(_OPERATION, self._operation)

    def _operation(self, match: re.Match[str]) -> str | None:
        sign = {"＝": "=", "＜": "<", "＞": ">"}.get(match["sign"], match["sign"])
        before = _beside(match)[0]
        of_letters = f"{sign} of letters" if before.isascii() and before.isalpha() else sign
        return self._words.signs.get(of_letters, self._words.signs.get(sign))

    def _numbers(self, draft: Draft) -> None:
        if self._words.japanese:
            draft.replace(_NUMERO, lambda match: "ナンバー")
        else:
            draft.replace(_NUMERO, lambda match: "第")
            draft.replace(_PAIR, lambda match: "两")
        draft.replace(_CODE_LIKE, lambda match: self._numerals.groups(match[0]))
        draft.replace(_LARGE, lambda match: self._scaled(match["number"], match["large"]))
        draft.replace(_LONG, lambda match: self._numerals.digits(match[0]))
        draft.replace(_PLAIN, lambda match: self._number(match["number"]))

    def _addresses(self, draft: Draft) -> None:
        draft.replace(ADDRESS, lambda match: spoken_address(match[0], self._words.signs, gap=""))


def _beside(match: re.Match[str]) -> tuple[str, str]:
    """Characters before and after a match; a space at an end of the sentence."""
    start, end = match.span()
    return match.string[max(0, start - 1) : start] or " ", match.string[end : end + 1] or " "


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    return Eastern(eastern_words(language)).rules()
