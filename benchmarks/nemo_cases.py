"""Share of NeMo's public English cases that are read right.

    python -m benchmarks.nemo_cases FOLDER [--wrong]

FOLDER is `tests/nemo_text_processing/en/data_text_normalization` of a checkout of NVIDIA/NeMo-text-processing (Apache
2.0); the source distributions on PyPI leave these files out. A line is a text and its words with "~" between them, or
begins with "~", and lines with the words of each good reading follow.
Words are compared without case, punctuation, spaces and the words that readers choose freely (and, the, of, plus, …).
Digits that are left to the engine count as it says them: four digits from 1100 to 2099 as a year, others as a cardinal.
The beginning of an address (http colon slash slash www dot) and its dashes are left out on both sides.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from benchmarks.measuring.report import Table
from benchmarks.reading import said
from text.normalization.number_words import number, year

_FREE = frozenset(("and", "the", "of", "to", "plus", "dash", "is", "does"))
_SAME = {"oh": "zero", "doctor": "dr", "misses": "missus", "miz": "ms"}
_BEGINNING = re.compile(r"\b(?:https?|file) colon (?:slash )+|\bwww dot ")
_YEARS = range(1100, 2100)


def words(text: str) -> str:
    """Letters of a text's words, for a comparison."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower().replace("’", "'"))
    text = re.sub(r"\d+(?:\.\d+)?", lambda digits: f" {_number(digits[0])} ", text)
    text = re.sub(r"\b(?:[a-z]\.)+[a-z]?\b", lambda letters: letters[0].replace(".", ""), text)
    text = _BEGINNING.sub("", text)
    found = (_SAME.get(word, word) for word in re.sub("[^a-z']+", " ", text).split())
    return "".join(word for word in found if word not in _FREE)


def _number(digits: str) -> str:
    if digits.isdecimal() and len(digits) == 4 and int(digits) in _YEARS:
        return year(int(digits), False)
    return number(digits, False)


def _cases(path: Path) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in filter(str.strip, path.read_text().splitlines()):
        text, mark, reading = line.partition("~")
        if text and not mark:
            found[-1][1].append(line)
        else:
            found.append((text, [reading]) if text or not reading else (reading.lstrip("~"), []))
    return found


def main() -> None:
    """Print the share of each file, or the cases that are read otherwise."""
    parser = argparse.ArgumentParser(prog="benchmarks.nemo_cases", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", action="store_true", help="print cases that are read otherwise")
    options = parser.parse_args()
    rows = []
    for path in sorted(options.folder.glob("*.txt")):
        cases = _cases(path)
        wrong = [(text, good) for text, good in cases if words(said(text)) not in map(words, good)]
        rows.append((path.stem.removeprefix("test_cases_"), len(cases) - len(wrong), len(cases)))
        for text, good in wrong if options.wrong else ():
            print(f"{text!r} → {said(text)!r}, not {' or '.join(map(repr, good))}")
    rows.append(("**all**", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    print(Table("NeMo's English cases read right", ("class", "right", "of"), rows).as_markdown())


if __name__ == "__main__":
    main()
