"""Rules for versions and section numbers: v1.2.3, Python 3.11, 4.2.1."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.draft.words import cardinal, digits

_NAMES = (
    "Android|Angular|Bash|Bun|CUDA|Chrome|Claude|Debian|Deno|Django|Docker|Edge|Elixir|Fedora|Firefox|Flask|GPT|Gemini|"
    "Git|Go|Gradle|HTTP|Java|Julia|Kotlin|Kubernetes|Linux|Llama|MariaDB|Mistral|MySQL|Node|Node\\.js|NumPy|OpenSSL|PHP|"
    "Perl|PostgreSQL|Postgres|PyTorch|Python|Qwen|R|Rails|React|Redis|Ruby|Rust|SQLite|Safari|Scala|Swift|TLS|"
    "TensorFlow|TypeScript|Ubuntu|Unity|Vue|Windows|Xcode|iOS|iPadOS|kernel|macOS|npm|pip|pnpm|watchOS"
)
_PRE = r"(?:[-.]?(?P<pre>alpha|beta|rc|dev|post|b|a)[-.]?(?P<pre_number>\d{0,4}))?"

_MARKED = re.compile(rf"{START}[vV]\.?(?P<numbers>\d{{1,6}}(?:\.\d{{1,6}}){{0,5}}){_PRE}{END}(?!\.\d)")
_NAMED = re.compile(
    rf"{START}(?P<name>(?:{_NAMES})[ -]|(?:[Vv]ersions?|[Rr]eleases?|[Ss]ections?|[Cc]hapters?) )"
    rf"(?P<numbers>\d{{1,4}}(?:\.\d{{1,4}}){{1,5}}){_PRE}(?P<plus>\+(?!\w))?{END}(?!\.\d)"
)
_DOTTED = re.compile(
    rf"{NUMBER_START}(?<!\.)(?P<numbers>\d{{1,6}}(?:\.\d{{1,6}}){{2,7}}){_PRE}(?:{NUMBER_END}|(?=-\d))"
)
_V_NUMBER = re.compile(r"[vV]\.?\d")
_POINT = re.compile(r"\d\.\d")
_PRE_NAMES = {"rc": "release candidate", "b": "beta", "a": "alpha"}


def apply(draft: Draft) -> None:
    british = draft.british
    if _V_NUMBER.search(draft.sentence):
        draft.replace(_MARKED, lambda match: f"version {_numbers(match, british)}")
    if not _POINT.search(draft.sentence):
        return
    draft.replace(_NAMED, lambda match: match["name"] + _numbers(match, british) + (" plus" if match["plus"] else ""))
    draft.replace_numbers(_DOTTED, lambda match: _numbers(match, british))


def _numbers(match: re.Match[str], british: bool) -> str:
    said = " point ".join(
        digits(part) if len(part) > 1 and part[0] == "0" else cardinal(int(part), british)
        for part in match["numbers"].split(".")
    )
    if match["pre"]:
        said += f" {_PRE_NAMES.get(match['pre'], match['pre'])}"
        if match["pre_number"]:
            said += f" {cardinal(int(match['pre_number']), british)}"
    return said
