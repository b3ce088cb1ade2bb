"""Error rates of the shipped golden cases, by class and language, as Markdown tables.

`python -m benchmarks.pronunciation` in a clone: the cases are those of the tests.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter
from pathlib import Path

from benchmarks.measuring.report import Table
from text.g2p import G2P
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

_CASES = Path(__file__).parents[1] / "tests" / "text"
_FILES = ("golden.tsv", "hard.tsv", "languages.tsv")


def normalisation() -> Table:
    """Cases whose words are exactly the expected ones, by language and class (the file's first column)."""
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for name in _FILES:
        for line in (_CASES / "normalization" / name).read_text().splitlines():
            family, language, text, expected = line.split("\t")
            key = (language, family if family != language else "all classes")
            total[key] += 1
            said = normalize(sanitize(text.replace("\\n", "\n")), language, Normalization())
            right[key] += said.replace("\n", " | ") == expected
    rows = [(*key, right[key], total[key]) for key in sorted(total)]
    return Table("Normalisation", ("language", "class", "right", "of"), rows)


def error_rates() -> Table:
    """Share of `normalisation`'s cases that are read wrong and their number, a row for each class, a column for each
    language; a class's cell is empty where its language has no case. The last row is of all classes together.
    """
    cases = {(str(row[0]), str(row[1])): (int(str(row[2])), int(str(row[3]))) for row in normalisation().rows}
    languages = sorted({language for language, _ in cases})
    for language in languages:
        parts = [counts for (code, _), counts in cases.items() if code == language]
        cases[language, "**all**"] = sum(right for right, _ in parts), sum(total for _, total in parts)
    classes = sorted({family for _, family in cases}, key=lambda family: (family == "**all**", family))
    rows = [(family, *(_rate(*cases.get((code, family), (0, 0))) for code in languages)) for family in classes]
    return Table("Cases of normalisation that are read wrong", ("class", *languages), rows)


def _rate(right: int, total: int) -> str:
    return f"{1 - right / total:.0%} of {total}" if total else ""


def homographs() -> Table:
    """Sentences with one homograph each: whether its phonemes are the expected ones, by the file's set."""
    g2p = G2P()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with (_CASES / "homographs.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            said = {
                re.sub(r"\W+$", "", word.phonemes)
                for word in g2p.words(row["sentence"], "en-us")
                if re.sub(r"\W", "", word.text).lower() == row["word"].lower()
            }
            total[row["set"]] += 1
            right[row["set"]] += said == {row["phonemes"]}
    return Table("English homographs", ("set", "right", "of"), [(name, right[name], total[name]) for name in total])


def main() -> None:
    """Print the tables."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(error_rates().as_markdown(), homographs().as_markdown(), sep="\n\n")


if __name__ == "__main__":
    main()
