"""Rules for code in prose: options of commands, calls, operators, short JSON."""

from __future__ import annotations

import re

from text.normalization.draft.draft import START, Draft
from text.normalization.draft.words import cardinal

_COMMAND = re.compile(
    r"\b(?:git|npm|npx|pip|python3?|node|docker|kubectl|cargo|go|make|curl|wget|ssh|scp|tar|ls|cd|rm|cp|mv|mkdir|chmod|grep|find|sudo|apt|"
    r"brew|yarn|pnpm|uv|bash|cat|echo|sed|awk|ps|kill|systemctl|option|flag|switch|run|command|use|pass)\b",
    re.IGNORECASE,
)
_DASHED = re.compile(r"\s-")
_OPTION = re.compile(r"(?<=\s)(?P<dashes>--?)(?P<name>[a-zA-Z][\w]{0,20}(?:-\w{1,20}){0,4})(?P<value>=)?(?![\w-])")
_SHORT = re.compile(r"[a-z]{1,4}")
_CALL = re.compile(rf"{START}(?P<name>[A-Za-z_]\w{{0,30}}(?:\.[A-Za-z_]\w{{0,30}}){{0,3}})\(\)")
_CREMENT = re.compile(rf"{START}(?P<name>[a-z])(?P<sign>\+\+|--)(?=[\s;,.)]|$)")
_JSON = re.compile(r"\{(?P<pairs>\"[\w -]{1,30}\": ?[^{}\[\]]{1,60})\}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+")


def apply(draft: Draft) -> None:
    british = draft.british
    if draft.has("-") and _DASHED.search(draft.sentence) and _COMMAND.search(draft.sentence):
        draft.replace(_OPTION, _option)
    if draft.has("{"):
        draft.replace(_JSON, lambda match: _json(match, british))
    if "()" in draft.sentence:
        draft.replace(_CALL, lambda match: " dot ".join(_words(part) for part in match["name"].split(".")))
    if "++" in draft.sentence or "--" in draft.sentence:
        draft.replace(
            _CREMENT, lambda match: f"{match['name']} {'plus plus' if match['sign'] == '++' else 'minus minus'}"
        )


def _words(name: str) -> str:
    return " ".join(_HUMP.sub(" ", name).split())


def _option(match: re.Match[str]) -> str:
    name = match["name"]
    spelled = match["dashes"] == "-" and _SHORT.fullmatch(name)
    said = " ".join(name) if spelled else name.replace("-", " ").replace("_", " ")
    return f"{'dash dash' if match['dashes'] == '--' else 'dash'} {said}" + (" equals " if match["value"] else "")


def _json(match: re.Match[str], british: bool) -> str:
    pairs = match["pairs"].replace('"', "")
    pairs = re.sub(r" ?: ?", ": ", pairs)
    return re.sub(r"(?<=: )\d{1,15}(?![\w.])", lambda digits: cardinal(int(digits[0]), british), pairs)
