"""Milliseconds that a sentence's normalisation and pronunciation take, by language, first and from the cache."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from unittest import mock

import numpy as np

from benchmarks.measuring.options import Options
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from text.east_asian import missing
from text.english.tagger import spacy_model, tagger_name
from text.espeak import espeak
from text.espeak.espeak_g2p import EspeakG2P
from text.g2p import G2P
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization

_TARGET = 1.0
"""Milliseconds of an English sentence's pronunciation, at the median."""

SENTENCES: Mapping[str, Sequence[str]] = {
    "en-us": (
        "The old lighthouse keeper climbed the narrow stairs every evening, carrying a lamp and a flask of tea.",
        "In 1998 Dr. Nguyen paid $1,250.75 for 3 kg of Kubernetes stickers, and nobody knew why.",
        "I think that he knows that man, who used to live near the harbour.",
        "By eight o'clock the square smelled of salt, bread and wet rope, and nobody remembered the storm.",
    ),
    "es": ("El 21/11/2026 llegó el Sr. García con 1.250,75 € y tres amigos de la escuela.",),
    "fr-fr": ("Les enfants ont vu M. Dupont à 14h30, et ils lui ont donné 3,50 € pour ses amis.",),
    "it": ("Gli amici della Dott.ssa Bianchi sono arrivati alle 14:30 con 20 euro e una torta.",),
    "pt-br": ("O Sr. Silva pagou R$ 1.250,75 às 14h30 e foi para a casa do avô.",),
    "hi": ("यह किताब उसने मुझे कल ₹1,250 में दी थी, लेकिन मैंने अभी तक नहीं पढ़ी।",),
    "ja": ("4月8日7時に東京で会いましょう。",),
    "cmn": ("下午2:30我们在北京见面，一共1,250元。",),
}


def run(options: Options) -> Report:
    """Measure each language that can be read here; the English row of spaCy only where its model is installed."""
    rounds = options.count(50)
    rows: list[list[Cell]] = []
    medians: dict[str, float] = {}
    for language, sentences in SENTENCES.items():
        if language in ("ja", "cmn") and missing(language):
            continue
        normalised = _timed(partial(normalize, language=language, settings=Normalization()), sentences, rounds)
        said = [normalize(text, language, Normalization()) for text in sentences]
        uncached, cached = G2P(cache_bytes=0), G2P()
        for g2p in (uncached, cached):
            for text in said:
                g2p.words(text, language)
        first = _timed(partial(uncached.words, language=language), said, rounds)
        again = _timed(partial(cached.words, language=language), said, rounds)
        medians[language] = float(np.median(first))
        rows.append([language, *_figures(normalised), *_figures(first), *_figures(again)])
        options.say(f"g2p: {language}")
    alone, texts = EspeakG2P("en-us"), [normalize(text, "en-us", Normalization()) for text in SENTENCES["en-us"]]
    rows.append(["espeak-ng alone, en-us", None, None, *_figures(_timed(alone.words, texts, rounds)), None, None])
    ours = [word.phonemes for text in texts for word in G2P().words(text, "en-us")]
    theirs = [word.phonemes for text in texts for word in alone.words(text)]
    otherwise = sum(_letters(one) != _letters(other) for one, other in zip(ours, theirs, strict=True))
    if spacy_model() and (reference := _misaki()):
        said = [normalize(text, "en-us", Normalization()) for text in SENTENCES["en-us"]]
        rows.append(["misaki with spaCy, en-us", None, None, *_figures(_timed(reference, said, rounds)), None, None])
    columns = ("language", "normalise p50", "p99", "pronounce p50", "p99", "cached p50", "p99")
    verdict = Verdict(
        f"an English sentence is pronounced within {_TARGET} ms at the median",
        f"{medians['en-us']:.2f} ms",
        medians["en-us"] <= _TARGET,
    )
    return Report(
        "g2p",
        f"misaki, espeak-ng {espeak.version()}, tagger {tagger_name()}",
        [
            Table("Milliseconds a sentence", columns, rows),
            Table(
                "English words that espeak-ng alone says otherwise", ("words", "otherwise"), [[len(ours), otherwise]]
            ),
        ],
        [verdict],
    )


def _timed(do: Callable[[str], object], texts: Sequence[str], rounds: int) -> list[float]:
    taken: list[float] = []
    for _ in range(rounds):
        for text in texts:
            begun = time.perf_counter()
            do(text)
            taken.append(1000 * (time.perf_counter() - begun))
    return taken


def _letters(phonemes: str) -> str:
    """The phonemes without stress and signs."""
    return "".join(filter(str.isalpha, phonemes.replace("ˈ", "").replace("ˌ", "")))


def _figures(taken: Sequence[float]) -> tuple[float, float]:
    return float(np.percentile(taken, 50)), float(np.percentile(taken, 99))


def _misaki() -> Callable[[str], object] | None:
    """misaki's own English G2P with spaCy's tagger. It asks for `en_core_web_sm`, and gets the installed model."""
    if not (model := spacy_model()):
        return None
    import spacy

    with (
        mock.patch.object(spacy.util, "is_package", return_value=True),
        mock.patch.object(spacy, "load", lambda _, **options: importlib.import_module(model).load(**options)),
    ):
        g2p: Callable[[str], object] = importlib.import_module("misaki.en").G2P(trf=False, british=False, fallback=None)
    return g2p
