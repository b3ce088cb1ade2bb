"""Layout around a pasted text's words: subtitle times, stack frames, JSON, patches, BBCode, wiki marks, page numbers.

These become spaces, so that each word keeps its place in the text. Patterns are bounded or possessive: linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from xml.etree import ElementTree

from text.locales.tables import table, words
from text.normalization.draft import Replacement

FILLER = "\ufdd1"
"""Stands for a sign that is left out without a space; a noncharacter, which sanitised text never contains."""


def _one_of(rows: str, form: str = "{}") -> re.Pattern[str]:
    return re.compile(form.format("|".join(table("all", "layout")[rows].values())), re.MULTILINE)


_UNFILLED = re.compile(f"[^{FILLER}]+")
_INK = re.compile(r"[^\n]")

_TIME = r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_CUE = re.compile(
    rf"(?:^\d{{1,6}}\n|(?<=\n\n)\S{{1,40}}\n)?^{_TIME}(?: --> |,(?=\d+:\d\d:)){_TIME}"
    r"(?:[ \t]{1,9}\w{1,12}:\S{1,40}){0,6}[ \t]*+\n?",
    re.MULTILINE,
)
_BARE_TIMES = re.compile(r"^\[?(?:\d{1,2}:)?\d{1,2}:\d{2}\]?$\n?", re.MULTILINE)
"""Time on a line of its own: a transcript's, if the first one is a few seconds after the beginning."""
_FROM_ZERO = re.compile(r"\[?(?:0?0:)?0?0:\d{2}\b")
_CAPTIONS = _one_of("captions")
_LYRICS = _one_of("lyrics")
"""Time before a line of a song, and facts of its file."""
_SPEAKER = re.compile(r"^[-–] (?=\S)|</?(?:[vciub]|lang|ruby)\b[^<>\n]{0,80}>", re.MULTILINE)
_BREAK = re.compile(r"\n+")

_BBCODE_NAMES = (
    "b|i|u|s|url|img|quote|code|colou?r|size|font|center|left|right|list|li|spoiler|email|youtube|table|tr|td|su[bp]|hr"
)
_BBCODE = re.compile(
    rf"\[img(?:=[^\]\n]{{1,40}}+)?\][^\s\[\]]{{1,300}}\[/img\]|\[/?(?:{_BBCODE_NAMES})(?:=[^\]\n]{{1,200}}+)?\]|\[\*\]",
    re.IGNORECASE | re.MULTILINE,
)
_PART_OF_BBCODE = re.compile(r"\[(?:\*|/?(?:quote|list|center|table|tr|li)\b)", re.IGNORECASE)
_CLOSED = re.compile(rf"\[/(?:{_BBCODE_NAMES})\]", re.IGNORECASE)

_WIKI = _one_of("wiki")

_WIKI_TABLE = re.compile(r"^\{\|[^\n]{0,200}\n(?:[!|][^\n]{0,2000}\n){1,200}\|\}$", re.MULTILINE)
_WIKI_CELL = re.compile(
    r"^(?:\{\||\|[-}])[^\n]*+|^(?:[!|] ?(?:[^|!\n]{1,80}(?<!\|)\|(?!\|) ?)?)| ?(?:!!|\|\|)", re.MULTILINE
)
_WIKI_ITEM = re.compile(r"^[*#]{2,6} ?(?=[^\s*#])", re.MULTILINE)
_BORDER = re.compile(r"^\+(?:[-=]{2,200}\+){1,40}$\n?", re.MULTILINE)
"""Line of signs in a table of signs, as database shells print them."""

_GOES_ON = r"(?:(?<=[^\W\dA-Z])\n{1,2}|(?<=,)\n{1,2}|^)"
_PAGE = re.compile(
    rf"{_GOES_ON}(?:(?P<rule>[-–—~*]) ?\d{{1,4}} ?(?P=rule)|(?:[Pp]age|PAGE|Pg\.) \d{{1,4}}(?: of | ?/ ?)\d{{1,4}})$"
    r"(?:\n(?=[a-z]))?"
    r"|(?<=[^\n]{24}[a-z,])\n{1,2}\d{1,4}\n{1,2}(?=[a-z][^\n]{11})"
    r"|(?:(?<=\n\n)|\A)(?:[Pp]age|PAGE|pg?\.) \d{1,4}(?: of \d{1,4}| ?/ ?\d{1,4})?(?=\n\n|\Z)",
    re.MULTILINE,
)

_TITLE = r"[A-Z][^\d\n]{4,60}[^\W\d]"
_HEAD = re.compile(
    rf"{_GOES_ON}(?:(?P<left>\d{{1,4}})\s{{1,2}}(?P<verso>{_TITLE})|(?P<recto>{_TITLE})\s{{1,2}}(?P<right>\d{{1,4}}))$"
    r"(?:\n{1,2}(?=[a-z]))?",
    re.MULTILINE,
)
"""Title with a page's number on its line or beside it."""

_NOTES = _one_of("notes")

_SOURCE = re.compile(r"[.,;:!?”\"')]\[(?:\d{1,3}|[a-h])\]")
_SOURCE_OF_WORD = re.compile(r"(?<=[^\W_]{3})(?:\[(?:[a-h]|[1-9]\d{0,2})\])+(?=[\s.,;:!?]|$)")
"""A source's number after a word, which is an index in a text that has none after punctuation."""

_FACE = _one_of("faces")
_NICK, _NICK_SIGNS = _one_of("chats"), str.maketrans("<@+%~", "     ")

_FRAMES = _one_of("frames", r"^[ \t]*(?:{})$")
_TRACED = _one_of("errors", "^(?:{})")
"""Beside one of these a single frame is one."""
_FEWEST_FRAMES = 2

_JSON = re.compile(r'(?:(?<=\s)|^)[{\[](?=\s*["\[{])', re.MULTILINE)
_IN_JSON = re.compile(r'"((?>(?:[^"\\]|\\.)*))"|[{}\[\]]')
_MOST_JSON = 8
"""Values of JSON in a text that are looked at, so that the time stays linear."""

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_PATCH = re.compile(r"^(?:@@ [^@\n]{1,60} @@|diff --git |index [0-9a-f]{6}|(?:---|\+\+\+) \S)[^\n]*+", re.MULTILINE)
_REMOVED = re.compile(r"^-(?=[ \t]*\S)", re.MULTILINE)

_WESTERN_MARK = re.compile(
    r"[,:;!?](?:(?<=[\u3040-\u30ff\u4e00-\u9fff].)|(?<=[）].))(?=\S)|,(?<=\d,)(?=[\u3040-\u30ff\u4e00-\u9fff])"
)
"""Mark beside an ideograph, which belongs to no number: 周五,15:30."""
_WIDE_MARKS = str.maketrans(",:;!?", "，：；！？")

_HYPHEN = re.compile(r"(?<!\w)(?P<start>[^\W\d_]{2,20})(?P<hyphen>-)(?P<end>\n)(?=[^\W\d_]{2})")

_SMALL_CAPITALS = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz")
_IN_SMALL_CAPITALS = re.compile(r"\b[sxʙɢʜɪʟɴʀʏ]{0,12}[ᴀᴄᴅᴇꜰᴊᴋᴍᴏᴘꞯꜱᴛᴜᴠᴡᴢ][\w]{0,40}")
"""Words with a small capital that is no letter of IPA, as ɪ and ʀ are."""

_NEEDED = re.compile(
    r'^(?:[ \t]*(?:File "|at \S|from \S+:\d|#\d+ \S+\(|goroutine \d|\d+: )|==|[-–—~*] ?\d|\d{1,4}$|<)'
    r"|^(?:[Pp]age|PAGE|[Pp]g?\.) \d|^(?:\$|[\w.-]{1,40}@\S{1,160}[$#]) |^\d+:\d\d:\d\d\.\d{3},"
    r"|\A\[?0?0:|[^\W\d]- [^\W\d]|(?<!\w)[‘’'][tTbBnr]|[-–]\n[\dA-Z]|\d [+-]\d{4}\b"
    r"|[ᴀᴄᴅᴇꜰᴊᴋᴍᴏᴘꞯꜱᴛᴜᴠᴡᴢ⁰¹²³⁴-⁹†‡\]°□ツ益◕‿ω^•ᴥಠ_＿ʕ┻┬]|-->|''|[xX:]D|:[+\w-]{1,24}:|\\o/",
    re.MULTILINE,
)


def cleared(text: str) -> str:
    """A sanitised text of the same length, in which layout's signs are spaces or fillers."""
    text = _WESTERN_MARK.sub(lambda mark: mark[0].translate(_WIDE_MARKS), text)
    head = _HEAD.search if "\n" in text else _HEAD.match
    if not ("{" in text or "@@ -" in text or "\n+-" in text or _NEEDED.search(text) or head(text)):
        return text
    text = _IN_SMALL_CAPITALS.sub(lambda word: word[0].translate(_SMALL_CAPITALS), text)
    frames = len(_FRAMES.findall(text))
    if frames >= _FEWEST_FRAMES or (frames and _TRACED.search(text)):
        text = _FRAMES.sub(_blank, text)
    if _FROM_ZERO.match(text) and len(_BARE_TIMES.findall(text)) > 2:
        text = _BREAK.sub(_flat, _BARE_TIMES.sub(_blank, text))
    text = _without_times(text)
    if len(_LYRICS.findall(text)) > 1:
        text = _LYRICS.sub(_gone, text)
    if '"' in text and ("{" in text or "[" in text):
        text = _without_braces(text)
    if _HUNK.search(text):
        text = _REMOVED.sub("−", _PATCH.sub(_blank, text))
    if _CLOSED.search(text):
        text = _BBCODE.sub(_unbracketed, text)
    if "{|" in text:
        text = _WIKI_TABLE.sub(_row_by_row, text)
    if "[[" in text or "\n==" in text:
        text = _WIKI_ITEM.sub(lambda mark: "- ".ljust(len(mark[0]), FILLER), text)
    text = _WIKI.sub(_unmarked, text)
    if "+-" in text or "+=" in text:
        text = _piped(text)
    if _SOURCE.search(text):
        text = _SOURCE_OF_WORD.sub(_gone, text)
    text = _NOTES.sub(_gone, _FACE.sub(_blank, text))
    if "<" in text:
        text = _NICK.sub(lambda nick: nick[0].translate(_NICK_SIGNS).replace("> ", ": "), text)
    alone = _PAGE.fullmatch(text)
    return _without_heads(text.replace(alone["rule"] or " ", " ") if alone else _PAGE.sub(_flat, text))


def _blank(match: re.Match[str]) -> str:
    return _INK.sub(" ", match[0])


def _flat(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _gone(match: re.Match[str]) -> str:
    return FILLER * len(match[0])


def _unbracketed(match: re.Match[str]) -> str:
    """Blank for a mark of BBCode; an item and a block begin a paragraph."""
    return "\n\n".ljust(len(match[0]), FILLER) if _PART_OF_BBCODE.match(match[0]) else _gone(match)


def _unmarked(match: re.Match[str]) -> str:
    """A wiki's heading, link or emphasis without its signs."""
    name = match.lastgroup
    if name is None:
        return _gone(match)
    before, after = match.start(name) - match.start(), match.end() - match.end(name)
    return FILLER * before + match[name] + ("\n\n".ljust(after, FILLER) if name == "inline" else FILLER * after)


def _row_by_row(match: re.Match[str]) -> str:
    """A wiki's table as a line for each row, with commas between cells."""
    return _WIKI_CELL.sub(
        lambda mark: (", " if mark[0].strip() in ("!!", "||") else "").rjust(len(mark[0]), FILLER), match[0]
    )


def _piped(text: str) -> str:
    """Tables of signs as those of Markdown: the border under the headings parts them, the others are blank."""
    place = 0

    def border(match: re.Match[str]) -> str:
        nonlocal place
        under = text[place : match.start()].count("\n") == 1 and text.startswith("|", match.end())
        place = match.end()
        return match[0].replace("+", "|").replace("=", "-") if under else _gone_line(match[0])

    return _BORDER.sub(border, text)


def _gone_line(line: str) -> str:
    return FILLER * len(line.rstrip("\n")) + "\n" * line.endswith("\n")


def _without_times(text: str) -> str:
    """Subtitles without times and numbers, whose cues follow each other as the lines of a paragraph do."""
    if not _CUE.search(text):
        return text
    text = _SPEAKER.sub(_gone, _CUE.sub(_blank, _CAPTIONS.sub(_blank, text)))
    return _BREAK.sub(_flat, text)


def _without_braces(text: str) -> str:
    """JSON as names and values; its strings keep what they hold."""
    place = 0
    for _ in range(_MOST_JSON):
        found = _JSON.search(text, place)
        if found is None:
            break
        place = found.end()
        try:
            value, end = json.JSONDecoder().raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if value and (isinstance(value, dict) or "{" in text[found.start() : end]):
            bare = _IN_JSON.sub(_unquoted, text[found.start() : end])
            text, place = text[: found.start()] + bare + text[end:], end
    return text


def _unquoted(match: re.Match[str]) -> str:
    return FILLER if match[1] is None else f"{FILLER}{match[1]}{FILLER}"


def _without_heads(text: str) -> str:
    """Pages without their running heads: titles that come back with rising numbers, and once inside a sentence."""
    found: dict[str | None, list[re.Match[str]]] = {}
    for line in _HEAD.finditer(text):
        found.setdefault(line["verso"] or line["recto"], []).append(line)
    for lines in found.values():
        numbers = [int(line["left"] or line["right"]) for line in lines]
        inside = any(line[0][0] == line[0][-1] == "\n" for line in lines)
        if inside and len(lines) > 1 and numbers == sorted(set(numbers)):
            for line in lines:
                text = text[: line.start()] + _flat(line) + text[line.end() :]
    return text


def without_fillers(pieces: Iterable[Replacement]) -> Iterator[Replacement]:
    for piece in pieces:
        if not piece.verbatim or FILLER not in piece.said:
            yield piece._replace(said=piece.said.replace(FILLER, ""))
            continue
        for run in _UNFILLED.finditer(piece.said):
            start, end = run.span()
            yield Replacement(piece.start + start, piece.start + end, run[0], verbatim=True)


def joined(text: str) -> list[Replacement] | None:
    """Pieces of a text whose words go on after hyphens at lines' ends; None if there is no such word."""
    pieces: list[Replacement] = []
    end = 0
    for match in _HYPHEN.finditer(text) if "-\n" in text else ():
        following = text[match.end()]
        if following.islower():
            stop = match.end("hyphen") if keeps_hyphen(match) else match.start("hyphen")
            pieces.append(Replacement.kept(text, end, stop))
            end = match.end()
    return [*pieces, Replacement.kept(text, end, len(text))] if pieces else None


def keeps_hyphen(match: re.Match[str]) -> bool:
    """True if the hyphen after a word (`start`) belongs to a compound (well-known) rather than to the line's end."""
    joined = match.string[max(0, match.start() - 1) : match.start()] == "-"
    part = match.string[match.end() : match.end() + 5].partition("-")
    return joined or bool(part[1]) or match["start"].lower() in words("en", "hyphenated")


# MathML as TeX, which the rule for TeX reads.

_MATH = re.compile(r"<math\b[^<>]{0,300}>(?:[^<]|<(?!/?math\b)){1,4000}</math>")
_TAG = re.compile(r"<[^<>]{0,300}>")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)#?\w{2,32};")
_TABLE: dict[str, dict[str, str]] = table("en", "tex")
_TEX, _SIGNS = _TABLE["mathml"], _TABLE["mathml_signs"]


def mathml_as_tex(text: str, with_tex: bool) -> str:
    """A text of the same length, in which each formula is TeX between dollar signs and fillers."""
    return _MATH.sub(lambda match: _fitted(match[0], with_tex), text)


def _fitted(math: str, with_tex: bool) -> str:
    tex = _tex_of(math) if with_tex else ""
    return _TAG.sub(_gone, math) if not tex or len(tex) + 2 > len(math) else f"${tex}$".ljust(len(math), FILLER)


def _tex_of(math: str) -> str:
    """TeX of a formula; "" if it is no XML."""
    try:
        root = ElementTree.fromstring(_ENTITY.sub(lambda entity: unescape(entity[0]), math))
    except ElementTree.ParseError:
        return ""
    for element in root.iter():
        if _name(element) == "annotation" and "tex" in element.get("encoding", ""):
            return " ".join((element.text or "").split())
    return " ".join(_said(root).split())


def _said(element: ElementTree.Element) -> str:
    parts = [_said(child) for child in element if _name(child) not in ("annotation", "annotation-xml")]
    name = _name(element).removeprefix("m")
    if name == "sqrt":
        parts = ["".join(parts)]
    form = _TEX.get(name)
    if form and len(parts) == max(form.count("{}"), 1 + ("{1}" in form)):
        return form.format(*parts)
    if name == "table":
        return "\\begin{matrix}" + "\\\\".join(parts) + "\\end{matrix}"
    if name == "tr":
        return "&".join(parts)
    if name == "fenced":
        return f"({','.join(parts)})"
    text = "".join(_SIGNS.get(sign, sign) for sign in (element.text or "").strip())
    return text + "".join(parts)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
