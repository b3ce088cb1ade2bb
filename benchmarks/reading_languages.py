"""Share of sampled fields that are read right in languages other than English, in many written forms.

    python -m benchmarks.reading_languages [--wrong LANGUAGE]
    python -m benchmarks.reading_languages --homographs [--wrong LANGUAGE]

As `benchmarks.reading`: a quarter of the forms is held out, and only its share is printed. The expected words are made
from the fields here, by num2words and a few words a language, without the reader's tables.

`--homographs` needs the extras `ja` and `zh`. A line of `tests/text/homographs.*.txt` has a written word in braces with
its reading here and another one, each in signs that have but that reading; the word is read as the one whose line
sounds more like its own.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from num2words import num2words

from benchmarks.measuring.report import Table
from benchmarks.reading import said
from benchmarks.reading_forms import Written, held_out
from text.east_asian import EastAsian

_HOMOGRAPH = re.compile(r"\{(.+?):(.+?)/(.+?)\}")

Draw = Callable[[random.Random, "Language"], tuple[str, str, str]]
"""Sampler of the form's name, the text, and the words."""


@dataclass(frozen=True)
class Language:
    code: str
    numbers: str
    months: str
    short: str
    """Short months."""
    date: str
    first: str
    decimal: str
    point: str
    percent: str
    euros: str
    before: bool
    """A currency's sign may stand before the number."""
    kilometers: str
    celsius: str
    minus: str
    to: str
    women: str
    """A feminine noun in the plural."""
    one_of_them: str
    """Ending of 21 before it."""
    at_least: str

    def n(self, number: int) -> str:
        return str(num2words(number, lang=self.numbers)).replace(",", "")


_LANGUAGES = (
    Language(
        "es",
        "es",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sept oct nov dic",
        "{d} de {m} de {y}",
        "uno",
        ",",
        "coma",
        "por ciento",
        "euros",
        True,
        "kilómetros",
        "grados Celsius",
        "menos",
        "a",
        "casas",
        "veintiuna",
        "mayor o igual que",
    ),
    Language(
        "fr-fr",
        "fr",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv févr mars avr mai juin juil août sept oct nov déc",
        "{d} {m} {y}",
        "premier",
        ",",
        "virgule",
        "pour cent",
        "euros",
        False,
        "kilomètres",
        "degrés Celsius",
        "moins",
        "à",
        "maisons",
        "vingt et une",
        "supérieur ou égal à",
    ),
    Language(
        "it",
        "it",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "gen feb mar apr mag giu lug ago set ott nov dic",
        "{d} {m} {y}",
        "primo",
        ",",
        "virgola",
        "per cento",
        "euro",
        True,
        "chilometri",
        "gradi Celsius",
        "meno",
        "a",
        "case",
        "ventuno",
        "maggiore o uguale a",
    ),
    Language(
        "pt-br",
        "pt_BR",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "jan fev mar abr mai jun jul ago set out nov dez",
        "{d} de {m} de {y}",
        "primeiro",
        ",",
        "vírgula",
        "por cento",
        "euros",
        True,
        "quilômetros",
        "graus Celsius",
        "menos",
        "a",
        "casas",
        "vinte e uma",
        "maior ou igual a",
    ),
)


def _date(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    day, month, year = drawn.randint(1, 28), drawn.randint(1, 12), drawn.randint(1950, 2029)
    months = language.months.split()
    spoken = language.date.format(
        d=language.first if day == 1 else language.n(day), m=months[month - 1], y=language.n(year)
    )
    form = drawn.choice(("d/m/y", "dd/mm/y", "d.m.y", "d-m-y", "y-m-d", "d m. y", "d m y", "D M Y", "d-m-y short"))
    short = language.short.split()[month - 1]
    text = {
        "d/m/y": f"{day}/{month}/{year}",
        "dd/mm/y": f"{day:02}/{month:02}/{year}",
        "d.m.y": f"{day}.{month}.{year}",
        "d-m-y": f"{day}-{month}-{year}",
        "y-m-d": f"{year}-{month:02}-{day:02}",
        "d m. y": f"{day} {short}. {year}",
        "d m y": f"{day} {short} {year}",
        "D M Y": f"{day} {short.upper()} {year}",
        "d-m-y short": f"{day}-{short}-{year}",
    }[form]
    return form, text, spoken


def _grouped(number: int, sign: str) -> str:
    return f"{number:,}".replace(",", sign)


def _money(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    euros = drawn.choice((drawn.randint(2, 20), drawn.randint(22, 30), 1000 * drawn.choice((2, 7, 15, 48, 90)) + 250))
    groups = drawn.choice((".", " ")) if language.code == "fr-fr" else drawn.choice((".", ""))
    shown = _grouped(euros, groups)
    forms = ("n €", "n€", "n EUR", "n,00 €", *(("€ n", "€n", "EUR n") if language.before else ()))
    form = drawn.choice(forms)
    text = form.replace("n,00", f"{shown},00").replace("n", shown)
    return f"{form} {groups}", text, f"{language.n(euros)} {language.euros}"


def _decimal(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    whole, part = drawn.randint(0, 99), drawn.randint(11, 99)
    return f"{whole},{part}", f"{whole},{part}", f"{language.n(whole)} {language.point} {language.n(part)}"


def _percent(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    _, shown, spoken = _decimal(drawn, language)
    minus, gap = drawn.choice(("", "-", "−")), drawn.choice(("", " "))
    name = f"{minus}n{gap}%"
    return name, name.replace("n", shown), f"{language.minus if minus else ''} {spoken} {language.percent}"


def _measure(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    number, last = drawn.randint(2, 20), drawn.randint(22, 30)
    form = drawn.choice(("n km", "nkm", "n KM", "n Km", "n-m km", "n–m km", "n °C", "n°C", "-n °C", "n ºC"))
    spoken = language.n(number)
    if "m km" in form:
        spoken += f"{'' if language.code == 'it' else f' {language.to}'} {language.n(last)}"
    if form[0] == "-":
        spoken = f"{language.minus} {spoken}"
    unit = language.celsius if "C" in form else language.kilometers
    return form, form.replace("n", str(number)).replace("m km", f"{last} km"), f"{spoken} {unit}"


def _agreement(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    form = drawn.choice(("", "un ", "so ", "de "))
    return "21" + form, f"{form}21 {language.women}", f"{form}{language.one_of_them} {language.women}"


def _range(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    first = drawn.randint(2, 15)
    last = first + drawn.randint(1, 5)
    sign = drawn.choice(("-", "–", " – ", "—"))
    spoken = f"{language.n(first)} {language.to} {language.n(last)}"
    return sign, f"{first}{sign}{last}", spoken


def _sign(drawn: random.Random, language: Language) -> tuple[str, str, str]:
    number = drawn.randint(2, 20)
    gap = drawn.choice(("", " "))
    return f"x{gap}≥", f"x{gap}≥{gap}{number}", f"x {language.at_least} {language.n(number)}"


_CLASSES: tuple[tuple[str, Draw], ...] = (
    ("date", _date),
    ("money", _money),
    ("decimal", _decimal),
    ("percent", _percent),
    ("measure", _measure),
    ("agreement", _agreement),
    ("range", _range),
    ("sign", _sign),
)
_FRAMES = ("{}", "({})", "“{}”", "**{}**", "Ana: {}.", "{}, ok")


def written(seed: int, each: int) -> Iterator[tuple[str, Written]]:
    """Samples of every class and language, with the language's code."""
    for language in _LANGUAGES:
        drawn = random.Random(seed)
        for family, draw in _CLASSES:
            for _ in range(each):
                form, text, spoken = draw(drawn, language)
                frame = drawn.choice(_FRAMES)
                name = f"{form} {frame}" if family != "decimal" else frame
                yield language.code, Written(family, name, frame.format(text), (frame.format(spoken),))


def words(text: str, numbers: str) -> str:
    """Words in small letters without signs; digits in words, which espeak-ng reads so."""
    text = re.sub(r"\d+", lambda digits: f" {num2words(int(digits[0]), lang=numbers)} ", text)
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def right(code: str, case: Written) -> bool:
    numbers = next(language.numbers for language in _LANGUAGES if language.code == code)
    return words(said(case.text, code), numbers) == words(case.accepted[0], numbers)


def shares(seed: int, each: int) -> Table:
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for code, case in written(seed, each):
        counts.setdefault(code, Counter())[held_out(case.family, case.form), right(code, case)] += 1

    def share(found: Counter[tuple[bool, bool]], apart: bool) -> str:
        return f"{found[apart, True] / (found[apart, True] + found[apart, False]):.1%}"

    rows = [(code, share(found, False), share(found, True)) for code, found in counts.items()]
    return Table("Sampled fields read right", ("language", "forms", "held-out forms"), rows)


def homographs(code: str) -> tuple[list[str], int]:
    """Lines of ja or cmn whose homograph is read wrong, and how many lines there are."""
    reader = EastAsian(code)

    def sound(text: str) -> str:
        return "".join(word.phonemes for word in reader.words(text))

    def alike(line: str, group: int) -> float:
        heard, meant = (sound(_HOMOGRAPH.sub(rf"\{each}", line)) for each in (1, group))
        return SequenceMatcher(None, heard, meant, autojunk=False).ratio()

    lines = Path(f"tests/text/homographs.{code}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if alike(line, 2) <= alike(line, 3)], len(lines)


def main() -> None:
    """Print the table, or lines that are read wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading_languages", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=200, help="samples of each class and language")
    parser.add_argument("--wrong", metavar="LANGUAGE", help="print the forms that are read wrong, no held-out one")
    parser.add_argument("--homographs", action="store_true", help="Japanese and Mandarin words of several readings")
    asked = parser.parse_args()
    if asked.homographs:
        for code in ("ja", "cmn"):
            wrong, lines = homographs(code)
            print(f"{code}: {lines - len(wrong)} of {lines} right", *wrong * (asked.wrong == code), sep="\n")
        return
    if asked.wrong:
        for code, case in written(asked.seed, asked.each):
            if code == asked.wrong and not held_out(case.family, case.form) and not right(code, case):
                print(f"{case.family}\t{case.text}\t{said(case.text, code)}\t{case.accepted[0]}")
        return
    print(shares(asked.seed, asked.each).as_markdown())


if __name__ == "__main__":
    main()
