"""The rows of the table: each asks the model for something, and measures what came of it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from unittest.mock import patch

import numpy as np

from benchmarks.inflections import rules
from benchmarks.inflections.sounds import climb, last_pitch, level, seconds, semitones, squeezed, widened
from benchmarks.inflections.speaking import LANGUAGES, VOICES, Bench, Heard
from benchmarks.measuring.evaluation.sentences import answers, hard_texts, middling, questions
from benchmarks.measuring.hearing.words import spoken_words
from benchmarks.measuring.report import Verdict
from benchmarks.quality.pitch import pitches
from shm.audio import Pcm
from shm.inflection import InflectedSpan, Inflection
from text.markup.inflections import EMPHASES
from text.words.segment import Segment
from worker.engine import Utterance
from worker.engines.espeak import EspeakEngine
from worker.split import speech
from worker.split.inflections import inflected

Got = Callable[[Pcm, Pcm], float]
"""A figure of the plain sound and the inflected one."""


def pitch(bench: Bench) -> Iterator[Verdict]:
    """A sentence's pitch, shifted by 2 and 4 semitones."""
    asked = (-4.0, -2.0, 2.0, 4.0)
    errors: defaultdict[float, list[float]] = defaultdict(list)
    plain, heard = Heard(), {each: Heard() for each in asked}
    for text, name, segment in bench.texts():
        own = bench.speaker.say(segment.script, name)
        bench.listeners.hear(text, own, plain)
        for shift in asked:
            changed = bench.speaker.said_so(segment.script, name, Inflection(pitch=shift))
            errors[shift].append(semitones(own, changed) - shift)
            bench.listeners.hear(text, changed, heard[shift])
    for shift in asked:
        error = median(errors[shift])
        yield Verdict(f"pitch {shift:+g} st: within 0.4 st", f"{error:+.2f} st off", abs(error) <= 0.4)
        if bench.listeners.there:
            yield _as_well_heard(f"pitch {shift:+g} st", plain, heard[shift], 0.5, -0.10)


def _as_well_heard(name: str, plain: Heard, changed: Heard, most_points: float, least_opinion: float) -> Verdict:
    points, opinion = changed.against(plain)
    return Verdict(
        f"{name}: word errors <= {most_points:+g} points, DNSMOS P.808 >= {least_opinion:+g}",
        f"{points:+.2f} points ({plain.errors} to {changed.errors} of {plain.words}), {opinion:+.3f} "
        f"({np.mean(plain.opinions):.2f})",
        points <= most_points and opinion >= least_opinion,
    )


def values(bench: Bench) -> Iterator[Verdict]:
    """Range, contour, volume, rate and duration of a sentence."""
    ramp = Inflection(contour=((0.0, -2.0), (1.0, 4.0)))
    wanted: list[tuple[str, Inflection, Got, float, float, str]] = [
        *((f"range x {factor:g}", Inflection(range=factor), widened, factor, 0.1, "") for factor in (0.5, 1.5)),
        *(
            (f"volume {db:+g} dB", Inflection(volume=db), lambda a, b: level(b) - level(a), db, 1.0, " dB")
            for db in (-12.0, -6.0, 6.0)
        ),
        ("contour -2 to +4 st", ramp, climb, 6.0, 0.6, " st"),
        *(
            (f"stretch x {factor:g}", Inflection(stretch=factor), lambda a, b: seconds(b) / seconds(a), factor, 0.1, "")
            for factor in (0.8, 1.25)
        ),
    ]
    found: defaultdict[str, list[float]] = defaultdict(list)
    rates, texts = (0.8, 1.25, 1.5), bench.texts(2)
    for _, name, segment in texts:
        say, script = bench.speaker.say, segment.script
        plain = say(script, name)
        for title, inflection, got, *_ in wanted:
            found[title].append(got(plain, bench.speaker.said_so(script, name, inflection)))
        for rate in rates:
            found[f"rate {rate}"].append(seconds(plain) / seconds(say(script, name, speed=rate)))
        goal = 1.25 * len(plain) / 24_000
        timed = say(script, name, InflectedSpan(0, len(script), Inflection(), goal))
        found["duration 1.25 x its own"].append(len(timed) / 24_000 / goal)
    asked = {title: (value, within, unit) for title, _, _, value, within, unit in wanted}
    asked |= {f"rate {rate}": (rate, 0.1, "") for rate in rates} | {"duration 1.25 x its own": (1.0, 0.1, "")}
    for title, (value, within, unit) in asked.items():
        allowed = within if unit else within * value
        middle, good = median(found[title]), sum(abs(each - value) <= allowed for each in found[title])
        limit = f"{within:g}{unit}" if unit else f"{within:.0%}"
        shown = f"{middle:.2f}{unit}, {good} of {len(texts)} sentences by themselves"
        yield Verdict(f"{title}: within {limit}", shown, abs(middle - value) <= allowed)


def espeak(bench: Bench) -> Iterator[Verdict]:
    """Whole sentences, inflected by espeak-ng. What it can't make louder without clipping is limited."""
    engine = EspeakEngine()

    def said(text: str, name: str, *spans: InflectedSpan) -> Pcm:
        [block] = engine.begin(Utterance(text, LANGUAGES[name[0]], ((name, 1.0),), 1.0, inflected=spans))
        return block.samples

    def louder(plain: Pcm, changed: Pcm) -> float:
        return level(changed) - level(plain)

    def longer(plain: Pcm, changed: Pcm) -> float:
        return seconds(changed) / seconds(plain)

    kinds: tuple[tuple[str, Callable[[float], Inflection], Got, float, tuple[float, ...]], ...] = (
        ("pitch", lambda value: Inflection(pitch=value), semitones, 0.4, (-4.0, -2.0, 2.0, 4.0)),
        ("range", lambda value: Inflection(range=value), widened, 0.1, (0.5, 1.5)),
        ("volume", lambda value: Inflection(volume=value), louder, 1.0, (-12.0, -6.0, 3.0, 6.0)),
        ("stretch", lambda value: Inflection(stretch=value), longer, 0.1, (0.8, 1.25)),
    )
    texts = [(text, VOICES[at % bench.voices]) for at, text in enumerate(middling()[: bench.sentences])]
    plain = [said(*each) for each in texts]
    for kind, inflection, got, within, asked in kinds:
        for value in asked:
            whole = [InflectedSpan(0, len(text), inflection(value)) for text, _ in texts]
            changed = [said(*each, span) for each, span in zip(texts, whole, strict=True)]
            found = median(map(got, plain, changed))
            limit = within * (value if kind in ("range", "stretch") else 1)
            yield Verdict(f"espeak-ng: {kind} {value:g}", f"{found:.2f}", abs(found - value) <= limit)


def emphasis(bench: Bench) -> Iterator[Verdict]:
    """Two words of each sentence, emphasised strongly: longer, higher, louder, and the words around as they were."""
    faults: list[str] = []
    measured = 0
    for _, name, segment in bench.texts():
        long_enough = [word for word in segment.words if word.end - word.start >= 4]
        plain, before = bench.speaker.timed(segment.script, name)
        for word in long_enough[len(long_enough) // 3 :: max(1, len(long_enough) // 3)][:2]:
            span = InflectedSpan(word.start, word.end, EMPHASES["strong"])
            changed, after = bench.speaker.timed(segment.script, name, span)
            one, other = plain[before[word.start] : before[word.end]], changed[after[word.start] : after[word.end]]
            if not (np.isfinite(pitches(one)).any() and np.isfinite(pitches(other)).any()):
                continue
            measured += 1
            head = min(before[word.start], after[word.start]) - _NEAR
            around = [(plain[: max(head, 0)], changed[: max(head, 0)])]
            around += [(plain[before[word.end] + _NEAR :], changed[after[word.end] + _NEAR :])]
            kept = {
                "longer": len(other) > 1.1 * len(one),
                "higher": 12 * np.log2(np.nanmedian(pitches(other)) / np.nanmedian(pitches(one))) > 1,
                "louder": level(other) - level(one) > 1,
                "neighbours": all(
                    not abs(semitones(*each)) >= 0.5 and abs(len(each[0]) - len(each[1])) <= _NEAR  # NaN: silence
                    for each in around
                    if len(each[0]) > _HALF_A_SECOND
                ),
            }
            if missed := [what for what, is_so in kept.items() if not is_so]:
                faults.append(f"{word.written} ({name}): not {', '.join(missed)}")
    print(*faults, sep="\n", flush=True)
    good = measured - len(faults)
    asked = "emphasis strong: longer by 10 %, higher by 1 st, louder by 1 dB, words around as they were: 95 of 100"
    yield Verdict(asked, f"{good} of {measured} words", good >= 0.95 * measured)


RISEN = 3.0
"""Semitones above the sentence's mean that the last 150 ms of a rising question have at least."""


def rises(bench: Bench) -> Iterator[Verdict]:
    """Questions and other sentences as the server reads them, and without their rise."""
    plain, heard = Heard(), Heard()
    found: dict[bool, list[float]] = {True: [], False: []}
    texts = [each for kind in (True, False) for each in [e for e in questions() if e[1] is kind][: bench.questions]]
    for place, (text, should) in enumerate(texts):
        name = VOICES[place % bench.voices]
        segment = bench.speaker.segment(text, name)
        assert segment is not None
        read = bench.speaker.say(segment.script, name, *segment.inflected())
        found[should].append(last_pitch(read))
        if (found[should][-1] >= RISEN) is not should:
            print(f"{name} {found[should][-1]:+.1f} st: {text}", flush=True)
        if segment.inflected() and bench.listeners.there:
            bench.listeners.hear(text, bench.speaker.say(segment.script, name), plain)
            bench.listeners.hear(text, read, heard)
    up, other = (sum(each >= RISEN for each in found[kind]) for kind in (True, False))
    number, others = len(found[True]), len(found[False])
    yield Verdict(
        f"yes/no questions rise by {RISEN:g} st: 90 of 100", f"{up} of {number}, median {median(found[True]):.1f} st",
        up >= 0.9 * number,
    )  # fmt: skip
    yield Verdict("other sentences don't: 95 of 100", f"{other} of {others} do", other <= 0.05 * others)
    if bench.listeners.there:
        yield _as_well_heard("default expression (the rise)", plain, heard, 0.1, -0.02)


def marks(bench: Bench) -> Iterator[Verdict]:
    """A word of each sentence in Markdown's bold, as the server reads it, and the same text without the marks."""
    plain, heard = Heard(), Heard()
    for text, name, segment in bench.texts():
        *words, last = text.split()
        bold = max((word for word in words if word.isalpha()), key=len, default="")
        written = " ".join([*(f"**{word}**" if word == bold else word for word in words), last])
        marked = bench.speaker.segment(written, name)
        if marked is not None and marked.inflected():
            bench.listeners.hear(text, bench.speaker.say(segment.script, name, *segment.inflected()), plain)
            bench.listeners.hear(text, bench.speaker.say(marked.script, name, *marked.inflected()), heard)
    if bench.listeners.there:
        yield _as_well_heard("default expression (Markdown's bold)", plain, heard, 0.1, -0.02)


def ordinary(bench: Bench) -> Iterator[Verdict]:
    """Ordinary sentences as the server reads them, and without any rule. Most have the same samples both ways."""
    plain, heard, words, sentences = Heard(), Heard(), 0, 0
    for place, text in enumerate((*middling(), *answers()[:50])):
        name = VOICES[place % bench.voices]
        if segment := bench.speaker.segment(text, name):
            words, sentences = words + len(spoken_words(text)), sentences + 1
            if segment.inflected():
                bench.listeners.hear(text, bench.speaker.say(segment.script, name), plain)
                bench.listeners.hear(text, bench.speaker.say(segment.script, name, *segment.inflected()), heard)
    if bench.listeners.there:
        points = 100 * (heard.errors - plain.errors) / words
        opinion = (sum(heard.opinions) - sum(plain.opinions)) / sentences
        yield Verdict(
            "default expression, ordinary sentences: word errors <= +0.1 points, DNSMOS P.808 >= -0.02",
            f"{plain.errors} to {heard.errors} errors of {words} words; {len(heard.opinions)} of {sentences} sentences "
            f"inflected; {opinion:+.3f}",
            points <= 0.1 and opinion >= -0.02,
        )


SPEEDS = (1.5, 2.0, 2.5, 3.0, 4.0)


def speeds(bench: Bench) -> Iterator[Verdict]:
    """How fast some ways of speaking fast really are, how they are understood, and what they cost: ours, durations
    alone, the voice's own pace squeezed evenly, and espeak-ng."""
    espeak = EspeakEngine()

    def alone(_: str, name: str, segment: Segment, speed: float) -> Pcm:
        with patch.object(speech, "MADE", 9.0):
            return bench.speaker.say(segment.script, name, speed=speed)

    def by_rule(text: str, name: str, _: Segment, speed: float) -> Pcm:
        [block] = espeak.begin(Utterance(text, LANGUAGES[name[0]], ((name, 1.0),), speed))
        return block.samples

    ways: dict[str, Callable[..., Pcm]] = {
        "ours": lambda _, name, segment, speed: bench.speaker.say(segment.script, name, speed=speed),
        "durations alone": alone,
        "squeezed evenly": lambda text, *_, speed: squeezed(plain[text], speed),
        "espeak-ng": by_rule,
    }
    texts = bench.texts(2)
    plain = {text: bench.speaker.say(segment.script, name) for text, name, segment in texts}
    slow = {text: by_rule(text, name, segment, 1.0) for text, name, segment in texts}
    for speed in SPEEDS:
        heard = {way: Heard() for way in ways}
        fast: defaultdict[str, list[float]] = defaultdict(list)
        cost: defaultdict[str, float] = defaultdict(float)
        for text, name, segment in texts:
            for way, made in ways.items():
                begun = time.process_time()
                sound = made(text, name, segment, speed=speed)
                cost[way] += (time.process_time() - begun) / len(sound)
                fast[way].append(seconds((slow if way == "espeak-ng" else plain)[text]) / seconds(sound))
                bench.listeners.hear(text, sound, heard[way])
        ours, before = heard["ours"], heard["durations alone"]
        yield Verdict(
            f"speed {speed:g}: as fast as that, within 10 %",
            f"{median(fast['ours']):.2f}; {cost['ours'] / cost['durations alone']:.2f} times the work of durations",
            abs(median(fast["ours"]) / speed - 1) <= 0.1,
        )
        if bench.listeners.there:
            yield Verdict(
                f"speed {speed:g}: half of the word errors of durations alone",
                "; ".join(f"{way} ({median(fast[way]):.2f}) {heard[way].wrong}" for way in ways),
                ours.errors <= before.errors / 2,
            )


def faults(bench: Bench) -> Iterator[Verdict]:
    """Texts at which listeners hear faults: words understood wrongly, sound outside the words, last words that fade and
    aren't understood."""
    for kind in dict.fromkeys(kind for kind, _ in hard_texts()):
        heard, outside, faded, lost, spoken = Heard(), 0, 0, 0, 0
        for place, text in enumerate([text for each, text in hard_texts() if each == kind][: bench.sentences]):
            name = VOICES[place % bench.voices]
            segment = bench.speaker.segment(text, name)
            assert segment is not None
            sound, begins = bench.speaker.timed(segment.script, name)
            spoken += 1
            before = heard.errors
            understood = bench.listeners.hear(text, sound, heard)
            wrong = heard.errors - before
            is_lost = wrong > 0 and spoken_words(understood)[-1:] != spoken_words(text)[-1:]
            first, last = segment.words[0], segment.words[-1]
            edges = [sound[: max(0, begins[first.start] - _BEFORE)], sound[begins[last.end] + _NEAR :]]
            inner = level(sound[begins[first.start] : begins[last.end]])
            is_outside = any(level(edge) > inner - _SILENT for edge in edges if len(edge) > _NEAR)
            fades = level(sound[begins[last.start] : begins[last.end]]) < inner - _FADED
            outside, faded, lost = outside + is_outside, faded + fades, lost + (fades and is_lost)
            if is_outside or fades or wrong:
                shown = f"{', outside' * is_outside}{', fades' * fades}{', last word lost' * is_lost}"
                print(f"{name} {text}: {wrong} wrong{shown}", flush=True)
        yield Verdict(
            f"{kind}: nothing outside the words, no end more than {_FADED:g} dB lower that isn't understood",
            f"{outside} and {faded} of {spoken}"
            + f", {lost} of them not understood; {heard.errors} of {heard.words} words wrong" * bench.listeners.there,
            not outside and not (lost if bench.listeners.there else faded),
        )


_BEFORE, _NEAR = 4_800, 1_200
"""Samples (200 and 50 ms) before and after the words that are theirs: a consonant sounds before its mark."""
_HALF_A_SECOND = 12_000
_SILENT = 25.0
"""dB below the words' level, from which on a sound outside them isn't heard."""
_FADED = 9.0
"""dB."""


def cost(bench: Bench) -> Iterator[Verdict]:
    """Time that an inflection of a whole sentence takes of the time to its first block."""
    shares: list[float] = []
    nothing: list[float] = []
    for _, name, segment in bench.texts(5):
        for spans in ((), (InflectedSpan(0, len(segment.script), EMPHASES["strong"]),)):
            spent = 0.0

            def timed(*given: object, inflect: Callable[..., object] = inflected) -> object:
                nonlocal spent
                begun = time.perf_counter()
                changed = inflect(*given)
                spent = time.perf_counter() - begun
                return changed

            with patch.object(speech, "inflected", timed):
                begun = time.perf_counter()
                next(bench.speaker.engine.begin(bench.speaker.utterance(segment.script, name, *spans)))
                (shares if spans else nothing).append(spent / (time.perf_counter() - begun))
    for title, limit, found in (("an inflection", 0.02, shares), ("none", 0.001, nothing)):
        share = median(found)
        yield Verdict(f"time of {title}: {limit:.1%} of the first sound", f"{share:.3%}", share <= limit)


ROWS: Mapping[str, Callable[[Bench], Iterator[Verdict]]] = {
    **{each.__name__: each for each in (pitch, values, espeak, emphasis, rises, marks, ordinary, speeds, faults, cost)},
    **rules.ROWS,
}
