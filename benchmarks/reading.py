"""Share of sampled fields, and of shipped cases in other spellings, that are read right.

    python -m benchmarks.reading [--wrong CLASS] [--spelling NAME]

A class's fields are written in many forms (`benchmarks.reading_forms`). A quarter of the forms and three classes are
held out: only their share is printed, so that rules can't be made for them. A shipped case in another spelling
(capitals, brackets, bold, …) is right if it says the words of the case; `CAPITALS_MEAN` lists what capitals mean.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring.report import Table
from benchmarks.reading_forms import HELD_OUT_CLASSES, Written, held_out, written
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

_CASES = Path(__file__).parents[1] / "tests" / "text" / "normalization"
_SETTINGS = Normalization()

SPELLINGS: dict[str, Callable[[str], str]] = {
    "lower case": str.lower,
    "capitals": str.upper,
    "title case": str.title,
    "brackets": lambda text: f"({text})",
    "quotes": lambda text: f"“{text}”",
    "bold": lambda text: f"**{text}**",
    "sentence's end": lambda text: f"We read: {text.rstrip('.')}.",
    "dash": lambda text: f"so—{text}",
}
CAPITALS_MEAN = {
    "a chemical formula, chord or initialism": r"^(?:chemistry|music|initialisms)\t",
    "code, a path, TeX": r"\$[\\A-Za-z]|\\|[#@][A-Za-z]|&\w+;|\w\(|\+\+|--[a-z]| -[a-z]|~/|/\w+\.\w|https?:|\w\.[A-Z]",
    "a word of small and large letters, or glued to digits": r"[a-z][A-Z]|[A-Z]{2}s\b|C-3PO|MP3",
    "a symbol of another meaning": r"⁻|\^|[⁸µπ]|\d[KMB]\b|\b30s|\d [kM]?[KΩ]\b|/s²|\b[a-z] [=><≥]|\d[a-z] [+−]",
    "an abbreviation or name, else a word": r"\b(?:[Ff]t|v|Co)\. ?|\b(?:A\.?D|PO \d)|\b(?:May|Sat)\b|:D|US\b",
    "a Roman numeral that is a word or a letter": r"\b(?:I|III|pp?\. ?[ivx]+|XIV|xiv)\b",
}
"""Patterns of shipped cases (class, tabulator, text) in which capitals carry meaning, by what they are: such a case
need not be read the same in capitals, small letters or title case.
"""
_MEANT = re.compile("|".join(CAPITALS_MEAN.values()))
CASES = ("lower case", "capitals", "title case")
"""Spellings that change the case of letters."""
_FRAMES = {"sentence's end": "We read: {}", "dash": "so {}"}


def words(said: str) -> str:
    """Words in small letters without signs and "and", which readers may leave out."""
    said = re.sub(r"[a-zA-Z](?:\.[a-zA-Z])+\b", lambda letters: " ".join(letters[0].split(".")), said)
    found = re.findall(r"[^\W_]+", said.replace("'", "").replace("’", "").lower())
    return " ".join(word for word in found if word != "and")


def said(text: str, language: str = "en-us") -> str:
    return normalize(sanitize(text), language, _SETTINGS)


def right(case: Written) -> bool:
    heard = words(said(case.text))
    return any(heard == words(each) or heard == words(said(each)) for each in case.accepted)


def shipped() -> list[tuple[str, str, str]]:
    """English cases: class, text and words."""
    rows = [
        line.split("\t") for name in ("golden.tsv", "hard.tsv") for line in (_CASES / name).read_text().splitlines()
    ]
    rows = [row for row in rows if row[1] == "en-us" and "\\n" not in row[2] and "|" not in row[3]]
    return [(row[0] if row[0] != "en-us" else "hard", row[2], row[3]) for row in rows]


def spelled(spelling: str) -> list[tuple[str, str, str]]:
    """Shipped cases that must be read the same in a spelling."""
    return [row for row in shipped() if spelling not in CASES or not _MEANT.search(f"{row[0]}\t{row[1]}")]


def spelled_right(spelling: str, text: str, expected: str) -> bool:
    return words(said(SPELLINGS[spelling](text))) == words(_FRAMES.get(spelling, "{}").format(expected))


def forms(seed: int, each: int) -> Table:
    shown: Counter[str] = Counter()
    shown_right: Counter[str] = Counter()
    apart: Counter[bool] = Counter()
    apart_right: Counter[bool] = Counter()
    for case in written(seed, each):
        if held_out(case.family, case.form):
            new_class = case.family in HELD_OUT_CLASSES
            apart[new_class] += 1
            apart_right[new_class] += right(case)
        else:
            shown[case.family] += 1
            shown_right[case.family] += right(case)
    rows = [
        (family, shown_right[family], shown[family], f"{shown_right[family] / shown[family]:.0%}") for family in shown
    ]
    rows.append(("**all**", shown_right.total(), shown.total(), f"{shown_right.total() / shown.total():.1%}"))
    for new_class, name in ((False, "held-out forms"), (True, "held-out classes")):
        rows.append(
            (name, apart_right[new_class], apart[new_class], f"{apart_right[new_class] / apart[new_class]:.1%}")
        )
    return Table("Sampled fields read right", ("class", "right", "of", "share"), rows)


def spellings() -> Table:
    rows = []
    for name in SPELLINGS:
        cases = spelled(name)
        good = sum(spelled_right(name, text, expected) for _, text, expected in cases)
        rows.append((name, good, len(cases), f"{good / len(cases):.1%}"))
    return Table("Shipped cases in other spellings", ("spelling", "right", "of", "share"), rows)


def main() -> None:
    """Print the tables, or lines that are read wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=400, help="samples of each class")
    parser.add_argument("--wrong", metavar="CLASS", help="print the class's forms that are read wrong, no held-out one")
    parser.add_argument("--spelling", metavar="NAME", help="print the shipped cases that this spelling breaks")
    options = parser.parse_args()
    if options.wrong:
        for case in written(options.seed, options.each):
            if case.family == options.wrong and not held_out(case.family, case.form) and not right(case):
                print(f"{case.text!r} → {said(case.text)!r}, not {case.accepted[0]!r}")
    elif options.spelling:
        broken: dict[str, int] = defaultdict(int)
        for family, text, expected in spelled(options.spelling):
            if not spelled_right(options.spelling, text, expected):
                broken[family] += 1
                print(f"{family}: {SPELLINGS[options.spelling](text)!r} → {said(SPELLINGS[options.spelling](text))!r}")
        print(dict(broken))
    else:
        print(forms(options.seed, options.each).as_markdown(), spellings().as_markdown(), sep="\n\n")


if __name__ == "__main__":
    main()
