"""Normalisation rules for Japanese and Mandarin: numbers become ideographs, which the languages' own readers read
correctly.

Examples: 4月8日7時 becomes 四月八日七時; $5 becomes 五ドル or 五美元; 2:30 becomes 二時三十分 or 两点三十分;
50% becomes 五十パーセント or 百分之五十.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache, partial

from text.normalization.draft import MASK, Rule
from text.normalization.eastern.needs import Said, Signs, rewrite
from text.normalization.eastern.numerals import MEASURE_WORDS, EasternWords, Numerals, eastern_words
from text.normalization.number_words import ADDRESS, spoken_address

_NUMBER = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,16})(?:\.\d{1,9})?|(?<![\dA-Za-z.])\.\d{1,9})"
_LISTED = r"(?:(?<!\d,)|(?=(?!\d{3}(?!\d))\d{1,9}(?:\.\d{1,3})?[\u3040-\u9fffA-Za-z%％℃]))"
"""Not after a comma between digits, unless it ends an item: 邮编100020,2号楼."""
_EDGE = rf"(?<![\d./A-Za-z{MASK}-])(?<!\d:){_LISTED}"
_AFTER = r"(?![\d/]|:\d|\.\d|,\d{3}(?!\d)|,\d{1,9}(?![\d.\u3040-\u9fff]))"
_TIMES_TEN = r"(?: ?[×x·*＊] ?10(?:(?P<power>⁻?[⁰¹²³⁴-⁹]{1,3})|\^(?P<raised>-?\d{1,2})))"
_TENS = re.compile(rf"(?<![\d.,:/A-Za-z{MASK}])(?P<number>{_NUMBER}){_TIMES_TEN}")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹₂₃₄", "-0123456789234")
_CLOCK = re.compile(
    r"(?<![\d:A-Za-z])(?<!\d\.)(?<!1:\d\d,)(?<!(?<!:\d\d)/)(?<!(?<!\d)[-−])(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?"
    r"(?![:：]?\d|\.\d|,1[:：]|[-–~〜～]\d{1,2}(?!\d|[:：]|F))(?P<upto> ?[-–—~〜～] ?(?=\d{1,2}[:：]\d\d))?"
)
_RATIO = re.compile(
    rf"{_EDGE}(?!0\d|0:\d+:)(?P<first>{_NUMBER}) ?[:：] ?(?!0\d)(?P<last>{_NUMBER})(?![\dx-z/]|[.,]\d|[:：][^\d])"
    rf"(?P<more>(?:[:：](?!0\d){_NUMBER}){{0,5}})(?![:：]\d)"
)
_SCORE = re.compile(rf"{_EDGE}(?P<first>\d{{1,3}}) ?[-–—−:：] ?(?P<last>\d{{1,3}})(?![\da-zA-Z/:：%％℃°-]|[.,]\d)")
_VERSUS = re.compile(
    r"(?<=[\u3040-\u30ff\u4e00-\u9fff])(?<![件录条页项款据证号图表式例题])(?P<first>\d{1,2})[-–](?P<last>\d{1,2})(?=[\u30a0-\u30ff\u4e00-\u9fff])"
)
_CHAIN = re.compile(rf"(?<![\d.,:/{MASK}-])(?P<numbers>\d{{1,4}}(?:[-‐−ー–]\d{{1,4}}){{1,4}})(?![\d/]|[.,]\d)")
_LONG_CHAIN = re.compile(rf"(?<![\d.,:/{MASK}-])(?P<numbers>\d{{1,4}}(?:[-‐−ー–]\d{{1,4}}){{2,4}})(?![\d/]|[.,]\d)")
_PLACE = re.compile(r"[\u4e00-\u9fffァ-ヶ]")
_WEEKDAYS = re.compile(
    r"(?<![\u4e00-\u9fff\d])[月火水木金土日](?:(?:[~〜～・-][月火水木金土日])+(?:(?![\u4e00-\u9fff])|(?=[運休定限祝営]))"
    r"|(?= ?\d{1,2}[:：]\d))"
)
_HYPHEN = re.compile("[~〜～-]")
_PER_UNIT = (
    r"(?:[a-zA-Zμµ]{1,3}[²³]?|[ァ-ヶー]{2,8}+"
    r"|[月年日天周週人个個件位次回晚夜泊時时秒分平米坪斤升克桶吨股张枚台本名份座头粒颗片瓶支袋箱班组趟场盒只条双对套罐捆卷块根串户亩车节课㎡㎥])"
)
_PER = re.compile(
    rf"(?:(?<=[{MASK}元円圓人回次件個枚本点万億ル])|(?<=\d[\u4e00-\u9fff])|(?<=\d[\u3040-\u9fff]{{2}}))/(?P<units>{_PER_UNIT}(?:/{_PER_UNIT})?)(?![A-Za-z\d{MASK}])"
)
_PARTS = re.compile(r"(?P<sign>[/·・⋅]?)[(（]?(?P<unit>[^/·・⋅⁻()（）]+)(?:⁻(?P<times>[¹²³]))?[)）]?")
"""A unit of several: N·m, W/(m·K), mol·L⁻¹."""
_OPERATION = re.compile(
    rf"(?<=[A-Za-zα-ω|!\d{MASK})²³\u3040-\u30ff\u4e00-\u9fff]) ?"
    rf"(?P<sign>[=<>＝＜＞+]) ?(?=[A-Za-z\d{MASK}\u4e00-\u9fff(√−?？-])"
)
_COUNTED = re.compile(MEASURE_WORDS)
_FIRST = rf"(?:(?P<first>[-−]?{_NUMBER})[-~〜～–])?"
_RATE = re.compile(
    r"(?<![\d.,$€£¥￥])(?P<number>\d{1,3})(?P<unit>[次回粒片錠杯个個篇枚件包袋本]?)/(?P<per>[日天周週月年人晚分時时])(?![a-zA-Z])"
)
_LABEL = re.compile(
    r"(?<![A-Za-z\d.])(?P<letters>[A-Z]{1,4})(?P<dash>-?)(?P<number>\d{1,4})(?P<span>[-–~～〜](?=(?P=letters)\d))?"
    r"(?=[\u3040-\u30ff\u4e00-\u9fff，。、；：（）！？,;()\s]|$|(?<=[-–~～〜])[A-Z])(?!\.\d)"
)
"""Letters and a number, as of a flight, gate, terminal or road; K12-K16 is a span of them."""
_NUMBERED = re.compile("[便号番席線系階室棟口型判組列系]")
"""Signs after the number of a Japanese label, which is no English one as in MP3."""
_PERCENT = re.compile(
    rf"(?:{_EDGE}|(?<=[A-Z{MASK}]{{2}})(?=[-−]?[\d.]+[%％])){_FIRST}"
    rf"(?P<minus>[-−+])?(?P<number>{_NUMBER}) ?[%％]"
)
_FRACTION = re.compile(
    rf"{_EDGE}(?P<above>\d{{1,3}}(?:\.\d{{1,3}})?)/(?P<below>\d{{1,4}})"
    rf"(?P<unit> ?mmHg|議席|席|票|页|頁|集|[层層階分点题題問问])?{_AFTER}"
)
_RANGE = re.compile(
    rf"(?P<minus>(?<![\d\w])[-−])?(?<![\d./A-Za-z{MASK}])(?<!\d:){_LISTED}(?P<first>{_NUMBER})"
    r"(?:(?:[~〜～]|(?:(?<=\.\d)|(?<=\.\d\d))-(?=\d{1,4}\.\d)|[–—](?!\d{4}-)) ?(?=[-−]?\d)"
    r"|-(?=\d{1,9}(?:\.\d+)?[ ]?(?:[\u4e00-\u9fff%％℃°]|[kcm]?[mgLl](?![A-Za-z]))))"
)
_SIDE = r"(?<=[A-Z])(?<![A-Za-z][A-Z])(?=[\d,.]{1,9} ?[cm]?m(?![A-Za-z]))"
_GLUED = rf"(?:(?<![A-Za-z])|(?<=[A-Z]{{3}})|(?<=[A-Z])(?=\d{{1,2}}\.\d)|{_SIDE})"
_PLAIN = re.compile(rf"(?<![\d.]){_GLUED}(?<![\dA-Za-z{MASK}]/){_LISTED}(?P<number>{_NUMBER}){_AFTER}")
_LAST = re.compile(r"(?P<number>\d{1,9})(?=[号室栋])")
_AFTER_PAIR = re.compile(rf"\d(?:{MEASURE_WORDS})")
_LARGE = re.compile(rf"(?<![\d.,/A-Za-z])(?P<number>{_NUMBER})(?P<large>[kKM])(?![A-Za-z\d])")
_NEEDED = re.compile(r"[\dA-Za-zΑ-ω@/.・~〜～–—−+=<>＝＜＞²³±×÷ｗ\u2080-\u2089\u2150-\u22ff①-⑩¼-¾▲-☎§‰♭&＆℡-]|日[(（]")
"""Signs without which a sentence has nothing for any rule."""
_ORDER = (
    "emoji|web_addresses|codes|phones|dates|versions|times|references|abbreviations|roman_numerals|money|units|fractions|"
    "ranges|math|numbers"
)
_OPTIONAL = re.compile(r"\[(?P<said>[^\]{]{0,9}\{(?P<name>\w{1,9})\}[^\]]{0,9})\]")
"""Part of a form that is said if its number is written."""


class Eastern:
    def __init__(self, words: EasternWords) -> None:
        self._words = words
        self._numerals = Numerals(words)
        self._number, self._counted = self._numerals.number, self._numerals.counted
        money = "|".join(map(re.escape, sorted(words.currencies, key=len, reverse=True)))
        units = "|".join(re.escape(unit) for unit in sorted(words.units, key=len, reverse=True))
        self._patterns = {"number": _NUMBER, "edge": _EDGE, "after": _AFTER, "mask": MASK, "measure": MEASURE_WORDS}
        self._patterns |= {"money": money, "units": units}
        large = "(?P<large>[万億亿兆千百]+|(?:[kKMB]|bn)(?![A-Za-z]))?"
        minus = "(?P<minus>(?<![A-Za-z\\d])[-−+])?"
        self._money = re.compile(
            rf"{minus}(?P<sign>{money}) ?(?P<inner>[-−])?(?P<first>(?!))?(?P<number>{_NUMBER}) ?{large}(?!\d)"
        )
        self._money_after = re.compile(
            rf"(?<![\d.,A-Za-z{MASK}]){minus}(?:(?P<first>{_NUMBER})(?:{money})?[-~〜～–])?"
            rf"(?P<inner>(?!))?(?P<number>{_NUMBER}) ?{large} ?(?P<sign>{money})(?![A-Za-z\d])"
        )
        named = "|".join(words.code_words.split())
        self._coded = re.compile(
            rf"〒 ?(?P<code>\d{{3}}-?\d{{4}})(?!\d)"
            rf"|(?:{named})[:：は ]{{0,2}}(?P<train>\d{{3,16}}(?:[- ]\d{{1,8}}){{0,4}})(?!\d)"
            if words.japanese
            else rf"(?:(?:{named})[:：是为 ]?|(?<=[0-9]或))(?P<code>\d{{3,18}}(?:[- ]\d{{3,8}}){{0,5}})"
            r"(?!,\d{3}(?!\d)|[\d.年月日元人个]|-\d)|(?<![A-Za-z])[GDCZTKSX](?P<train>\d{1,4})(?=次|列车|号|高速|国道)"
        )
        self._always = re.compile(
            f" ?(?P<sign>[{''.join(sign for sign in words.signs if '~' < sign < chr(0x3000))}]) ?"
        )
        self._score_cue = re.compile("|".join(words.score_cues.split()))
        part = f"(?:{units}|K)(?![A-Za-z])"
        self._measure = re.compile(
            rf"(?<![\d.{MASK}-])(?<!\d:)(?:{_GLUED}|(?<=\dh)(?=\d{{1,2}}min)){_LISTED}"
            rf"(?<![\dA-Z]/(?!\d{{1,4}} ?[MGT]B))(?<![a-z]/)(?:(?P<first>[-−]?{_NUMBER})(?:{units})?[-~〜～–])?"
            rf"(?P<minus>[-−+])?(?P<number>{_NUMBER}){_TIMES_TEN}?(?P<large>[万億亿千百])?"
            rf" ?(?P<unit>{units})(?P<parts>(?:⁻[¹²³]|[/·・⋅]{part}|/[(（]{part}[·・⋅]{part}[)）]){{0,3}})"
            rf"(?![A-Za-z²³])(?!/(?!(?:{units})(?![A-Za-z])|[A-Z]{{2}})[A-Za-z])"
        )

    def rules(self) -> tuple[Rule, ...]:
        words, number, joined, cue = self._words, self._number, self._joined, self._score_cue
        table: tuple[tuple[str, bool | None, re.Pattern[str], Said], ...] = (
            ("web_addresses", None, ADDRESS, lambda m: spoken_address(m[0], words.signs, gap="")),
            ("codes", None, self._coded, self._code),
            ("dates", True, _WEEKDAYS, lambda m: _HYPHEN.sub("から", re.sub("(?=[^月火水木金土日]|$)", "曜", m[0]))),
            ("times", None, _CLOCK, self._time),
            ("references", None, _RATE, self._rate),
            ("references", None, _LABEL, self._label),
            ("references", None, _VERSUS, self._score),
            ("references", None, _SCORE, lambda m: self._score(m) if cue.search(m.string) else None),
            ("money", None, self._money, self._amount),
            ("money", None, self._money_after, self._amount),
            ("units", None, _PERCENT, lambda m: self._signed(m, words.percent.format(number(m["number"])))),
            ("units", None, self._measure, self._quantity),
            ("units", None, _LARGE, lambda m: self._scaled(m["number"], m["large"])),
            ("units", None, _TENS, self._tens),
            ("units", None, _PER, self._per),
            ("fractions", None, _FRACTION, self._fraction),
            ("ranges", None, _RATIO, lambda m: joined(words.versus, re.split(" ?[:：] ?", m[0]))),
            ("ranges", None, _LONG_CHAIN, self._chain),
            ("ranges", None, _RANGE, self._range),
            ("ranges", None, _CHAIN, self._chain),
            ("math", None, self._always, lambda m: words.signs[m["sign"]]),
            ("math", None, _OPERATION, self._operation),
            ("numbers", None, _PLAIN, lambda m: number(m["number"])),
        )
        forms = {name: [self._form(*row) for row in rows.items()] for name, rows in words.forms.items()}
        steps = {name: forms.get(name, []) for name in _ORDER.split("|")}
        for name, japanese, pattern, said in table:
            if japanese in (None, words.japanese):
                steps[name].append((pattern, said))
        signs = Signs()
        ready = {name: [(*row, signs.needed(row[0])) for row in own] for name, own in steps.items() if own}
        return tuple(Rule(name, partial(rewrite, signs, own), _NEEDED) for name, own in ready.items())

    def _form(self, written: str, said: str) -> tuple[re.Pattern[str], Said]:
        """Rewriting of a row of the tables: an expression, and its words with `{}` around the names of its groups."""
        for name, pattern in self._patterns.items():
            written = written.replace(f"{{{name}}}", pattern)
        readers = self._numerals.readers

        def form(match: re.Match[str]) -> str:
            heard = {name: readers[name[0]](text) if text else "" for name, text in match.groupdict().items()}
            return _OPTIONAL.sub(lambda part: part["said"] if heard[part["name"]] else "", said).format(**heard)

        return re.compile(written), form

    def _joined(self, joint: str, numbers: Iterable[str | None]) -> str:
        return joint.join(map(self._number, filter(None, numbers)))

    def _rate(self, match: re.Match[str]) -> str:
        rate = self._words.rates.get(match["per"], self._words.rate.format(match["per"]))
        return f"{rate}{self._counted(match['number'])}{match['unit']}"

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

    def _time(self, match: re.Match[str]) -> str:
        hour, minute = self._counted(match["hour"]), self._numerals.two_digits(match["minute"])
        pattern = self._words.clock if int(match["minute"]) or match["second"] else self._words.half_past
        said = pattern.format(hour=hour, minute=minute)
        said = f"{said}{self._numerals.two_digits(match['second'])}秒" if match["second"] else said
        return said + (self._words.to if match["upto"] else "")

    def _amount(self, match: re.Match[str]) -> str:
        minus, plus = self._words.minus, self._words.plus if self._words.japanese else self._words.signs["+"]
        sign = minus if match["inner"] or match["minus"] in ("-", "−") else plus * bool(match["minus"])
        said = f"{sign}{self._upto(match)}{self._scaled(match['number'].removesuffix('.00'), match['large'] or '')}"
        return said + self._words.currencies[match["sign"]]

    def _scaled(self, number: str, large: str) -> str:
        """Number with an ideograph or a letter (1.5M) for its magnitude."""
        power = self._words.magnitudes.get(large)
        if power is None:
            return self._number(number) + large
        value = f"{Decimal(number.replace(',', '')) * power:.9f}".rstrip("0").rstrip(".")
        return self._number(value) if len(value) < 17 else self._number(number) + large

    def _quantity(self, match: re.Match[str]) -> str:
        unit = self._words.units[match["unit"]]
        counts = not match["large"] and "度" not in unit
        number = (
            self._tens(match)
            if match["power"] or match["raised"]
            else (self._counted if counts else self._number)(match["number"])
        )
        number += match["large"] or ""
        said, parts = unit.format(number) if "{}" in unit else number + unit, match["parts"]
        if parts.startswith("⁻"):
            said, parts = number, match["unit"] + parts
        return self._signed(match, said + _PARTS.sub(self._part, parts))

    def _part(self, match: re.Match[str]) -> str:
        name = {**self._words.names, **self._words.units}.get(match["unit"], match["unit"])
        per = match["sign"] == "/" or match["times"]
        rate = self._words.rates.get(name) or self._words.per_unit.format(name)
        return rate * int((match["times"] or "¹").translate(_LOWERED)) if per else name

    def _signed(self, match: re.Match[str], said: str) -> str:
        """Measure with its sign, unless a word before it is one, and with the range's first number."""
        before, sign = _beside(match)[0], (match["minus"] or "").replace("−", "-")
        if not sign or before in "涨升增跌降":
            return self._upto(match) + said
        if before in "%％":
            return (self._words.signs["+"] if sign == "+" else self._words.to) + said  # 10%-20%
        plain = self._words.plus if sign == "+" else self._words.minus
        return self._upto(match) + self._words.signs.get(before + sign, plain) + said

    def _upto(self, match: re.Match[str]) -> str:
        """Words for a range's first number and the word after it; empty if there is no range."""
        first = match["first"]
        if not first:
            return ""
        minus = self._words.minus if first[0] in "-−" else ""
        return f"{minus}{self._number(first.lstrip('-−'))}{self._words.to}"

    def _per(self, match: re.Match[str]) -> str:
        per, names = (self._words.per, self._words.per_unit), self._words.units
        units = match["units"].replace("月", "か月" if self._words.japanese else "月").split("/")
        return "".join(per[unit in names].format(names.get(unit, unit)) for unit in units)

    def _fraction(self, match: re.Match[str]) -> str | None:
        above, below = float(match["above"]), int(match["below"])
        one, two = self._number(match["above"]), self._number(match["below"])
        if match["unit"] and match["unit"].strip() != "mmHg":
            return self._words.of_whole.format(part=one, whole=two, unit=match["unit"])
        if above > below:
            return f"{one}、{two}{self._words.units.get((match['unit'] or '').strip(), '')}"
        return self._words.fraction.format(above=one, below=two)

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
        power = match["raised"] or match["power"].translate(_LOWERED)
        minus = self._words.minus * (power[0] == "-")
        return self._words.tens.format(self._number(match["number"]), minus + self._number(power.strip("-")))

    def _operation(self, match: re.Match[str]) -> str | None:
        sign = {"＝": "=", "＜": "<", "＞": ">"}.get(match["sign"], match["sign"])
        before = _beside(match)[0]
        of_letters = f"{sign} of letters" if before.isascii() and before.isalpha() else sign
        return self._words.signs.get(of_letters, self._words.signs.get(sign))


def _beside(match: re.Match[str]) -> tuple[str, str]:
    """Characters before and after a match; a space at an end of the sentence."""
    start, end = match.span()
    return match.string[max(0, start - 1) : start] or " ", match.string[end : end + 1] or " "


@lru_cache
def rules_of(language: str) -> tuple[Rule, ...]:
    return Eastern(eastern_words(language)).rules()
