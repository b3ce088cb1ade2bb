"""espeak-ng as an engine: speech without a model, under Kokoro's voice names, so that clients need no change."""

from __future__ import annotations

import logging
from collections.abc import Generator

import numpy as np
import soxr

from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.messages import Mark, Voice
from worker.cancellation import Cancellation
from worker.engine import Block, EngineError, Utterance
from worker.espeak_library import LIBRARY_RATE, EspeakLibrary
from worker.espeak_marks import marks_of
from worker.espeak_text import pieces
from worker.kokoro_voices import KOKORO_VOICES
from worker.pcm import to_pcm

_log = logging.getLogger(__name__)

_LANGUAGE_FILES = {
    "en-us": "en-us",
    "en-gb": "en",
    "es": "es",
    "fr-fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt-br": "pt-br",
    "cmn": "cmn",
}
"""What a language code is called where voice variants are added: espeak-ng finds `en-gb` alone, but not `en-gb+f2`."""

_VARIANTS = {"f": "f2", "m": "m3"}

_NORMAL_RATE = 175
"""espeak-ng's words per minute at speed 1."""

_SLOWEST_OWN_SPEED = 0.5
"""espeak-ng takes no rate below 80 words per minute as such (0.46): what is slower is stretched."""

_PITCHES = range(35, 66)

_GAIN = 0.85
"""espeak-ng's peaks reach full scale, and resampling raises some beyond it."""

_PAUSING = tuple(".,;:!?…。，；：！？、।")
"""Marks after which a pause belongs to the segment. After a word there is none: the sentence goes on in the next."""


_SILENCE = SAMPLE_RATE // 10
"""Samples. What an utterance lasts for which espeak-ng has no sound ("★ ✓"): the text around it is to be heard."""


class EspeakEngine:
    """Whole segments, in a few milliseconds each. Bit-exact: the same utterance gives the same samples in any process.

    A blend is spoken by its heaviest voice: there is nothing to mix.
    """

    concurrency = 1

    def __init__(self) -> None:
        """Load the library once, to see that it can be.

        Raises:
            EngineUnavailable: it can't.
        """
        with EspeakLibrary() as library:
            version = library.version
        self.info = EngineInfo(
            name="espeak-ng",
            provider="native",
            model=f"espeak-ng {version}",
            speaks="text",
            max_tokens=1000,
            voices=KOKORO_VOICES,
            concurrency=self.concurrency,
            marks=True,
        )

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """One block: the whole segment from `from_sample` on; a short silence if espeak-ng has no sound for it.

        Whether a request has anything to speak was asked before; a line of signs within it must not end its stream.
        """
        voice, pitch = _voice(utterance.voice, utterance.language)
        texts = pieces(utterance.script)
        own_speed = max(utterance.speed, _SLOWEST_OWN_SPEED)
        with EspeakLibrary() as library:
            spoken = library.speak(
                [piece.text for piece in texts],
                voice=voice,
                words_per_minute=round(_NORMAL_RATE * own_speed),
                pitch=pitch,
                end_pause=texts[-1].text.rstrip().endswith(_PAUSING),
                seed=utterance.seed,
                cancellation=utterance.cancellation,
            )
            own_length = len(spoken)
            if utterance.speed < own_speed:
                spoken = library.stretch(spoken, utterance.speed / own_speed)
        if spoken.any():
            samples = to_pcm(soxr.resample(spoken.astype(np.float32) * (_GAIN / 32_768), LIBRARY_RATE, SAMPLE_RATE))
        else:
            _log.warning("espeak-ng has no sound for a segment of %d characters", len(utterance.script))
            samples = np.zeros(_SILENCE, np.int16)
        marks: tuple[Mark, ...] = ()
        if utterance.marks:
            scale = len(samples) / max(own_length, 1)
            begun = [
                (texts[word.text].places[word.place], round(word.sample * scale))
                for word in library.words
                if 0 <= word.place < len(texts[word.text].places)
            ]
            marks = marks_of(utterance.script, begun, samples)
        samples = samples[utterance.from_sample :]
        if len(samples):
            yield Block(utterance.from_sample, samples, last=True, marks=marks)

    def study(self, cancellation: Cancellation) -> bool:
        """There is nothing to be learned."""
        return False

    def warm_up(self) -> None:
        """Speak a word, which brings the library's files into the page cache."""
        for _ in self.begin(Utterance("ready", "en-us", ((KOKORO_VOICES[0], 1.0),), 1.0)):
            pass


def _voice(blend: Voice, language: str) -> tuple[str, int]:
    """Which espeak-ng voice, and its pitch: names of one kind (af_*, say) are spread over a fifth or so."""
    name, _ = max(blend, key=lambda part: part[1])
    if name not in KOKORO_VOICES:
        raise EngineError(f"there is no voice named {name}")
    if language not in _LANGUAGE_FILES:
        raise EngineError(
            f"espeak-ng isn't set up for the language {language}; use one of {', '.join(_LANGUAGE_FILES)}"
        )
    kind = [other for other in KOKORO_VOICES if other[:2] == name[:2]]
    place = (kind.index(name) + 1) / (len(kind) + 1)
    pitch = _PITCHES[round(place * (len(_PITCHES) - 1))]
    return f"{_LANGUAGE_FILES[language]}+{_VARIANTS[name[1]]}", pitch
