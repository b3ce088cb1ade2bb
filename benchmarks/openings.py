"""Sentences that are begun before they are whole: first token to sound, and how far they are from the whole sentence.

    python -m benchmarks.openings [--answers 60] [--rates 62 20] [--ways sentence clause now] [--others 0]
                                  [--language en-us] [--prosody] [--sound] [--page FOLDER]

Answers of voice agents are written to a server over a socket as a language model writes them, at so many tokens per
second, with each value of `--growing-text` in turn, while so many others listen to long texts. Without a server,
`--prosody` compares durations and pitch of a sentence's first words with those in the whole sentence, and `--sound` the
sound of both (it needs the extra `quality`); `--page` only writes a page to listen to the ways side by side.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from html import escape
from pathlib import Path

import aiohttp
import numpy as np
from msgspec.structs import replace

from benchmarks.agents.listeners import AT_ONCE, Heard, hear
from benchmarks.agents.ways import Server
from benchmarks.growing_text import FRESH, tokens
from benchmarks.measuring.evaluation.sentences import answers
from benchmarks.measuring.figures import median
from benchmarks.measuring.hearing.opinion import OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors
from benchmarks.measuring.listening import listen as listen_over_http
from benchmarks.measuring.machine import described
from benchmarks.measuring.renderer import Renderer, pitches
from benchmarks.measuring.report import Cell, Table
from benchmarks.measuring.subjects import kokoro_live
from benchmarks.quality.renderings import write_wav
from frontend.contract.growing_text import GrowingText, TextMark, TextPart
from frontend.planning.planner import Limits, plan_growing
from frontend.planning.profile import GUESS
from frontend.planning.sentences import WrittenText
from frontend.streams.joins import Joiner
from shm.audio import SAMPLE_RATE, Pcm
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.sentences.growth import UNSPACED, opening_of
from text.words.segment import Cut, Notation, Segment
from worker.engine import Engine, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.models.choice import kokoro_files
from worker.settings import WorkerSettings
from worker.split.segments.segment import Prosody
from worker.voices.voice_bank import VoiceBank

VOICES = {
    "en-us": ("af_heart", "am_michael", "bf_emma", "bm_george"),
    "es": ("ef_dora", "em_alex"),
    "fr-fr": ("ff_siwis",),
    "hi": ("hf_alpha", "hm_omega"),
    "it": ("if_sara", "im_nicola"),
    "pt-br": ("pf_dora", "pm_alex"),
    "ja": ("jf_alpha", "jm_kumo"),
    "cmn": ("zf_xiaobei", "zm_yunjian"),
}
SECOND = " Anything else?"
"""Follows each answer, so that its end is noticed as in a longer one."""

_VOICED = 60.0
"""Hz of a phoneme's median F0 from which on it is voiced."""


async def latencies(
    ports: Mapping[str, int], voice: str, rates: Sequence[float], texts: Sequence[str]
) -> list[list[Cell]]:
    """Each answer to the servers of all ways in turn. A row for each way and rate: the way, the rate, the sentence's
    end, first sound (median, ninetieth percentile), median of the answers' ratios to the first way's, gaps."""
    rows: list[list[Cell]] = []
    async with aiohttp.ClientSession() as session:
        servers = {way: Server(f"http://127.0.0.1:{port}", voice, "", session) for way, port in ports.items()}
        for server in [*servers.values()] * 3:
            await hear("cartesia", server, texts[0], AT_ONCE)
        for rate in rates:
            found: dict[str, list[Heard]] = {way: [] for way in servers}
            for text, (way, server) in itertools.product(texts, servers.items()):
                found[way].append((await hear("cartesia", server, text + SECOND, rate)).assert_whole())
            ends = median([(len(tokens(text)) - 1) / rate for text in texts])
            sounds = {way: [each.sound or 0.0 for each in heard] for way, heard in found.items()}
            for way, sound in sounds.items():
                ratio = median([one / other for one, other in zip(sound, next(iter(sounds.values())), strict=True)])
                gaps = sum(each.playback.underruns for each in found[way])
                rows.append([way, rate, ends, median(sound), float(np.quantile(sound, 0.9)), ratio, gaps])
                print(f"  {rows[-1]}", file=sys.stderr, flush=True)
    return rows


@contextmanager
def others(port: int, count: int, text: str) -> Iterator[None]:
    """So many listeners, each of whom hears the text again and again, as fast as it plays."""
    over = threading.Event()

    def hear() -> None:
        while not over.is_set():
            listen_over_http(port, text, VOICES["en-us"][1], headers=FRESH, paced=True, going=lambda: not over.is_set())
            over.wait(0.1)

    threads = [threading.Thread(target=hear) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def segments(
    text: str, pipeline: TextPipeline, notation: Notation, *, words: int, clauses: bool = False
) -> list[Segment]:
    """The segments of a sentence that was begun when so many of its words were there; 0: when it was whole. `clauses`:
    only up to a comma."""
    growing = GrowingText()
    begun = opening_of(" ".join(text.split()[:words]) + " ", "en-us", clauses=clauses) if words else None
    if begun:
        growing.add(TextPart(begun.text, opening=begun.words))
    growing.add(TextPart(text, said=begun.words if begun else 0, flush=True))
    source = WrittenText(growing, lambda part: pipeline.sentences(part.text, "en-us", notation))
    items = plan_growing(source, GUESS, 1.0, notation, Limits())
    return [
        item
        for item in itertools.takewhile(lambda item: item is not TextMark.FLUSH, items)
        if isinstance(item, Segment)
    ]


def spoken(engine: Engine, said: Sequence[Segment], speed: float = 1.0) -> Pcm:
    """The joined samples of the segments."""
    pieces, joiner = list[Pcm](), Joiner()
    asked = Utterance("", "en-us", ((VOICES["en-us"][0], 1.0),), speed)
    for segment in said:
        asked = replace(asked, script=segment.script, part=segment.part, styled=segment.styled)
        for block in engine.begin(asked):
            pieces += joiner.push(block.samples)
        joiner.end(segment.cut, speed)
        pieces += joiner.drain() if segment.cut is Cut.SEAM else []
    return np.concatenate([*pieces, *joiner.finish()])


def page(texts: Sequence[str], folder: Path) -> Path:
    """Write a page with the sounds of each text that has a comma, in four ways, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = WorkerSettings()
    engine = KokoroEngine(*kokoro_files(settings), settings)
    notation, pipeline = Notation.of(engine.info), TextPipeline(G2P())
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>Openings</title>"]
    for number, text in enumerate(text for text in texts if "," in text):
        there = [" ".join(text.split()[:words]) + " " for words in range(len(text.split()))]
        clause = next((words for words, begun in enumerate(there) if opening_of(begun, "en-us", clauses=True)), 0)
        whole = segments(text, pipeline, notation, words=0)
        ways = {
            "whole sentence": whole,
            "begun after five words": segments(text, pipeline, notation, words=5),
            "begun after seven words": segments(text, pipeline, notation, words=7),
            "begun at the comma": segments(text, pipeline, notation, words=clause, clauses=True),
            "the clause as a sentence of its own": [
                each
                for half in (text.partition(",")[0] + ",", text.partition(",")[2])
                for each in segments(half, pipeline, notation, words=0)
            ],
        }
        parts.append(f"<h2>{escape(text)}</h2>")
        for place, (way, said) in enumerate(ways.items()):
            write_wav(folder / f"{number}-{place}.wav", spoken(engine, said))
            parts.append(f'<p>{way} <audio controls preload="none" src="{number}-{place}.wav"></audio></p>')
    written = folder / "index.html"
    written.write_text("".join(parts) + "\n")
    return written


def judged(texts: Sequence[str], begun: Sequence[int]) -> Iterator[list[Cell]]:
    """For each number of words that were there at first (0: all), over the texts: mean DNSMOS P.808, percent of words
    that Whisper misunderstood, mean seconds. Each text is judged in each way before the next one is."""
    settings = WorkerSettings()
    engine = KokoroEngine(*kokoro_files(settings), settings)
    notation, pipeline = Notation.of(engine.info), TextPipeline(G2P())
    scorer, recognizer = OpinionScorer(), Recognizer()
    found: dict[int, list[tuple[float, int, float]]] = {words: [] for words in begun}
    for number, text in enumerate(texts):
        for words, told in found.items():
            samples = spoken(engine, segments(text, pipeline, notation, words=words))
            errors = word_errors(text, recognizer.understood(samples))
            told.append((scorer.opinion(samples).p808, errors, len(samples) / SAMPLE_RATE))
        print(f"  {number + 1} of {len(texts)}: {[told[-1] for told in found.values()]}", file=sys.stderr, flush=True)
    count = sum(len(spoken_words(text)) for text in texts)
    for words, told in found.items():
        opinions, wrong, seconds = zip(*told, strict=True)
        name = f"after {words} words" if words else "whole"
        yield [name, float(np.mean(opinions)), 100 * sum(wrong) / count, float(np.mean(seconds))]


def prosody_rows(texts: Sequence[str], language: str) -> Iterator[list[Cell]]:
    """Rows: what is there and spoken, style, sentences, length off, times as long, pitch off, pitch at the end."""
    settings = WorkerSettings()
    model, voices = kokoro_files(settings)
    notation = Notation.of(KokoroEngine(model, voices, settings).info)
    renderer = Renderer(model, VoiceBank.open(voices), settings, settings.cache_dir)
    pipeline = TextPipeline(G2P())
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for number, text in enumerate(texts):
        voice = VOICES[language][number % len(VOICES[language])]
        units = next(pipeline.sentences(text, "en-gb" if voice[0] == "b" else language, notation))
        script, ends = units[0].script, [len(units[0].script)]
        for unit in units[1:]:
            script += unit.lead + unit.script
            ends.append(len(script))
        whole = renderer.prosody(script, voice)
        clause = next((at + 1 for at, unit in enumerate(units[:-1]) if unit.cut is Cut.CLAUSE), 0)
        counts = [(k, k - h) for k in (4, 5, 6, 7, 8) for h in (1, 2, 3)]
        if unspaced := UNSPACED.get(language):
            words = [place for place, each in enumerate(script) if each == " "]
            clause = words.index(ends[clause - 1]) + 1 if clause else 0
            ends, counts = [*words, len(script)], [(k, k - unspaced[0]) for k in (8, 10, 12, 14)]
        cases = [(f"{there} words, {said} spoken", there, said) for there, said in counts]
        cases += [("the first clause alone", clause, clause)] if clause else []
        for name, there, said in cases:
            if there >= len(ends):
                continue
            for style, row in (("its own", None), ("65 tokens", max(65, ends[there - 1]))):
                part = renderer.prosody(script[: ends[there - 1]], voice, row)
                if told := difference(script, whole, part, ends[said - 1]):
                    found.setdefault((name, style), []).append(told)
    for (name, style), each in found.items():
        yield [name, style, len(each), *(float(np.median(column)) for column in zip(*each, strict=True))]


def difference(script: str, whole: Prosody, part: Prosody, end: int) -> tuple[float, ...] | None:
    """Length off in percent, times as long, pitch off, and cents by which the last phonemes are higher."""
    sounds = np.array([each.isalpha() for each in script[:end]])
    first, second = pitches(whole)[:end], pitches(part)[:end]
    voiced = sounds & (first > _VOICED) & (second > _VOICED)
    if not voiced.any():
        return None
    ratio = part.durations[1 : end + 1][sounds].sum() / whole.durations[1 : end + 1][sounds].sum()
    cents = 1200 * np.log2(second[voiced] / first[voiced])
    return 100 * abs(ratio - 1), ratio, float(np.median(np.abs(cents))), float(np.median(cents[-4:]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--rates", type=float, nargs="*", default=[62.0, 20.0])
    parser.add_argument("--ways", nargs="*", default=["sentence", "clause", "now"])
    parser.add_argument("--others", type=int, default=0, help="listeners to long texts meanwhile")
    parser.add_argument("--language", choices=VOICES, default="en-us", help="but --sound and --page: English")
    parser.add_argument("--prosody", action="store_true")
    parser.add_argument("--sound", action="store_true")
    parser.add_argument("--page", type=Path, help="only write a page to listen to there")
    parser.add_argument("--model", type=Path)
    arguments = parser.parse_args()
    language = arguments.language
    texts = answers(language)[: arguments.answers]
    if arguments.page:
        print(page(texts, arguments.page))
        return 0
    print(f"On {described()}.\n")
    if arguments.prosody:
        columns = ("there", "style of", "sentences", "length off, %", "times as long", "pitch off, cents", "end, cents")
        print(
            Table(
                "First words alone, alongside the whole sentence", columns, list(prosody_rows(texts, language))
            ).as_markdown()
        )
    if arguments.sound:
        heard = list(judged(texts, (0, 5, 7)))
        print(Table("Its sound", ("sentence begun", "P.808", "words wrong, %", "seconds"), heard).as_markdown())
    rows: list[list[Cell]] = []
    for ways in [[way] for way in arguments.ways] if arguments.others else [arguments.ways]:
        with ExitStack() as stack:
            ports: dict[str, int] = {}
            for way in ways:
                server = kokoro_live(WorkerSettings(model=arguments.model), "--growing-text", way)
                ports[way] = stack.enter_context(server).port
                stack.enter_context(others(ports[way], arguments.others, " ".join(answers())))
            rows += asyncio.run(latencies(ports, VOICES[language][0], arguments.rates, texts)) if ways else []
    if rows:
        first = ("growing-text", "tokens/s", "sentence's end, s", "first sound, s", "of ten, the ninth, s")
        names = (*first, f"by {arguments.ways[0]} = 1" if not arguments.others else "", "gaps")
        print(Table(f"From the first token, {arguments.others} others listening", names, rows).as_markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
