"""Sentence splitting by rules.

Library splitters were rejected: sentencex (maintained, fast) cuts inside tokens ("ASP.NET", "4.2.1."), which would
break words that must be spoken whole; pysbd is compared by `python -m benchmarks.sentence_ends`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from text.locales.english import MONTH_NAMES
from text.locales.tables import words
from text.sentences import abbreviations

_NEEDS_SPACE = ".!?…‼⁇⁈⁉"
_NEEDS_NONE = "。！？｡।॥؟۔።։။"
_CLOSERS = re.escape("\"'”’»›)]}*_」』）】〉》〕］｝")

_END = re.compile(
    rf"(?P<stops>\.(?: \.){{2,5}}(?! ?\.)|[{_NEEDS_SPACE}{_NEEDS_NONE}]+)"
    rf"(?P<closers>(?:[{_CLOSERS}]|\[\d{{1,3}}\])*(?: »(?=\s|$))?)"
)
_AT_END = re.compile(rf"[{_NEEDS_SPACE}{_NEEDS_NONE}][{_CLOSERS}]*\s*$")
_ITEM = re.compile(
    r"(?:^|(?<= )(?<!and )(?<! or )(?<! et )(?<! [eyo] ))(?P<bullet>[•⁃‣] ?|\(?)(?:(?P<nth>\d{1,2}|[ivx]{1,4}|"
    r"[IVX]{1,4}|[a-hA-H])(?P<style>\.?\)|\.) (?=[A-Z](?!\.)|[$£€]|(?<=\) )(?:\w\w|\d))|(?P<circled>[①-⑳]) ?(?=\w))"
)
_SERIES = "abcdefgh", "ABCDEFGH", ("i", "ii", "iii", "iv", "v", "vi"), ("I", "II", "III", "IV", "V", "VI")
_NEXT_WORD = re.compile(r" (?:[^\w\s]{1,8} )?[^\w\s]{0,8}_{0,2}(All-\w{1,9}|[\w\u0900-\u094d]{1,24}(?:['’]\w{1,8})?)")
_LAST_WORDS = re.compile(r"(?:(\S{1,24})[ —])?[\"'“‘(\[{«¿¡*_]*([^\s\"“(\[{«—]+)$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,3}")
_INITIALS = re.compile(r"(?:[\u0900-\u094d\u0958-\u095f]{1,5}\.)+[\u0900-\u094d\u0958-\u095f]{1,5}")
_IN_BRACKETS = re.compile(r"\((?:\d[\d./]{0,5} ?)?\w+\Z")
_ASIDE = re.compile(r" \([^().!?]{1,48}\),? [a-z]")
"""Parenthesis inside a sentence: the 2nd ed. (Oxford, 1987) is."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_QUOTE_GOES_ON = re.compile(r"[、，,]|と|って")

_WAYS = re.compile("[NS]|[NSEW]?(?:[NS][EW]|[EW])")
_ROMAN = re.compile("(?:[ivxl]+|[IVXLC]{2,7}|[VX])(?:[-–][IVXLCivxl]+)?|[IVX]+[-–][IVX]+")
_GOES_ON = re.compile(r" (?![:;]['’]?-?[()DPp])[,;:!?&§¶]")
_OPERATORS = frozenset("=+<>*/×≈")
_SPAN = re.compile(r"\. ?[-–—] ?\d")
_SHORT = re.compile(r"[^\W\d_aeiouyàáâèéêìíòóôùú]{1,3}|[^\W\d_]{1,3}[^\W\d_aeiouyàáâãèéêìíòóôõùú]")
"""Short word that ends with a consonant."""
_BEFORE_WORD = re.compile(r".*(?:['’]|[/-](?=[\u0900-\u097f])|[\u3001-\u9fff\uff08-\uff1f])")
"""Beginnings that are glued to a word: an article (l'art.), a sign in Hindi (45-स्था.), CJK (第3卷vol.)."""
_CUT = re.compile(r"[^\W_aeiouyàáâãèéêìíòóôõùú]{2}(?<!s)$", re.IGNORECASE)
"""End of a word that was cut, in languages whose words seldom end in two consonants: disocc, turist."""
_CUT_HINDI = re.compile("[\u0904-\u0963]{0,4}[\u0915-\u0939\u0958-\u095f]\u094d?")
"""Short word that ends with a consonant, as verbs, which end most sentences, don't."""
_NUMBERED_BOOKS = frozenset(("cor", "thess", "tim", "pet", "sam", "kgs", "chron"))
_LARGER = frozenset(("hr", "hrs", "ft", "lb", "lbs", "min", "mins", "s"))
_SMALLER = re.compile(r"\. \d{1,2}(?:½|¼|¾| ?\d/\d)?[ -]?(?:mins?|secs?|s|in|oz|d)\b")
"""Number of the smaller unit: 1 hr. 15 min., 10s. 6d."""
_ONE = re.compile(r"\. I(?:[,.;:)]|$| (?:of|and|or|to|in|§)\b| (?!was|has|always|perhaps|guess|miss|pass)[a-z]+s\b)")
"""The numeral after an abbreviation: Art. I, Sec. 8; Div. I schools."""
_LABEL = re.compile(r"\. (?:[A-Za-z]\d|[B-HJ-Z](?!\w)|[A-Z]{2,4}(?: |-)?\d)")
_JOINED_UNIT = re.compile(r"\d(?:[\d.,/]|[½¼¾])*-[a-z]{1,4}")
"""Number and unit that describe what follows: a 65-in. OLED."""
_INGREDIENT = re.compile(r"[-•*\[\] ]{0,6}[\d/.–½¼¾⅓⅔⅛ -]{1,12} ?[a-zA-Z]{1,5}")
"""Number and unit with which a line begins: 1 lb. Yukon Gold potatoes."""
_CAPTION = re.compile(r"(?:^|[;:(|,] ?|, [\w'-]{2,12} )[A-Za-z][a-z]{0,6}[b-df-hj-np-tv-z]$")
"""Short word by itself, or after one other, that begins a line or a part of it: Carr. 115; annual precip. 15.6 in."""
_DIGITS_FOLLOW = re.compile(r"\. [(@~$£€+−#]{0,2} ?\d")
_VARIABLE = re.compile(r" ?[b-hj-z]")
_VERSE = re.compile(r"\. \d{1,3}:\d")
_TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof"))
_BEFORE_LETTERS = frozenset(("vitamin", "plan", "grade", "type", "hepatitis", "option", "team", "ave.", "avenue"))
"""Words before a letter that is no initial; after "a" the letters of grades are none either."""
_ROMANCE = frozenset(("es", "fr", "it", "pt"))
"""Languages in which a small letter between two names is an abbreviation as well: Sinner b. Zverev."""
_CITED = re.compile(r"\. (?:[A-Z][a-z]{0,4}\. ){1,3}\d")
"""Rest of a chain of short words before a number: Arist. Eth. Nic. 1094b."""
_SHORT_SENTENCE = 4
"""Spaces before a full stop under which a sentence with a time goes on: At 5 a.m. Mr. Smith went."""

_LOOK_BACK = 48
"""Characters before a full stop that are searched for its word."""


def sentences(text: str, language: str) -> Iterator[str]:
    """Sentences of a sanitised text, in order, without the whitespace between them, none blank.

    The iterator is lazy by paragraph and takes linear time. Words are never cut, except in scripts that put no space
    after a sentence.
    """
    for stretch in stretches(text):
        for item in _items(stretch):
            yield from _split(item, language.partition("-")[0])


def lines_of_sentences(text: str, language: str) -> Iterator[list[str]]:
    """The lines of a sanitised text, wrapped prose being one line, each as its sentences.

    The sentences of a line joined are the line: each ends with the space before the next one.
    """
    for stretch in stretches(text):
        starts: list[int] = []
        found = 0
        for sentence in chain.from_iterable(_split(item, language.partition("-")[0]) for item in _items(stretch)):
            starts.append(stretch.index(sentence, found))
            found = starts[-1] + len(sentence)
        if starts:
            yield [stretch[start:end] for start, end in pairwise([0, *starts[1:], len(stretch)])]


def ends_sentence(text: str) -> bool:
    """True if a text's last sentence is complete: nothing but closing signs follow its full stop."""
    return _AT_END.search(text, max(0, len(text) - _LOOK_BACK)) is not None


def _items(stretch: str) -> Iterator[str]:
    """Items of a list in one line ("1.) The first 2.) The second"); any other stretch comes unchanged."""
    last, starts = (_ITEM.search if ":" in stretch or "?" in stretch else _ITEM.match)(stretch), [0]
    if last and (last.start() == 0 or stretch[last.start() - 2] in ":?"):
        first = last.start()
        for item in _ITEM.finditer(stretch, last.end()):
            alike = item["style"] == last["style"] and item["bullet"] == last["bullet"] and _follows(last, item)
            if alike and (item["style"] == "." or stretch[item.start() - 2] not in ",;"):
                starts += [first, item.start()] if last.start() == first > 0 else [item.start()]
                last = item
    for start, end in pairwise([*starts, len(stretch)]):
        yield stretch[start:end].strip()


def _follows(last: re.Match[str], item: re.Match[str]) -> bool:
    one, other = (each["nth"] or str(ord(each["circled"]) - 0x245F) for each in (last, item))
    return other == str(int(one) + 1) if one.isdecimal() else any((one, other) in pairwise(each) for each in _SERIES)


def sentence_ends(stretch: str, language: str) -> Iterator[int]:
    """Positions in a stretch, which is on one line, at which a sentence ends and another one follows.

    Args:
        language: first part of a language code, such as `en`.
    """
    marker = LIST_MARKER.match(stretch)
    begin = marker.end() if marker and not marker[0][-2].isdecimal() else 0  # 3.5 may be a number, and no heading's
    first_word = _NEXT_WORD.match(" " + stretch[begin : begin + 64])
    casual = first_word is not None and _is_lower(first_word[1])
    for end in _END.finditer(stretch, begin):
        if end.end() < len(stretch) and _ends(stretch, end, language, casual):
            yield end.end()


def _split(stretch: str, language: str) -> Iterator[str]:
    start = 0
    for end in sentence_ends(stretch, language):
        yield stretch[start:end].strip()
        start = end
    if last := stretch[start:].strip():
        yield last


def _ends(stretch: str, end: re.Match[str], language: str, casual: bool) -> bool:
    """True if the stops at `end` end a sentence; `casual` means that the writer begins sentences in lower case."""
    stops, closers = end["stops"], end["closers"]
    position = end.end()
    if any(stop in _NEEDS_NONE for stop in stops):
        return not (closers and _QUOTE_GOES_ON.match(stretch, position))
    if stretch[position] != " ":
        return stops[-1] in "!?" and _CJK.match(stretch, position) is not None
    following = _NEXT_WORD.match(stretch, position)
    if _GOES_ON.match(stretch, position):
        return False
    if following is None:
        return True
    word = following[1]
    goes_on = _is_lower(word)
    operator = stretch[position + 1 : position + 2] in _OPERATORS and stretch[position + 2 : position + 3] == " "
    if operator or (stops == "." and _ASIDE.match(stretch, position)):
        return False
    if stops == "!" and not closers and goes_on and _VARIABLE.fullmatch(stretch, max(0, end.start() - 2), end.start()):
        return False  # n!
    if "!" in stops or "?" in stops:
        return not goes_on or ((casual or len(stops) > 1) and not closers)
    if stops != ".":
        return not goes_on and word.partition("'")[0] != "I"
    alone = language != "en" or _IN_BRACKETS.search(stretch, max(0, end.start() - _LOOK_BACK), end.start())  # (Hons.)
    if (not closers or (closers == ")" and alone)) and _belongs_to_word(stretch, end.start(), word, language):
        return False
    return not goes_on or (casual and not closers)


def _belongs_to_word(stretch: str, stop: int, following: str, language: str) -> bool:
    """True if the full stop at `stop` belongs to an abbreviation, an initial or an ordinal."""
    last = _LAST_WORDS.search(stretch[max(0, stop - _LOOK_BACK) : stop])
    if last is None:
        return False
    before, word = last[1] or "", last[2]
    word = word.replace("–", "-") if word[-2:].lower() != ".m" else word[-3:]  # 1p.m.
    for part in (word.rpartition(".-")[2], word.rpartition("-")[2]):
        if part.lower() in abbreviations.SELDOM_LAST or (part and abbreviations.is_unknown(part)):
            word = part  # "Tues.-Thurs. 4", "3rd-qtr. sales"
    word = word.rpartition("/")[2] if language == "en" else _BEFORE_WORD.sub("", word)
    lower = word.lower()
    goes_on = following[0].islower()
    after_number = before[-1:].isdecimal()
    if not word or (after_number and language in _ROMANCE and word in ("L", "W", "V", "K", "A", "N") and not goes_on):
        return False  # 1,8 L. Color rojo
    following = "1" if following[0] in "½⅓⅔¼¾⅛" or stretch.startswith(("R$", "US$", "S/"), stop + 2) else following
    if word.isdecimal():
        dated = language != "en" and following.lower() in abbreviations.GERMAN_MONTHS
        return goes_on or dated or before.lower() in abbreviations.GERMAN_ARTICLES
    if lower in abbreviations.NEVER_LAST or lower in words(language, "never_last"):
        return True
    if _INITIALS.fullmatch(lower) or _CUT_HINDI.fullmatch(lower):
        return True  # ए.पी.जे. अब्दुल कलाम, टेक्. सहायक
    if language == "en" and abbreviations.has_sense(before, word, following):
        return True
    if (
        following[0].isdecimal()
        or _ROMAN.fullmatch(following)
        or (language == "en" and _ONE.match(stretch, stop))
        or _LABEL.match(stretch, stop)
        or (following in MONTH_NAMES and lower != "no")  # exp. May '26
        or (len(following) == 1 and following not in "ÈÀ" and language != "en")  # no label: È, À are words
    ):
        numbered = abbreviations.before_number(word.rpartition(".-")[2] or word, language)
        if numbered or (lower.lstrip("£0123456789") in _LARGER and _SMALLER.match(stretch, stop)):
            return True
        if following[0].isdecimal() and language == "hi":
            return True  # a Hindi sentence ends with a danda
        cut = language in ("es", "it", "pt") and _CUT.search(word) is not None
        if following[0].isdecimal() and language != "en" and (_SHORT.fullmatch(word) or cut):
            return lower not in words(language, "function_words")
        if after_number and lower in abbreviations.short_months(language):
            return True  # "5 nov. 2024"
    book = lower in _NUMBERED_BOOKS and after_number and following[0].isdecimal()  # 1 Cor. 13
    verse = lower in abbreviations.BIBLE and _VERSE.match(stretch, stop)
    way = _WAYS.fullmatch(following) and (after_number or len(following) > 1)
    if book or verse or way or abbreviations.in_form(f"{before} {word}. {following}", language):
        return True  # "12 mi. NW", "Fed. R. Civ. P."
    unit = lower.rpartition("/")[2]
    measured = after_number or unit != lower or before.lower() in ("fl.", "sq.", "cu.")
    if measured and unit in abbreviations.STOPPED_UNITS and language == "en":
        alone = stretch.startswith("(", stop + 2) or (following.isupper() and len(following) > 1)  # 12 oz. (340 g)
        begin = stretch.rfind(";", 0, stop) + 1
        alone = alone or (stop < begin + 24 and _INGREDIENT.fullmatch(stretch, begin, stop) is not None)
        food = following.lower() in words("en", "ingredients")  # 1 lb. Brussels sprouts
        if food or (alone and following.lower() not in words("en", "sentence_starters")):
            return True  # "2 tbsp. EVOO"
    if lower in ("ft", "min") and not before[-1:].isdecimal():  # "Rihanna ft. Drake", "Min. Android 8"
        return lower == "ft" or following.lower() not in words("en", "sentence_starters")
    if lower.endswith(("a.m", "p.m")) and _SPAN.match(stretch, stop):
        return True  # "9 a.m. - 5 p.m."
    if lower in ("a.m", "p.m") and following.lower() in _TITLES:
        return stretch.count(" ", 0, stop) < _SHORT_SENTENCE
    if (
        language == "en"
        and _DIGITS_FOLLOW.match(stretch, stop)
        and _CAPTION.search(stretch, max(0, stop - _LOOK_BACK), stop)
    ):
        return lower not in words("en", "short_answers")
    if language == "en" and _is_cut(stretch, stop, word, before, following):
        return True
    listed = before[:1].isupper() or before[-1:] in (")", ";", ",")
    if language == "en" and listed and len(word) == 1 and word.islower() and word not in "aio":
        return following[0].isupper() and following.lower() not in words("en", "sentence_starters")
    if lower in abbreviations.LAST_OR_NOT and goes_on:
        return True
    is_name = abbreviations.before_name(word, language, after_number)
    is_name |= (goes_on and abbreviations.is_cut(lower)) or _JOINED_UNIT.fullmatch(word) is not None
    named = word.isupper() or (language in _ROMANCE and before.lstrip('(["“«»*_')[:1].isupper())
    is_initial = len(word) == 1 and named and before.lower() not in _BEFORE_LETTERS
    is_initial &= before.lower() not in ("a", "an") or word not in "ABCDF"
    if is_name or is_initial or _DOTTED.fullmatch(word):
        starters = words(language, "sentence_starters") or words("en", "sentence_starters")
        if language == "en" and word.islower() and len(word) > 1 and following.lower() in words("en", "plain_starters"):
            return False  # wknd. Plan ahead
        if following in ("AND", "OR", "BUT", "FOR", "IN", "AT", "TO", "ON", "OF", "WITH", "BY", "FROM", "UNTIL"):
            return True  # U.S. AND U.K.
        if stretch.startswith(("I-", "I."), stop + 2):
            return True  # nr. I-5, J. I. Lee
        return goes_on or following.lower() not in starters
    return False


def _is_cut(stretch: str, stop: int, word: str, before: str, following: str) -> bool:
    """True for a short word that its place shows to be an abbreviation: q. 9, (avail. 5 a day), Cal. Civ. Code."""
    if len(word) > 5 or word.lower() in words("en", "short_answers"):
        return False
    if following[0].isdecimal():
        letter = len(word) == 1 and word.islower() and word != "i" and before.lower() not in _BEFORE_LETTERS
        look = max(0, stop - _LOOK_BACK)
        letter = letter or (before[-1:] == "." and before.istitle() and word.istitle())
        return letter or stretch.rfind("(", look, stop) > stretch.rfind(")", look, stop)
    stopped = stretch[stop + 2 + len(following) : stop + 3 + len(following)] == "."
    known = following.lower() in abbreviations.ANYWHERE or following in ("No", "Nos", "Op")
    known = known or _CITED.match(stretch, stop) is not None
    return stopped and word.istitle() and following.istitle() and known


def _is_lower(word: str) -> bool:
    """True for a word in lower case throughout, which can't begin a sentence (iPhone can)."""
    return word[0].islower() and not any(map(str.isupper, word))


FENCE = re.compile(r"^(?>(?:>++ ?|[-*+] |\d{1,3}[.)] )*)(?P<fence>`{3,}+|~{3,}+)(?P<info>[^`\n]*)$", re.MULTILINE)


def chunks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a sanitised text between blank lines; a closed fence and the text around it are in one span.

    An opening fence that is never closed is ignored: it must not turn the rest of a text into code.
    """
    blocks = _closed_fences(text)
    block = next(blocks, None)
    start = 0
    while start < len(text):
        end = text.find("\n\n", start)
        while block is not None and block[0] < (end if end >= 0 else len(text)):
            if block[1] > end >= 0:
                end = text.find("\n\n", block[1])
            block = next(blocks, None)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 2


def _closed_fences(text: str) -> Iterator[tuple[int, int]]:
    fences = list(FENCE.finditer(text)) if "```" in text or "~~~" in text else []
    never_closed: dict[str, int] = {}
    place = 0
    while place < len(fences):
        opening = fences[place]["fence"]
        sign, length = opening[0], len(opening)
        if length < never_closed.get(sign, length + 1):
            for later in range(place + 1, len(fences)):
                fence = fences[later]
                if fence["fence"][0] == sign and len(fence["fence"]) >= length and not fence["info"].strip():
                    yield fences[place].start(), fence.end()
                    place = later
                    break
            else:
                never_closed[sign] = length
        place += 1


LIST_MARKER = re.compile(
    r"(?:(?:[•⁃‣] ?)?\d{1,3}\.?\)|[•⁃‣] ?\d{1,3}\.|(?:[a-h]|[ivx]{1,4}|[IVX]{2,4})\.(?= [A-Z])|(?:i|[ivx]{2,4})\.(?= )"
    r"|[-*+•⁃‣◦▪·–—]|\(?(?:\d{1,3}(?:\.\d{1,3})*[.)]|\d{1,3}(?:\.\d{1,3})+|[A-Za-z]\)|[ivxIVX]{2,4}\))) "
)
"""Pattern of a marker that begins a list line or a numbered heading."""

_STAMP = re.compile(
    r"\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d|[A-Z][a-z]{2} \d{1,2} \d\d:\d\d"
    r"|(?:\d{1,3}\.){3}\d{1,3} |(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b)"
)
"""Time or level with which each line of a log or of a chat begins."""

_NARROW = 40
"""Line length in characters under which lines are not wrapped prose: a paragraph of shorter lines is a list, a poem or
an address.
"""

_CARRIES_ON = (",", "،", "、", "，")


def stretches(text: str) -> Iterator[str]:
    """Stretches of a sanitised text between the newlines that end a sentence, each stretch on one line.

    The iterator is lazy by paragraph.
    """
    start = 0
    while start < len(text):
        end = text.find("\n\n", start)
        end = len(text) if end < 0 else end
        yield from _unwrapped(text[start:end].split("\n"))
        start = end + 2


def _unwrapped(lines: list[str]) -> Iterator[str]:
    """Join a paragraph's wrapped lines.

    Wrapping fills lines: a newline was typed by hand if the next line's first word would still have fitted. The longest
    line always looks full, so among several lines it proves wrapping only if a second line is full too.
    """
    lines = [line for line in lines if line]
    longest = max(map(len, lines), default=0)
    full = [
        len(line) + 1 + len(following.partition(" ")[0]) > max(longest, _NARROW) for line, following in pairwise(lines)
    ]
    is_wrapped = sum(full) > 1 or len(full) == 1
    is_list = any(map(LIST_MARKER.match, lines))
    is_log = bool(lines) and _STAMP.match(lines[0]) is not None
    joined = lines[:1]
    for is_full, (previous, line) in zip(full, pairwise(lines), strict=True):
        wrapped = is_full and is_wrapped
        goes_on = previous.endswith(_CARRIES_ON) or (line[0].islower() and (is_list or longest >= _NARROW))
        begins = LIST_MARKER.match(line) or (is_log and _STAMP.match(line))
        if begins or not (wrapped or goes_on):
            yield " ".join(joined)
            joined = []
        joined.append(line)
    if joined:
        yield " ".join(joined)
