"""Kokoro-82M on onnxruntime: phonemes in, PCM out, in windows if the model can be split, else in whole segments."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from kokoro_onnx import Kokoro
from kokoro_onnx.config import MAX_PHONEME_LENGTH, EspeakConfig
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state

from shm.engine_info import EngineInfo, ModelFile, StageInfo, TrialInfo, TrialResult
from shm.messages import Voice
from shm.timing import Mark
from worker.engine import BadOption, Block, EngineError, EngineUnavailable, ProviderUnavailable, Utterance
from worker.machine import cores
from worker.models.choice import kokoro_files
from worker.models.sources import cached_sha256_of
from worker.pcm import to_pcm
from worker.providers.choice import Choice, ProviderDecision, decide_providers, first
from worker.providers.verdict import Verdict
from worker.session import NUMPY_TYPES, check_signature, open_session, run_session
from worker.settings import WorkerSettings
from worker.split.gain import Gain
from worker.split.prepared import Unprepared, prepare, remember_unloadable
from worker.split.segments.windows import marks_of
from worker.split.speech import SplitSpeech
from worker.targets import CPU, Assignment, StageTarget
from worker.voices.kokoro_voices import EMBEDDED, default_among, kokoro_voice, levelling, levels_digest
from worker.voices.voice_bank import VoiceBank

if TYPE_CHECKING:
    from multiprocess.connection import Connection

log = logging.getLogger(__name__)

_NO_STATISTICS = (
    "no statistics are known for its family of weights; "
    "`python -m benchmarks.training.statistics_training` makes a file of them, to lie alongside the model"
)

_WARM_UP_WORDS = 8
"""Number of three-phoneme words in the warm-up script: enough for it to be vocoded in windows."""

_NO_ESPEAK = EspeakConfig(lib_path=onnxruntime_pybind11_state.__file__, data_path=str(EMBEDDED.parent))
"""kokoro-onnx loads espeak-ng's library and looks for its data to make phonemes, which this engine is given. A library
and a folder that are always there let Kokoro speak where espeak-ng's are damaged."""


def load(settings: WorkerSettings, without: tuple[str, ...], loading: Callable[[str], object]) -> KokoroEngine:
    """The engine with the files and on the execution provider that the settings and the trials' verdicts choose.

    Args:
        without: execution providers that have failed here.
        loading: called with each provider's name before the provider has a chance to hang.
    """
    model, voices = kokoro_files(settings)
    loading(first(settings, without))  # the provider's driver may be asked about options
    loading(decide_providers(model, settings, without).choice.assignment.provider)
    return KokoroEngine(model, voices, settings, without)


class KokoroEngine:
    """Kokoro engine for any export with Kokoro's inputs and outputs. All threads share its sessions.

    The engine makes its own sessions; kokoro-onnx provides the exports' names and types, and the vocabulary.
    kokoro-onnx's `create` isn't used: it refuses speeds outside 0.5 to 2 (the API allows 0.25 to 5), trims silence and
    inserts pauses of its own, which would change the segments that a plan joins, and can't be stopped in the middle of
    a run.
    """

    def __init__(
        self,
        model: Path,
        voices: Path,
        settings: WorkerSettings,
        without: Collection[str] = (),
        assigned: Assignment | None = None,
    ) -> None:
        """Load the model and all voices. Providers in `without` aren't tried. `assigned` overrides the execution
        providers that follow from the settings and the trials' verdicts.

        Raises:
            BadOption: an option isn't one of the execution provider's.
            EngineUnavailable: a file is missing, damaged or of the wrong kind. The message names it and tells the user
                how to fix it.
            ProviderUnavailable: the execution provider doesn't work here.
        """
        self._voices = VoiceBank.open(voices)
        decision = (
            decide_providers(model, settings, without) if assigned is None else ProviderDecision(Choice(assigned), ())
        )
        placed = decision.choice.assignment
        self._speech: SplitSpeech | WholeSpeech = _speech(model, settings, placed)
        # kokoro-onnx opens an archive of voices, and reads none: every style comes from the bank.
        self._kokoro = Kokoro.from_session(self._speech.session, str(EMBEDDED), _NO_ESPEAK)
        self._vocabulary: dict[str, int] = self._kokoro.tokenizer.vocab
        self.concurrency = settings.concurrency or cores()
        self._loudness = settings.loudness
        self.info = EngineInfo(
            name="kokoro",
            provider=self._speech.provider,
            model=model.name,
            model_sha256=cached_sha256_of(model),
            speaks="phonemes",
            vocabulary="".join(self._vocabulary),
            phoneme_numbers=tuple(self._vocabulary.values()),
            max_tokens=MAX_PHONEME_LENGTH,
            voices=tuple(map(kokoro_voice, self._voices.names)),
            default_voice=default_among(self._voices.names),
            voices_sha256=self._voices.sha256,
            rendering=self._speech.rendering
            + (f", {self._loudness:g} LUFS by {levels_digest()}" * bool(self._loudness)),
            concurrency=self.concurrency,
            first_block=self._speech.first_block,
            shortens_above=self._speech.shortens_above,
            marks=self._speech.marks,
            inflects=self._speech.inflects,
            scores=self._speech.inflects,
            parts=self._speech.parts,
            files=_files(model, voices),
            providers=decision.chain,
            stages=tuple(_stages(model, placed, isinstance(self._speech, SplitSpeech), decision)),
            trials=tuple(_trial(*each, settings.verdict_seconds) for each in decision.verdicts),
            untried=decision.choice.untried,
            threads=self._speech.session.get_session_options().intra_op_num_threads,
        )

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """Yield windows, the first of them short, if the model could be split, its statistics can be predicted and the
        segment isn't very short; otherwise one block, which is made from its start whatever `from_sample` is.

        The seed decides the source's noise. An export without random operations, such as the published ones, ignores
        the seed: the same phonemes always give the same samples.
        """
        level = levelling(utterance.voice, self._voices.checksums, self._loudness) if self._loudness else 1.0
        yield from self._speech.blocks(self._inputs(utterance), utterance, level)

    def warm_up(self) -> None:
        """Speak the first block of a word: the path of every listener's first sound.

        A second block, or the same word again, takes as much time as the first did: nothing else is lazy.

        Raises:
            EngineUnavailable: the model loads but doesn't work.
        """
        voice: Voice = ((self.info.default_voice, 1.0),)
        try:
            with closing(self.begin(Utterance(self._known * _WARM_UP_WORDS, "en-us", voice, 1.0))) as blocks:
                next(blocks)
        except EngineError as error:
            raise EngineUnavailable(
                f"the model {self.info.model} was loaded but can't speak: {error}; "
                "run `kokoro-live models fetch`, or name another with --model"
            ) from error

    @property
    def _known(self) -> str:
        """A short script that can be spoken with this model's vocabulary."""
        return "".join([phoneme for phoneme in self._vocabulary if phoneme.isalpha()][:3])

    def _inputs(self, utterance: Utterance) -> list[NDArray[Any]]:
        tokens = self._tokens(utterance.script)
        style = self._voices.style(utterance.voice, utterance.styled or len(tokens))
        return [np.array([[0, *tokens, 0]]), style, np.array([self._kokoro._speed_value(utterance.speed)])]

    def _tokens(self, script: str) -> list[int]:
        # The front plans within the vocabulary. Leaving out an unknown phoneme would silently lose a part of a word.
        if unknown := sorted(set(script) - self._vocabulary.keys()):
            raise EngineError(f"the model has no phoneme {' '.join(unknown)}")
        if not 0 < len(script) <= MAX_PHONEME_LENGTH:
            raise EngineError(f"a segment has 1 to {MAX_PHONEME_LENGTH} phonemes, not {len(script)}")
        return [self._vocabulary[phoneme] for phoneme in script]


def _files(model: Path, voices: Path) -> tuple[ModelFile, ...]:
    """Description of the loaded files; a folder of voices counts as one file."""
    size = sum(file.stat().st_size for file in ([voices] if voices.is_file() else voices.glob("*.bin")))
    sha256 = cached_sha256_of(voices) if voices.is_file() else ""
    return ModelFile(model.name, model.stat().st_size, cached_sha256_of(model)), ModelFile(voices.name, size, sha256)


def _stages(model: Path, placed: Assignment, cut: bool, decision: ProviderDecision) -> Iterator[StageInfo]:
    """Stages with their execution providers, and with the nodes counted by the winning trial; a stage on the CPU has no
    such count."""
    won = next((verdict for _, tried, verdict in decision.verdicts if tried == placed), None)
    for name, target in placed.stages() if cut else [("whole", StageTarget())]:
        verdict = won if target.provider != CPU else None
        nodes = verdict.nodes_of(name, target.window, target.half) if verdict else None
        yield StageInfo(
            name=name, provider=target.provider, options=dict(target.options), window=target.window, nodes=nodes
        )


def _trial(provider: str, tried: Assignment, verdict: Verdict, age: float) -> TrialInfo:
    return TrialInfo(
        provider=provider,
        compute_units=dict(tried.generator.options).get("MLComputeUnits", ""),
        stale_from=None if math.isinf(age) else verdict.when + age,
        **{name: getattr(verdict, name) for name in TrialResult.__struct_fields__},
    )


def _speech(model: Path, settings: WorkerSettings, placed: Assignment) -> SplitSpeech | WholeSpeech:
    """The split model, from the cache or split now; otherwise the whole one, with a warning.

    Raises:
        EngineUnavailable: the model can't be loaded, or not in the way that the settings demand.
        BadOption, ProviderUnavailable: the execution provider doesn't work with these settings.
    """
    speech: SplitSpeech | WholeSpeech | None = None
    try:
        speech = _split(model, settings, placed)
        reason = "" if speech.windowed or settings.vocoder == "whole" else _NO_STATISTICS
    except Unprepared as error:
        reason = str(error)
    if reason and settings.vocoder == "windowed":
        raise EngineUnavailable(f"{model} can't be vocoded in windows: {reason}. Leave --vocoder out to run it whole")
    if reason:
        log.warning(
            "%s RUNS WHOLE, SO SOUND BEGINS LATER: it can't be vocoded in windows, because %s", model.name, reason
        )
    return speech or WholeSpeech(model, settings)


def _split(model: Path, settings: WorkerSettings, placed: Assignment) -> SplitSpeech:
    """The split model, from the cache or split now.

    Raises:
        Unprepared: the model can't be split.
        BadOption, ProviderUnavailable: the execution provider doesn't work with these settings.
    """
    if not model.is_file():
        raise Unprepared("the file is missing")
    prepared = prepare(model, settings.cache_dir)
    try:
        return SplitSpeech(model, prepared, settings, placed)
    except (BadOption, ProviderUnavailable):
        raise
    except EngineUnavailable as error:
        reason = f"of the stages that were made of it, {error}"
        if prepared.is_complete:
            remember_unloadable(prepared, reason)
        raise Unprepared(reason) from error


class WholeSpeech:
    """Speech from one session, which all threads share; each run has one thread unless the settings say otherwise. A
    second session with more threads would have weights of its own."""

    def __init__(self, model: Path, settings: WorkerSettings) -> None:
        """Load the model, on the CPU.

        Raises:
            EngineUnavailable: the file is missing, damaged or of the wrong kind. The message names it and tells the
                user how to fix it.
        """
        self.provider = CPU
        self.session = open_session(model, settings)
        check_signature(self.session, model)
        names = [output.name for output in self.session.get_outputs()]
        self._durations = next((names.index(name) for name in ("duration", "durations") if name in names), None)
        self.marks = self._durations is not None
        self.inflects = self.parts = False
        self.first_block = self.shortens_above = 0.0
        self.rendering = "whole"

    def blocks(
        self, inputs: Sequence[NDArray[Any]], utterance: Utterance, level: float = 1.0
    ) -> Generator[Block, None, None]:
        """Yield one block: the whole segment from `from_sample` on. `inputs` are tokens, style and speed; `level` is a
        factor on the samples.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: the errors of `worker.session.run_session`.
        """
        feeds = {
            given.name: np.asarray(inputs[_ORDER.get(given.name, 0)], NUMPY_TYPES[given.type])
            for given in self.session.get_inputs()
        }
        outputs = run_session(self.session, feeds, utterance.control)
        samples = to_pcm(Gain(None, level).applied(outputs[0].ravel(), 0))[utterance.from_sample :]
        if len(samples):
            marks: tuple[Mark, ...] = ()
            if utterance.marks and self._durations is not None:
                marks = marks_of(outputs[self._durations].ravel())
            here = tuple(mark for mark in marks if mark[1] >= utterance.from_sample)
            yield Block(utterance.from_sample, samples, last=True, marks=here)


_ORDER = {"style": 1, "speed": 2}
"""Index of each named input among `blocks`' inputs; the tokens, whatever their name, have index 0."""


def measure_provider(
    lifeline: Connection,
    answer: Connection,
    files: tuple[Path, Path],
    settings: WorkerSettings,
    provider: str,
    placed: Assignment,
) -> None:
    """A trial's measuring process (`worker.providers.trial`)."""

    from worker.providers.trial import tell_measurements  # a worker that speaks tries nothing

    def load(assigned: Assignment) -> KokoroEngine:
        return KokoroEngine(*files, settings, assigned=assigned)

    tell_measurements(lifeline, answer, provider, load, placed)
