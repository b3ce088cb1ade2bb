"""Rules for formulas, signs, powers of units, chemistry and music: 3 + 4 = 7, 10^6 m, x², ≥, ->, C++, H2O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from text.locales.tables import table, word_list, words
from text.normalization.draft import END, MASK, NUMBER, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal, number, ordinal
from text.normalization.tex import related
from text.sentences.abbreviations import is_unknown

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
EXPONENT = (
    r"(?:(?:\^|\*\*)(?P<open>[({])?(?P<exponent>[-−]?\d{1,6}|[a-z])(?(open)[)}])"
    r"|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))"
)
_POWER = re.compile(rf"(?:{START}|(?<=\d)(?=[a-z]))(?<!\d[.,])(?P<base>{NUMBER}|[a-zA-Z]){EXPONENT}{END}")
_TABLE = table("en", "maths")
_UNIT_TABLE = table("en", "units")
_OPERATIONS: dict[str, str] = _TABLE["operations"]
_OPERATORS = frozenset(_OPERATIONS)
_RAISED = re.compile(rf"{START}(?P<base>[a-zA-Z\d])(?P<raised>⁻?[ⁿᵗᵏˣʸⁱ]){END}")
_SPACED = re.compile(
    rf"(?P<before>(?<=[\d)\]²³{MASK}]) |(?<=(?<!\w)\w) |(?<=\w) (?=[=≠!×÷±]))"
    rf"(?P<sign>==|!=|<=|>=|[-+*]=|[+*×·÷=<>≤≥≠≈±%]|x(?= )|[−–/-](?= (?:[\d(\[√π$£€.−{MASK}]|-(?! )|[a-zA-Z]\b)))"
    rf"(?= [\d(\[√πa-zA-Z$£€.−½¼¾{MASK}-]|$)"
)
_FORMULA_SIGN = re.compile(
    r"[=×÷^√≤≥≠≈±∫∑π²³]|[\d)] ?[+*] ?[\d(]|\bx\b|\b(?:what(?:'s|’s| is)|calculate|solve|compute|subtract) ",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[^\W\d_]{3}")
_PAUSES = frozenset("-–/·")
"""Signs between words or numbers that are a pause outside formulas: PO 88213 - 40 units, Lesson 4 · 7 min."""
_TIGHT = re.compile(
    rf"(?<=[\d)])(?P<sign>==|!=|<=|>=|[+*×÷=<>≤≥≠≈±−∕∗∙⋅·≦≧⊆])(?=[\d(−{MASK}-])"
    rf"|(?<=[\d)])(?P<minus>[-+])(?= \d[^a-zA-Z]*(?:=|{MASK}))"
    rf"|(?<=[\w){MASK}])(?P<relation>[=≤≥≠≈±]|==|!=|<=|>=|[<>])(?=[-−\d{MASK}])"
    r"|(?<=\b[a-zα-ω])(?P<equals>=|[<>](?=\d))(?=[a-z]\b|\d)"
)
_BEFORE_NUMBER: dict[str, str] = _TABLE["before_numbers"]
_PREFIX = re.compile(
    rf"(?:(?<=\ba)(?P<a> )(?=~)|(?<![\w{MASK})]))(?P<sign><=|>=|[~≈∼<>≤≥±+=√×Ø⌀]) ?"
    rf"(?=[-−]?[.$£€]?\d|{MASK}|(?<=√)\(?\w)"
)
_ARROW = re.compile(r" ?(?:-{1,2}>|=>|[→⇒⟹➜⟶➡←]\ufe0f?) ?|(?<=[a-z]{2})(?<!\bthe)(?: > |>(?=[A-Z]))(?=[A-Za-z][a-z])")
_KEY = re.compile(r"\b(?:press|hit|tap|use|the)$", re.IGNORECASE)
_LIMIT = re.compile(r"[-−+]?(?:∞|0(?![\d:/]|\.\d))")
_REACTION = re.compile(r"[₀-₉].* \+ |\+ .*[₀-₉]")
_PATHS = re.compile(rf"\b(?:{'|'.join(_TABLE['paths']['words'].split())})\b", re.IGNORECASE)
_EITHER = re.compile(r"\b(?P<one>he|him|his|she|her|hers)/(?P<other>she|her|hers|he|him|his)\b", re.IGNORECASE)
_DECIMAL = re.compile(r"\.(?<=\d\.)\d")
_POINT = re.compile(r"(?:(?<=[^\W\d_.])|(?<=@)|(?<=[^\W\d_.])/)(?P<number>\d{1,9}\.\d{1,9})(?!\d|\.\w|,\d)")
"""Decimal that is glued to a letter: f/2.8, x114.3, q21.31."""
_GREEK = re.compile(r"(?<![Α-ωά-ώ])(?!(?<=[a-zA-Z\d])[μΩΜ]|[μΩΜ][a-zA-Z\d])[Α-ΡΣ-Ωα-ω](?![Α-ωά-ώ])")
"""Greek letter by itself or glued to others: β, ΔG, hν, Δ9."""
_STOP = re.compile(
    rf"(?P<word>{START}[a-zA-Z][a-z]{{1,4}}|{START}[A-Z][a-z]{{5,6}}|(?<=[-/])[b-df-hj-np-tv-z]{{2,4}})\."
    r"(?= (?P<following>\w+|[(&@#$£€~−+]))"
)
"""Short word with a full stop inside a sentence: the splitter has found that it ends nothing."""
_ANY_GREEK = re.compile("[Α-ΡΣ-Ωα-ω]")
_PHONETIC = re.compile("[ˈˌːɐ-ʯ]|[Α-ωά-ώ]{3}")
"""Text in which Greek letters are sounds, or words."""
_STARTERS = words("en", "sentence_starters")
_AS_WRITTEN = word_list(table("en", "abbreviations")["contexts"]["as_written"])
_LENGTHS: dict[str, str] = {unit: _UNIT_TABLE["units"][unit] for unit in _TABLE["things_per"]["words"].split()}
_PER_LENGTH = re.compile(rf"(?<=[s{MASK}])/(?P<unit>{'|'.join(_LENGTHS)})\b")
"""After a plural: 60 LEDs/m."""
_PERIODS: dict[str, str] = _TABLE["periods"]
_PER = re.compile(
    r"(?:(?<=[a-z]{3}s)(?=/s\b)|(?<=[a-zA-Z)])(?<!day)(?<!week)(?<!year)(?<!month)(?<!hour)(?<!\b[os]))/"
    rf"(?P<period>{'|'.join(_PERIODS)})\b(?!/)"
)
_PER_APART = re.compile(rf"(?<=[s{MASK}]) / (?P<period>{'|'.join(_PERIODS)}|session)\b", re.IGNORECASE)
_DIVIDED = re.compile(
    r"/(?<=[a-zA-Zα-ω\d)²³]/)(?<![a-zA-Z/._]./)(?<!\w-./)(?<!\bw/)(?<!\d[A-Z]/)(?=[a-zA-Zα-ω\d(∂])(?![a-zA-Zα-ω]{2}|\d{1,9}[./]\d|\d{5}|\w[/-])"
)
_RELATION = re.compile("[=<>≤≥]")
_ABSOLUTE = re.compile(r"(?<![\w|])\|(?P<of>[a-z\d]{1,4})\|(?![\w|])")
_LESS = re.compile(rf"[-−](?<=[a-z){MASK}].)(?<![a-zA-Z-]..)(?=\d{{1,4}}(?![\w-]))")
"""Minus that is glued to a term and a number: x-1."""
_TERM = frozenset("abcdefghijklmnopqrstuvwxyz)")
_PERIOD = re.compile(r"\d[\d.,]* ?(?i:s|secs?|mins?|minutes|h|hrs?|hours|days?|wks?|weeks|mos?|months|yrs?|years)\b")
_OVER = re.compile(rf"(?<=[a-z][a-z])/(?:(?={MASK})|(?<=s/)(?={_PERIOD.pattern}))")
_CHOICE = re.compile(r"(?<!\(\w) [/·•|▪●◦■►»›] (?=\S)")
_WITH = re.compile(rf"{START}[wW]/(?![wW]\b|[A-NP-Z](?:$|[ /.,{MASK}])|[a-z]{{1,2}}[²³])(?P<out>[oO]{END})? ?(?=\S|$)")
_SIGN_NAMES: dict[str, str] = _TABLE["signs"] | {"™": "", "®": ""}
_SIGNS = "".join(_SIGN_NAMES)
NEEDED = re.compile(
    r"\.(?<=\d\.)\d|[(\d](?:(?<=sin.|tan.)|(?<=ln.))|[^\w\s.,;:!?'\"’“”()—]| x |Ø(?=\d)"
    r"| [xyt]\b(?:(?<=(?:sin|cos|tan)..)|(?<=ln..))"
    rf"| n [a-z]|[’'][nN]['’]|[Α-ΡΣ-Ωα-ω²³¹⁰⁴-⁹ⁿᵗᵏˣʸⁱᵢᵣᵤᵥⱼₐ-ₜ{''.join(filter(str.isalnum, _SIGNS))}]"
)
"""Signs, or letters that are read as signs, of which a sentence has one if a rule applies."""
_SIGN = re.compile(rf"(?P<before> ?)(?P<sign>[{re.escape(_SIGNS)}])(?P<after> ?)")


def stops(draft: Draft) -> None:
    def said(match: re.Match[str]) -> str | None:
        short = is_unknown(match["word"]) or match["word"].lower() in _AS_WRITTEN  # else a word: I need milk. eggs too.
        return match["word"] if short and match["following"].lower() not in _STARTERS else None

    draft.replace(_STOP, said)


_INDEX = re.compile("(?<=[A-Za-zΑ-Ωα-ω∑])[ᵢᵣᵤᵥⱼₐ-ₜ]")


def _index(sign: str) -> str:
    return unicodedata.normalize("NFKC", sign).replace("−", "minus ")


def _constant(row: Mapping[str, str]) -> tuple[re.Pattern[str], Callable[..., str], str, re.Pattern[str]]:
    written = row["written"].replace("START", START).replace("MASK", MASK)
    return re.compile(written), row["said"].format, row["signs"], re.compile(row.get("within", ""))


_CONSTANTS = {name: list(map(_constant, _TABLE[name].values())) for name in ("before_terms", "after_terms", "slashes")}
"""Expressions that are said in the same words, in the order in which they are tried."""


def _constants(draft: Draft, name: str) -> None:
    for written, said, signs, within in _CONSTANTS[name]:
        if draft.has(signs) and within.search(draft.sentence):
            draft.replace(written, said, signs)


def math(draft: Draft) -> None:
    def operation(match: re.Match[str], group: str | int) -> str:
        return f" {related(draft.sentence, match.start(group), _OPERATIONS[match[group]])}"

    british = draft.british
    if _DECIMAL.search(draft.text):
        draft.replace(_POINT, lambda match: _pointed(match, british))
    if draft.has("/"):
        signed = _FORMULA_SIGN.search(draft.sentence) is not None
        draft.replace(_DIVIDED, lambda match: _divided(match, signed))
    if _RELATION.search(draft.sentence):
        draft.replace(_LESS, lambda match: " minus " if draft.sentence[match.start() - 1] in _TERM else None, "-−")
    _constants(draft, "before_terms")
    draft.replace(_INDEX, lambda match: _index(" " + match[0]), "ᵢᵣᵤᵥⱼₐₑₒₓₔₕₖₗₘₙₚₛₜ")
    if _ANY_GREEK.search(draft.text) and not _PHONETIC.search(draft.sentence):
        draft.replace(_GREEK, lambda match: unicodedata.name(match[0]).split()[-1].replace("LAMDA", "LAMBDA").lower())
    if _RELATION.search(draft.sentence):
        draft.replace(_ABSOLUTE, lambda match: f"the absolute value of {match['of']}", "|")
    draft.replace(_POWER, lambda match: power(match, british), "^*⁰¹²³⁴⁵⁶⁷⁸⁹")
    draft.replace(_RAISED, lambda match: _index(f"{match['base']} to the {match['raised']}"), "ⁿᵗᵏˣʸⁱ")
    draft.replace(_ARROW, lambda match: _arrow(match, draft.sentence), ">→⇒⟹➜⟶➡←")
    if not _OPERATORS.isdisjoint(draft.sentence.split(" ")):
        formula = _FORMULA_SIGN.search(draft.sentence) or not _PROSE.search(draft.sentence)
        draft.replace(
            _SPACED, lambda match: operation(match, "sign") if formula or match["sign"] not in _PAUSES else ","
        )
    draft.replace(_TIGHT, lambda match: f"{operation(match, match.lastgroup or 0)} ", "+*×÷=<>≤≥≠≈±−∕∗∙⋅·≦≧⊆")
    draft.replace(_PREFIX, lambda match: _BEFORE_NUMBER[(match["a"] or "") + match["sign"]], "~≈∼<>≤≥±+=√×Ø⌀")
    _constants(draft, "after_terms")
    if draft.has("/"):
        draft.replace(_WITH, lambda match: ("without" if match["out"] else "with") + " ")
        draft.replace(_EITHER, lambda match: f"{match['one']} or {match['other']}")
        draft.replace(_PER_LENGTH, lambda match: f" per {_LENGTHS[match['unit']]}")
        for per in (_PER, _PER_APART):
            draft.replace(per, lambda match: f" per {_PERIODS.get(match['period'].lower(), match['period'])}")
        _constants(draft, "slashes")
        draft.replace(_OVER, lambda match: _over(draft.sentence, match.end()))
    draft.replace(_CHOICE, lambda match: ", " if draft.characters.isdisjoint("«‹") else None, "/·•|▪●◦■►»›")
    draft.replace(_SIGN, _sign, _SIGNS)


def _over(sentence: str, place: int) -> str:
    """Words for the slash between a counted noun and what is at a place: a price, a period or the same otherwise."""
    return " for " if sentence[place] in "$£€¥₹" else " per " if _PERIOD.match(sentence, place) else ", "


def _arrow(match: re.Match[str], sentence: str) -> str:
    """Words for an arrow; a pause between steps and the parts of a menu."""
    sign, after = match[0].strip(), sentence[match.end() : match.end() + 1]
    if sign in "⇒⟹":
        return " implies "
    if sign == ">":
        return " over " if after.islower() else ", "
    if not after or after == "|" or (sign == "←" and not match.start()):
        return " " * bool(after)
    if sign == "←" or "←" in sentence or _KEY.search(sentence, max(0, match.start() - 12), match.start()):
        return (" gets " if after.isalpha() and match.start() < 3 else " left ") if sign == "←" else " right "
    if _REACTION.search(sentence):
        return " yields "
    if _LIMIT.match(sentence, match.end()):
        return " goes to "
    return ", " if _PATHS.search(sentence) and sentence[match.end() : match.end() + 1].isalpha() else " to "


def _pointed(match: re.Match[str], british: bool) -> str:
    """Decimal, or the version that is glued to a program's name: python3.12."""
    written = match["number"]
    glued = match.string[max(match.start() - 3, 0) : match.start()]
    if glued.isalpha() or glued[1:].lower() == "py":
        return " point ".join(number(part, british) for part in written.split("."))
    return number(written, british)


def _divided(match: re.Match[str], formula: bool) -> str | None:
    above, below = match.string[match.start() - 1], match.string[match.end()]
    letters, digits = above.isalpha() or below.isalpha(), above.isdigit() or below.isdigit()
    small = above == "1" or (above + below).islower()
    sure = formula or (digits and small and not (above in "cfw" or below in "dhs"))  # f/8, 1/s, 180 c/350 f
    return " over " if (letters and sure) or above == ")" or (below == "(" and formula) else None


def power(match: re.Match[str], british: bool) -> str | None:
    """Words for a base and its `EXPONENT`; None for a footnote's number."""
    exponent = (match["exponent"] or match["raised"].translate(_SUPERSCRIPTS)).replace("−", "-")
    if match["raised"] and exponent == "1":
        return None  # a footnote's number
    base = match["base"] if match["base"].isalpha() else number(match["base"], british)
    if exponent in ("2", "3"):
        return f"{base} {'squared' if exponent == '2' else 'cubed'}"
    if exponent.isalpha():
        return f"{base} to the power of {exponent}"
    if exponent[0] == "-":
        return f"{base} to the minus {cardinal(int(exponent[1:]), british)}"
    return f"{base} to the {ordinal(int(exponent), british)}"


def _sign(match: re.Match[str]) -> str:
    name = related(match.string, match.start("sign"), _SIGN_NAMES[match["sign"]])
    following = match.string[match.end() : match.end() + 1]
    return (
        f" {name}{' ' if match['after'] or following.isalnum() or following == '(' else ''}"
        if name
        else match["before"] or match["after"]
    )


_CHEMISTRY: dict[str, str] = _TABLE["chemistry"]
_ELEMENTS = "|".join(_CHEMISTRY["elements"].split())
_PART = re.compile(rf"(?P<element>{_ELEMENTS})(?P<count>\d+|[₀-₉]+)?|(?P<sign>[()])")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
_ION = r"(?P<charge>[⁰¹²³⁴⁵⁶⁷⁸⁹]?[⁺⁻]|[+](?![\w+]))?"
_FORMULA = re.compile(
    rf"(?=[\dA-Z(]){START}(?P<times>\d{{1,2}}(?=[A-Z(]))?(?P<formula>(?:\(?(?:{_ELEMENTS})(?:\d{{1,3}}|[₀-₉]{{1,3}})?\)?[₀-₉]?){{1,12}}){_ION}(?![\w{MASK}/])"
)
CHEMISTRY = re.compile(r"[₀-₉⁰¹²³⁴-⁹⁺⁻]|[A-Z][a-z]?\)?[\d(A-Z]")
Say = Callable[..., str]
_SIGNED = {"−": "minus", "+": "plus"}
_MEANT = re.compile(r"H(?:[2-9]|1\d)|O[2-9]|[NFI]2$|Cl[2-4]|Br2|[₀-₉]")
_NOT_MEANT = re.compile(r"[A-Z]1(?!\d)|\d\d\d")
_CERTAIN = word_list(_CHEMISTRY["certain"])
"""Formulas that are no words or names."""


def chemistry(draft: Draft, number: Say, signs: Mapping[str, str] = _SIGNED, say: Say = ".".join) -> None:
    draft.replace(_FORMULA, lambda match: _said(match, number, signs, say))


def _said(match: re.Match[str], number: Say, signs: Mapping[str, str], say: Say) -> str | None:
    written, charge = match["formula"], match["charge"]
    raised = charge is not None and charge != "+"
    elements = [part["element"] for part in _PART.finditer(written) if part["element"]]
    ion = charge == "+" and len(elements) == 1 and written[-1] in "234" and len(written) == 3  # Fe2+
    if not (raised or ion or written in _CERTAIN):
        if not _MEANT.search(written) or _NOT_MEANT.search(written) or len(elements) < 2:
            return None
        if len(set(elements)) < 2 and not re.search("[₀-₉]", written):
            return None
    said = [number(int(match["times"]))] if match["times"] else []
    letters = ""
    for part in _PART.finditer(written):
        if part["sign"]:
            continue
        letters += part["element"].upper()
        if part["count"]:
            said += [say(letters), number(int(part["count"].translate(_SUBSCRIPTS)))]
            letters = ""
    if letters:
        said.append(say(letters))
    if charge:
        if charge[0] not in "+⁺⁻":
            said.append(number(int(charge[0].translate(_SUBSCRIPTS))))
        said.append(signs["−" if charge[-1] == "⁻" else "+"])
    open_, closed = written.count("("), written.count(")")
    return "(" * (open_ - closed) + " ".join(said) + ")" * (closed - open_)


_QUALITIES: dict[str, str] = _TABLE["chords"]
_QUALITY = rf"(?:(?:{'|'.join(_QUALITIES)})(?!(?<=M)[245]))"
_NUMBER = r"(?:1[13]|[245679])"
_CHORD = re.compile(
    rf"{START}(?P<note>[A-G])(?P<sign>[#♯♭♮b])?(?P<quality>{_QUALITY})?(?P<number>{_NUMBER})?(?![\w{MASK}#♯♭♮+]|-\w|'\w|’\w)"
)
_CONTEXT = re.compile(
    r"\b(?:chords?|keys? of|(?:in|to) [A-G][#♯♭b]?|guitar|piano|riff|strum|arpeggio|progression|capo|tun(?:ed|ing))\b"
    rf"|[♯♭♮]|\b[A-G](?:#|b)?{_QUALITY}{_NUMBER}\b|\b[A-G]#|\b[A-G][b#]? (?:major|minor|sharp|flat)\b(?! [a-z])"
)
_JOINT = r"(?:[ ,|/–-]{1,2}|,? (?:to|and|then|or) )"
_OTHER = rf"(?:[B-G]|A(?! [a-z])|[A-G](?:[#♯♭b]|[#♯♭b]?{_QUALITY}){_NUMBER}?)"
_BEFORE_CHORD = re.compile(
    rf"(?:\b(?:[Cc]hords?(?: (?:is|are|of))?:?|[Kk]eys?:?(?: of)?|capo) |{START}{_OTHER}{_JOINT})$"
)
_AFTER_CHORD = re.compile(rf"{_JOINT}(?:(?:chord|key|scale|arpeggio)s?\b|{_OTHER}{END})")
"""A chord that may be a word (Am, Asus, Edim) stands beside another one or beside its class."""
_KEY = re.compile(rf"{START}(?P<note>[A-G])b(?= (?:major|minor)\b)")
_TIME = re.compile(
    rf"{START}(?P<above>[2-9]|12)/(?P<below>[248]|16)(?! (?:of|cup|inch|in|mile)){END}"
    r"(?= (?P<named>time|signature|beat|meter|rhythm|groove|feel)\b)?"
)
_TIMED = re.compile(r"\b(?:BPM|bpm|[Kk]ey:? (?:of )?[A-G]|time signatures?|waltz|[1-9] bars)\b|[♩♪♫]|D\.C\.")
_ACCIDENTALS = {"#": "sharp", "♯": "sharp", "♭": "flat", "b": "flat", "♮": "natural"}
_LANGUAGES = frozenset("CFJ")


def music(draft: Draft) -> None:
    british = draft.british
    if draft.has("/"):
        timed = _TIMED.search(draft.sentence)
        draft.replace(_TIME, lambda match: _beats(match, british) if timed or match["named"] else None)
    draft.replace(_KEY, lambda match: f"{match['note']} flat")
    draft.replace(_CHORD, lambda match: _chord(match, draft.sentence, british))


def _beats(match: re.Match[str], british: bool) -> str:
    return f"{cardinal(int(match['above']), british)} {cardinal(int(match['below']), british)}"


def _chord(match: re.Match[str], sentence: str, british: bool) -> str | None:
    sign, quality, interval = match["sign"], match["quality"], match["number"]
    certain = sign in ("♯", "♭", "♮") or (sign == "#" and (quality or match["note"] not in _LANGUAGES))
    if not certain and quality and not (sign or interval):
        before = sentence[max(0, match.start() - 24) : match.start()]
        certain = bool(_BEFORE_CHORD.search(before) or _AFTER_CHORD.match(sentence, match.end()))
        if not certain:
            return None
    if not certain and not ((quality or sign or interval == "7") and _CONTEXT.search(sentence)):
        return None
    said = [match["note"]]
    if sign:
        said.append(_ACCIDENTALS[sign])
    if quality:
        said.append(_QUALITIES[quality])
    if interval:
        said.append(cardinal(int(interval), british))
    return " ".join(said)


UNITS: dict[str, tuple[str, str]] = {
    symbol: (name, f"{name}s") if isinstance(name, str) else (name[0], name[1])
    for symbol, name in _UNIT_TABLE["units"].items()
}
"""Unit names by symbol, in the singular and the plural."""

SPOKEN_PER: dict[str, str] = _UNIT_TABLE["per"]
"""Names of units that follow a slash, besides those of `UNITS`."""


def spelled(name: str, british: bool) -> str:
    """Unit name in American or British spelling: `kilometers` or `kilometres`."""
    if british:
        for unit in ("meter", "liter"):
            name = name.replace(unit, f"{unit[:-2]}re")
    return name


_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(UNITS, key=len, reverse=True))
_SINGLE = frozenset("LlsgdhK")
_PER_UNIT = "|".join(
    re.escape(name) for name in sorted({*UNITS, *SPOKEN_PER}, key=len, reverse=True) if len(name) > 1 or name in _SINGLE
)
_POWERS = {"²": "square ", "2": "square ", "^2": "square ", "³": "cubic ", "3": "cubic ", "^3": "cubic ", None: ""}

_SCALED = re.compile(
    rf"(?:{NUMBER_START}(?P<base>{NUMBER}){EXPONENT}(?: (?!in\b)(?P<unit>{_SYMBOL})(?P<unit_power>[²³])?)?"
    rf"|(?<={MASK})(?= ?/))"
    rf"(?: ?/(?P<per>{_PER_UNIT})(?P<per_power>[²³])?)?(?![\w{MASK}⁻^/'’²³])"
)


def units(draft: Draft) -> None:
    draft.replace(_SCALED, lambda match: _scaled(match, draft.british), "^*⁰¹²³⁴⁵⁶⁷⁸⁹/")


def _scaled(match: re.Match[str], british: bool) -> str | None:
    said = power(match, british) if match["base"] else ""
    if said is None or not (match["unit"] or match["per"]):
        return None
    if match["unit"]:
        said += f" {powered(UNITS[match['unit']][1], match['unit_power'], british)}"
    if per := match["per"]:
        said += f" per {powered(SPOKEN_PER.get(per) or UNITS[per][0], match['per_power'], british)}"
    return said


def powered(name: str, power: str | None, british: bool) -> str:
    if power and name.startswith("second"):
        return f"{name} {'squared' if power[-1] in '²2' else 'cubed'}"
    return _POWERS[power or None] + spelled(name, british)
