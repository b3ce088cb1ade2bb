"""What windows and int8 cost in sound: a model in windows, and its variants whole and in windows, beside it whole.

    python -m benchmarks.quality --model MODEL --voices VOICES [--voice af_heart]... [--variant FILE]... [--pairs DIR]
        [--json FILE]

All vocode the full-precision model's prosody with the same noise. For each voice, over sentences that neither its
statistics were measured on nor a variant was calibrated on, and for each way of making sound:

* `SNR`, `LSD`, `mel`: signal to noise ratio, log-spectral and log-mel distance, in dB, to the model vocoded whole;
* the same `at joins`: of the 50 ms on each side of where two windows meet;
* `step`: the largest step at a join, as a share of the largest that the signal makes around it by itself.

`other noise` is the yardstick: the model, whole, with another seed for its noise, which nobody hears as a difference.
The gate: nothing is further away by `mel` than that, there or at joins, and no step is above 1; else the exit status is
1.

With real weights, listen: `--pairs` writes each sentence each way, and as each variant speaks it with its own prosody.
Without `--variant`, the variants that lie beside the model are judged.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import wave
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path

from benchmarks.joins import at_joins, largest_step
from benchmarks.machine import machine
from benchmarks.report import Cell, Table
from benchmarks.windowed_rendering import WindowedRenderer
from shm.audio import SAMPLE_RATE, Pcm
from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineError, EngineUnavailable
from worker.fidelity import log_mel_distance, log_spectral_distance, snr
from worker.kokoro import SAMPLE_SENTENCES
from worker.quantization.metadata import properties_of
from worker.quantization.renderer import Renderer
from worker.quantization.variants import ORIGINAL, SOURCE, VARIANT, find_variants
from worker.settings import WorkerSettings
from worker.split.prepared import Unprepared
from worker.split.segment import Prosody
from worker.split.windows import FRAME_SAMPLES, WindowShape, windows
from worker.voices import VoiceBank

SENTENCES = (
    "ɪt wʌz ə bɹˈIt kˈOld dˈA ɪn ˈApɹəl, ænd ðə klˈɑks wɜɹ stɹˈIkɪŋ θˌɜɹtˈin.",
    "ˈɔl hˈæpi fˈæməliz ɑɹ əlˈIk; ˈiʧ ʌnhˈæpi fˈæməli ɪz ʌnhˈæpi ɪn ɪts ˈOn wˈA.",
    "nˈO, nˈO, nˈO!",
    "ðə tɹˈAn æt plˈætfɔɹm sˈɛvən ɪz ðə dəlˈAd ˈɛkspɹˌɛs tə ðə nˈɔɹθ, kˈɔlɪŋ æt ˈɔl stˈAʃənz.",
    "du ju nˈO hˌW fˈɑɹ ɪt ɪz fɹʌm hˈɪɹ tə ðə sˈi?",
)
"""In Kokoro's phonemes, long and short."""

NOISE = "other noise"


@dataclass(frozen=True)
class Spoken:
    """A sentence of the full-precision model, vocoded whole."""

    name: str
    """Of its files."""
    voice: str
    script: str
    prosody: Prosody
    whole: Pcm
    """Without the silence before it, as all other sound here."""
    other_noise: Pcm
    joins: list[int]
    """Where its windows would meet."""


@dataclass(frozen=True)
class Distance:
    """Of one way of making sound from the model vocoded whole; means over sentences, but for the step."""

    voice: str
    way: str
    snr: float
    lsd: float
    mel: float
    joins_snr: float | None
    joins_lsd: float | None
    joins_mel: float | None
    step: float | None

    @classmethod
    def of(cls, way: str, sentences: Sequence[Spoken], made: Sequence[Pcm], *, in_windows: bool = False) -> Distance:
        """`made`: the sentences' sound."""
        pairs = list(zip(sentences, made, strict=True))

        def mean(measure: Callable[[Pcm, Pcm], float]) -> float:
            return statistics.fmean(measure(sentence.whole, sound) for sentence, sound in pairs)

        def mean_at_joins(measure: Callable[[Pcm, Pcm], float]) -> float | None:
            found = [at_joins(measure, sentence.whole, sound, sentence.joins) for sentence, sound in pairs]
            known = [value for value in found if value is not None]
            return statistics.fmean(known) if known else None

        steps = [largest_step(sentence.whole, sound, sentence.joins) for sentence, sound in pairs if in_windows]
        return cls(
            voice=sentences[0].voice,
            way=way,
            snr=mean(snr),
            lsd=mean(log_spectral_distance),
            mel=mean(log_mel_distance),
            joins_snr=mean_at_joins(snr),
            joins_lsd=mean_at_joins(log_spectral_distance),
            joins_mel=mean_at_joins(log_mel_distance),
            step=max((step for step in steps if step is not None), default=None),
        )

    def passes(self, noise: Distance) -> bool:
        as_near_at_joins = self.joins_mel is None or noise.joins_mel is None or self.joins_mel <= noise.joins_mel
        return self.mel <= noise.mel and as_near_at_joins and (self.step is None or self.step <= 1)


def spoken(exact: Renderer, voice: str, shape: WindowShape) -> Iterator[Spoken]:
    for number, script in enumerate(SENTENCES):
        prosody = exact.prosody(script, voice)
        whole, other = (exact.sound(prosody, seed)[prosody.lead * FRAME_SAMPLES :] for seed in (0, 1))
        plan = list(windows(prosody.lead, prosody.frames, shape))
        joins = [(window.begin - prosody.lead) * FRAME_SAMPLES for window in plan[1:]]
        yield Spoken(f"{voice}-{number}", voice, script, prosody, whole, other, joins)


def ways_of(
    name: str, file: Path, bank: VoiceBank, settings: WorkerSettings, sentences: Sequence[Spoken], pairs: Path | None
) -> list[Distance]:
    """One model's, in windows and, if it is a variant, whole."""
    renderer = Renderer(file, bank, settings, settings.cache_dir)
    windowed = WindowedRenderer(file, settings, settings.cache_dir)
    found = []
    for voice in dict.fromkeys(sentence.voice for sentence in sentences):
        own = [sentence for sentence in sentences if sentence.voice == voice]
        frozen = windowed.statistics([renderer.prosody(script, voice) for script in SAMPLE_SENTENCES])
        made = {f"{name}, in windows": [windowed.sound(sentence.prosody, 0, frozen) for sentence in own]}
        found.append(Distance.of(f"{name}, in windows", own, made[f"{name}, in windows"], in_windows=True))
        if name != ORIGINAL:
            made[f"{name}, whole"] = [
                renderer.sound(sentence.prosody, 0)[sentence.prosody.lead * FRAME_SAMPLES :] for sentence in own
            ]
            found.append(Distance.of(f"{name}, whole", own, made[f"{name}, whole"]))
        if pairs and name != ORIGINAL:
            made[f"{name}, own prosody"] = [
                renderer.sound(renderer.prosody(sentence.script, voice), 0) for sentence in own
            ]
        if pairs:
            for way, sounds in made.items():
                for sentence, sound in zip(own, sounds, strict=True):
                    write(pairs, sentence, way, sound)
    return found


def write(folder: Path, sentence: Spoken, way: str, samples: Pcm) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{sentence.name}-{way.replace(', ', '-').replace(' ', '-')}.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def variants_of(model: Path, asked: Sequence[Path]) -> list[tuple[str, Path]]:
    """Names and files.

    Raises:
        ValueError: one is no ONNX file, or was made of another model.
    """
    if not asked:
        return [(each.name, each.path) for each in find_variants(model) if each.name != ORIGINAL]
    found = []
    for file in asked:
        said = properties_of(file)
        if said.get(SOURCE, source := cached_sha256_of(model)) != source:
            raise ValueError(f"{file} was made of another model than {model}")
        found.append((said.get(VARIANT, file.stem), file))
    return found


def table(found: Sequence[Distance], noise: Distance) -> str:
    rows: list[list[Cell]] = [[*astuple(noise)[1:], None]]
    rows += [[*astuple(each)[1:], "yes" if each.passes(noise) else "no"] for each in found]
    return Table(noise.voice, _COLUMNS, rows).as_markdown()


_COLUMNS = (
    "",
    "SNR, dB",
    "LSD, dB",
    "mel, dB",
    "SNR at joins, dB",
    "LSD at joins, dB",
    "mel at joins, dB",
    "step",
    "passes",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="in full precision")
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--voice", action="append", help="may be given several times; else af_heart, or the first")
    parser.add_argument("--variant", type=Path, action="append", default=[], help="may be given several times")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--pairs", type=Path, help="a folder for WAV files to listen to")
    parser.add_argument("--cache-dir", type=Path, help="instead of the server's own cache")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    settings = WorkerSettings(threads=arguments.threads)
    if arguments.cache_dir:
        settings = replace(settings, cache_dir=arguments.cache_dir)
    try:
        met = judge(arguments, settings)
    except (EngineError, EngineUnavailable, OSError, Unprepared, ValueError) as error:
        parser.error(str(error))
    return 0 if met else 1


def judge(arguments: argparse.Namespace, settings: WorkerSettings) -> bool:
    """Whether the gate is passed. One model at a time is in memory."""
    bank = VoiceBank.open(arguments.voices)
    voices = arguments.voice or ["af_heart" if "af_heart" in bank.names else bank.names[0]]
    if unknown := sorted(set(voices) - set(bank.names)):
        raise EngineUnavailable(f"{arguments.voices} has no voice {', '.join(unknown)}, but {' '.join(bank.names)}")
    models = [(ORIGINAL, arguments.model), *variants_of(arguments.model, arguments.variant)]
    say("speaking whole")
    exact = Renderer(arguments.model, bank, settings, settings.cache_dir)
    sentences = [each for voice in voices for each in spoken(exact, voice, WindowShape.of(settings))]
    del exact
    for sentence in sentences if arguments.pairs else ():
        write(arguments.pairs, sentence, "whole", sentence.whole)
        write(arguments.pairs, sentence, NOISE, sentence.other_noise)
    found: list[Distance] = []
    for name, file in models:
        say(f"speaking as {name}")
        found += ways_of(name, file, bank, settings, sentences, arguments.pairs)
    met = True
    noises = []
    for voice in voices:
        own = [sentence for sentence in sentences if sentence.voice == voice]
        noises.append(Distance.of(NOISE, own, [sentence.other_noise for sentence in own]))
        ways = [distance for distance in found if distance.voice == voice]
        print(table(ways, noises[-1]), end="\n\n")
        met = met and all(way.passes(noises[-1]) for way in ways)
    if arguments.json:
        raw = {"machine": machine(), "model": arguments.model.name, "distances": [*map(asdict, noises + found)]}
        arguments.json.write_text(json.dumps(raw))
    return met


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
