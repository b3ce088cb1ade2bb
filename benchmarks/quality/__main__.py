"""Quality of every form that may be spoken in place of the model's whole run in full precision.

    python -m benchmarks.quality --model MODEL --voices VOICES [--reference FLOAT] [--variant FILE]... [--out FOLDER]
        [--quick] [--only WAY]...

Speaks texts of 1 to 60 words by seven voices in four languages: the reference whole and in windows, the model and each
variant likewise; and passages in one segment, cut by the plan for an engine that vocodes in windows, and by that for
one that doesn't. Judges each by the gate (`measuring/hearing/gate.py`): Whisper tiny.en's word errors, DNSMOS, level at
every length, log-mel distance; windows also by the noise in pauses, and a plan for them by its opinion score and length
against one segment. Shows steps where windows meet, and pauses and pitch at cuts. Needs the extra `quality`; asks no
network.

FOLDER gets `quality.md`, `quality.json`, spectrograms, and each text each way as a WAV file; the report links those of
one text of each length, to listen to in pairs.
Texts that are there already aren't spoken again: an interrupted run continues. Exits with 1 if anything but the
reference fails.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.measuring.hearing.opinion import OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.machine import machine
from benchmarks.quality import corpus, ways
from benchmarks.quality.findings import Finding, cut_findings, finding, plan_faults
from benchmarks.quality.page import example, page
from benchmarks.quality.pairs import listening_pairs
from benchmarks.quality.pictures import draw
from benchmarks.quality.renderings import Rendering, Renderings
from benchmarks.quality.ways import FOR_WINDOWS, WHOLE, Way
from kokoro_live.installation import this_installation
from worker.engine import EngineError, EngineUnavailable
from worker.graph.dynamic_int8 import QuantizationError, is_dynamic_int8, write_float
from worker.graph.loading import load_graph
from worker.models.sources import cached_sha256_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="as it is served, such as the published int8 file")
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument(
        "--reference",
        type=Path,
        help="the same in full precision; else made of the model if that is in dynamic int8, else the model",
    )
    parser.add_argument("--variant", type=Path, action="append", default=[], help="may be given several times")
    parser.add_argument("--only", action="append", help="a way by its name in the report; may be given several times")
    parser.add_argument(
        "--out", type=Path, default=Path("quality-results"), help="a folder  [default: quality-results]"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few texts, the model whole and in windows: a minute; too few words to judge errors by",
    )
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--cache-dir", type=Path, help="instead of the server's own cache")
    arguments = parser.parse_args()
    if not (Recognizer.is_installed() and OpinionScorer.is_installed()):
        parser.error(f"nobody can listen: install the extra `quality`: {this_installation().add('quality')}")
    try:
        return 0 if Comparison(arguments).report() else 1
    except (EngineError, EngineUnavailable, OSError, QuantizationError, ValueError) as error:
        parser.error(str(error))


class Comparison:
    """One run of this command."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._out: Path = arguments.out
        self._renderings = Renderings(arguments.out, arguments.voices, arguments.threads, arguments.cache_dir)
        float_model = None if arguments.quick else arguments.reference or float_of(arguments.model, arguments.out)
        named = [
            *([("float", float_model)] if float_model else []),
            ("model", arguments.model),
            *((file.stem, file) for file in arguments.variant),
        ]
        self._texts = self._chosen(ways.of_texts(named, arguments.quick))
        self._passages = [] if arguments.quick else self._chosen(ways.of_passages("model", arguments.model))

    def _chosen(self, found: list[Way]) -> list[Way]:
        """The first one always: the others are compared with it."""
        only = self._arguments.only
        return found if only is None else [found[0], *(way for way in found[1:] if way.name in only)]

    def report(self) -> bool:
        """Judge all renderings and write the report; true if nothing is beyond a limit."""
        quick = self._arguments.quick
        texts = self._spoken(self._texts, corpus.texts(quick))
        passages = self._spoken(self._passages, corpus.passages(quick))
        found = [_findings(spoken) for spoken in (texts, passages)]
        faults = {each.way: each.faults for group in found for each in group}
        for way, each in zip(self._passages, found[1], strict=True):
            if way.plan == FOR_WINDOWS:
                faults[each.way] += plan_faults(found[1][0], each)
        cuts = [(way.name, cut_findings(passages[way])) for way in self._passages[1:]]
        self._out.mkdir(parents=True, exist_ok=True)
        pictures = [self._drawn(name, spoken) for name, spoken in (("texts", texts), ("plans", passages)) if spoken]
        command = " ".join(["python -m benchmarks.quality", *map(shlex.quote, sys.argv[1:])])
        shown = page(command, found[0], found[1], cuts, [picture for picture in pictures if picture], faults)
        for spoken in filter(None, (texts, passages)):
            shown += f"\n{listening_pairs(spoken, self._out)}\n"
        (self._out / "quality.md").write_text(shown)
        raw = {"machine": machine(), "command": command, "texts": found[0], "passages": found[1], "cuts": cuts}
        raw["faults"] = faults
        (self._out / "quality.json").write_text(json.dumps(raw, default=asdict))
        print(shown, end="")
        return not any(faults.values())

    def _spoken(self, asked: list[Way], items: list[corpus.Item]) -> dict[Way, list[Rendering]]:
        spoken = {}
        for way in asked:
            print(f"speaking: {way.name}", file=sys.stderr, flush=True)
            spoken[way] = self._renderings.of(way, items)
        return spoken

    def _drawn(self, name: str, spoken: dict[Way, list[Rendering]]) -> Path | None:
        place = example(list(spoken.values())[-1])
        named = [(way.name, renderings[place]) for way, renderings in spoken.items()]
        picture = draw(self._out / f"{name}.png", named)
        return picture and picture.relative_to(self._out)


def float_of(model: Path, out: Path) -> Path | None:
    """The model in floats, written into the folder unless it is there; None if it isn't in dynamic int8."""
    made = out / f"{model.stem}.float-{cached_sha256_of(model)[:16]}.onnx"
    if not made.exists():
        if not is_dynamic_int8(load_graph(model)):
            return None
        out.mkdir(parents=True, exist_ok=True)
        write_float(model, made)
    return made


def _findings(spoken: dict[Way, list[Rendering]]) -> list[Finding]:
    """Each way against the first one; windows also against the same model's whole run, which has the same prosody."""
    if not spoken:
        return []
    reference = next(iter(spoken.values()))
    whole = {way.model: made for way, made in spoken.items() if way.vocoder == "whole" and way.plan == WHOLE}
    return [
        finding(way.name, reference, made, whole.get(way.model) if way.vocoder == "windowed" else None)
        for way, made in spoken.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
