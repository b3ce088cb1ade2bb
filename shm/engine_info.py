"""A worker's description of its engine: files, limits, voices, and the execution provider of each stage."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shm.audio import FASTEST, SAMPLE_RATE, SLOWEST

Speed = Annotated[float, Meta(ge=SLOWEST, le=FASTEST)]
"""A pace that a request may ask for, as a factor on the voice's own."""

Speaks = Literal["phonemes", "text"]
"""The kind of script that an engine takes: phonemes of its model's vocabulary, or text, if it has a G2P of its own."""

KOKORO_LETTERS = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "cmn",
}
"""Languages, as espeak-ng names them, by the first letter of a voice's name, which Kokoro-FastAPI's clients send."""

KOKORO_BEST = (
    *("af_heart", "af_bella", "af_nicole", "am_michael", "am_fenrir", "am_puck"),
    *("bf_emma", "bf_isabella", "bm_george", "bm_fable", "jf_alpha", "hf_alpha", "zf_xiaobei"),
)
"""Voices that come before others of their language and gender, by the grades that Kokoro's authors gave; the first is
the default."""


class ModelFile(msgspec.Struct, frozen=True):
    name: str
    bytes: int
    sha256: str = ""
    """Empty if the file wasn't hashed."""


class Priority(msgspec.Struct, frozen=True):
    """A process's scheduling, as read back from the operating system."""

    nice: int
    processors: tuple[int, ...] = ()
    """Processors that the process may use; empty where the system doesn't tie processes to processors."""
    qos: str = ""
    """The main thread's quality of service class on macOS; empty elsewhere."""


class StageInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Execution provider of one stage of a model. A model that isn't split has one stage, `whole`."""

    name: str
    provider: str
    options: dict[str, str] = {}
    """Options passed to the provider."""
    window: int = 0
    """Static window's length in frames at 80 Hz; 0 if the stage takes any length."""
    nodes: dict[str, int] | None = None
    """Number of nodes that ran on each execution provider, from onnxruntime's profile; None if no profile was taken."""


class TrialResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of an execution provider's trial. A figure is None if the trial ended before measuring it."""

    when: float
    """End of the trial, in seconds since 1970."""
    right: bool
    """True if the provider's sound is the CPU's, within rounding errors."""
    faster: bool
    """True if the provider is faster than the CPU by enough to be worth it."""
    reason: str
    """Reason for the verdict, as text for people."""
    snr: float | None = None
    """Signal-to-noise ratio in dB of the provider's sound against the CPU's, for the worst sentence."""
    ratio: float | None = None
    """CPU time divided by the provider's time, for the same sentences."""
    compile_seconds: float | None = None
    """Seconds to load and compile the model and to speak for the first time."""


class TrialInfo(TrialResult, frozen=True, kw_only=True):
    provider: str
    compute_units: str = ""
    """CoreML's compute units in this trial; empty for other providers."""
    stale_from: float | None = None
    """Seconds since 1970 from which a worker's start has the provider tried again; None: never."""


class VoiceInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    language: str = "en-us"
    """The language that the voice was made for, as espeak-ng names it."""
    gender: Literal["female", "male"] | None = None
    title: str = ""
    """The voice's name as people write it."""
    aliases: tuple[str, ...] = ()
    """Other names under which clients know the voice (OpenAI's), in lower case."""
    grade: str | None = None
    """Its authors' own grade, where it is B- or better: A is the best."""
    maker: str = ""
    maker_page: str = ""
    """The maker's page about the voice, as a URL."""


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a loaded engine: sent by a ready worker, shown in `/ready`, `X-Engine` and the model lists."""

    name: str
    rank: int = 0
    """Order of preference: among several engines, one with the highest rank is used."""
    provider: str
    """onnxruntime's execution provider, or `native`."""
    stands_in: bool = False
    """True if the engine speaks only because another one, which was asked for, can't."""
    model: str
    """The model file's name, or the library's name and version."""
    model_sha256: str = ""
    """Empty for an engine without a model file."""
    speaks: Speaks
    vocabulary: str = ""
    """The phonemes that the model knows, one character each; empty for an engine that speaks text."""
    phoneme_numbers: tuple[int, ...] = ()
    """The model's number for each phoneme of `vocabulary`; empty for an engine that speaks text."""
    max_tokens: int
    """The longest script of one segment: phonemes, or characters of text."""
    voices: tuple[VoiceInfo, ...]
    default_voice: str = ""
    """Voice of a request that names none; the first voice, unless the engine names another."""
    sample_rate: int = SAMPLE_RATE
    """Samples per second of everything that the engine makes."""
    voices_sha256: str = ""
    """Hash of all voices' values: together with `model_sha256` it shows whether a voice's name still means the same
    sound."""
    rendering: str = ""
    """Settings and files besides model and voices that change the samples: windows, and the digest of the predicted
    statistics; `whole` without windows. Empty for an engine that has only one way."""
    concurrency: int = 1
    """Number of segments that the engine makes concurrently."""
    first_block: float = 0.0
    """Seconds of audio in a segment's first block, if the engine vocodes in windows; 0 if a segment is one block."""
    shortens_above: float = 0.0
    """Speed above which sound is made at this speed, and shortened; 0: sound is made at every speed."""
    marks: bool = False
    """True if the engine can report the time at which each part of a script sounds (`SegmentOrder.marks`)."""
    inflects: bool = False
    """True if the engine follows inflections (`SegmentOrder.inflected`): their pitch, range, stretch and volume."""
    scores: bool = False
    """True if the engine makes and takes scores (`SegmentOrder.score`), and follows all of an inflection."""
    parts: bool = False
    """True if the engine can make a part of a script (`SegmentOrder.part`)."""
    files: tuple[ModelFile, ...] = ()
    providers: tuple[str, ...] = ()
    """Execution providers that could run the model here, in order of trial; `provider` is one of them."""
    threads: int = 0
    """Number of threads of a lone run, as the library reports it; 0 if the engine has no such setting."""
    priority: Priority | None = None
    """Priority of the worker's process; None if the engine runs in another process."""
    stages: tuple[StageInfo, ...] = ()
    """Stages in the order in which they run; empty for an engine without a model."""
    trials: tuple[TrialInfo, ...] = ()
    """Results of finished trials on this machine, for providers of the chain."""
    untried: tuple[str, ...] = ()
    """Execution providers that could run the model here and have had no trial yet, once for each trial that is due."""

    @property
    def voice_names(self) -> tuple[str, ...]:
        return tuple(voice.name for voice in self.voices)

    def __post_init__(self) -> None:
        if not self.default_voice and self.voices:
            msgspec.structs.force_setattr(self, "default_voice", self.voices[0].name)
