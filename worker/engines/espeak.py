"""espeak-ng as an engine: speech without a model, under Kokoro's voice names, so that clients needn't change."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Sequence
from html import escape
from itertools import pairwise

import msgspec
import numpy as np
import soxr

from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from shm.engine_info import EngineInfo
from shm.espeak.installation import cure
from shm.espeak.messages import (
    LANGUAGE_FILES,
    LIBRARY_RATE,
    SEEDS,
    SPEAKING,
    EspeakRequest,
    EspeakResult,
    decode_spoken,
    encode,
)
from shm.espeak.pieces import TextPiece, pieces
from shm.expendable import Expendable, HelperDied, NoHelper
from shm.expendable_link import HelperError
from shm.inflection import InflectedSpan, Inflection
from shm.messages import Voice
from shm.timing import Mark
from worker.engine import Block, Cancelled, EngineError, EngineUnavailable, RunControl, Utterance
from worker.pcm import to_pcm
from worker.split.gain import Gain
from worker.voices.kokoro_voices import DEFAULT_VOICE, KOKORO_VOICES

# Marks for espeak-ng's speech: word starts as the library reports them, and word ends before pauses as measured in the
# samples.

_PAUSE = SAMPLE_RATE // 20
"""Samples of silence below which a gap is part of a word: the one before a `t`, for example."""


def marks_of(script: str, words: Iterable[Mark], samples: Pcm) -> tuple[Mark, ...]:
    """Marks of a segment, in the form of `shm.messages.Marks`: places rise strictly, samples don't fall.

    espeak-ng counts the pause after a clause as part of its last word. The word ends where its sound does: a mark there
    has the place right after the word, before the following space.

    Args:
        words: place in the script and first sample of each word. If several share a place, the first counts.
        samples: the whole segment, shape [n].
    """
    begun: list[Mark] = []
    for place, sample in words:
        if not begun or (place > begun[-1][0] and sample >= begun[-1][1]):
            begun.append((place, min(sample, len(samples))))
    marks: list[Mark] = []
    for (place, sample), (next_place, next_sample) in pairwise([*begun, (len(script), len(samples))]):
        marks.append((place, sample))
        end = _end_of_sound(samples, sample, next_sample)
        after = len(script[:next_place].rstrip())
        if next_sample - end >= _PAUSE and place < after < next_place:
            marks.append((after, end))
    last = marks[-1][1] if marks else 0
    marks.append((len(script), _end_of_sound(samples, last, len(samples)) if begun else len(samples)))
    return tuple(marks)


def _end_of_sound(samples: Pcm, start: int, end: int) -> int:
    """Index after the last audible sample of the range; `end` if none is audible."""
    loud = np.flatnonzero(np.abs(samples[start:end].astype(np.int32)) > AUDIBLE)
    return start + int(loud[-1]) + 1 if len(loud) else end


_log = logging.getLogger(__name__)

VOICES = tuple(
    msgspec.structs.replace(voice, grade=None, maker="espeak-ng", maker_page="https://github.com/espeak-ng/espeak-ng")
    for voice in KOKORO_VOICES
)
"""Kokoro's names, so that a client needn't change where espeak-ng speaks in Kokoro's place."""

_BY_NAME = {voice.name: voice for voice in VOICES}

_VARIANTS = {"female": "f2", "male": "m3"}

_NORMAL_RATE = 175
"""espeak-ng's words per minute at speed 1."""

_SLOWEST_OWN_SPEED = 0.5
"""Slowest speed that espeak-ng makes itself: it takes no rate below 80 words per minute (0.46). Slower speech is
stretched."""

_PITCHES = range(35, 66)

_GAIN = 0.85
"""Gain that avoids clipping: espeak-ng's peaks reach full scale, and resampling raises some beyond it."""

_PITCHES_PER_SEMITONE = 6.0
_SEMITONES_PER_RANGE = 2.1
"""Semitones by which the mean sinks when the range becomes 0: espeak-ng's begins at its lowest pitch."""

_PAUSING = tuple(".,;:!?…。，；：！？、।")
"""Punctuation marks after which a segment ends with a pause. A segment that ends with a word has no pause, because the
sentence continues in the next segment."""


_LONGEST_SPEAKING = 30.0
"""Limit in seconds for speaking one segment; the longest segment at the slowest speed takes less than one."""

_SILENCE = SAMPLE_RATE // 10
"""Samples of silence for an utterance that espeak-ng has no sound for ("★ ✓"), so that the text around it is still
heard."""


def load(*_: object) -> EspeakEngine:
    """The engine; no setting changes it."""
    return EspeakEngine()


class EspeakEngine:
    """espeak-ng engine: makes whole segments in a few milliseconds each. Bit-exact: the same utterance gives the same
    samples in any process.

    A blend is spoken by its heaviest voice, because espeak-ng can't mix voices. The library runs in a helper process: a
    text that crashes it loses the words that cause the crash; this process and other segments are unaffected.
    """

    concurrency = 1

    def __init__(self) -> None:
        """Have the helper load the library, to prove that it can be loaded.

        Raises:
            EngineUnavailable: the library can't be loaded, or its data is damaged.
        """
        self._helper = Expendable(SPEAKING, "kokoro-live: espeak-ng", _LONGEST_SPEAKING)
        voice, pitch = _voice(_READY.voice, _READY.language)
        try:
            version = self._helper.ask(encode(EspeakRequest([], voice, _NORMAL_RATE, pitch, end_pause=False, seed=0)))
        except (HelperDied, HelperError) as error:
            self._helper.end_helper()
            raise _broken(error) from error
        self.info = EngineInfo(
            name="espeak-ng",
            provider="native",
            model=f"espeak-ng {version.decode()}",
            speaks="text",
            max_tokens=1000,
            voices=VOICES,
            default_voice=DEFAULT_VOICE,
            concurrency=self.concurrency,
            marks=True,
            inflects=True,
        )

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """Yield one block: the whole segment from `from_sample` on; a short silence if espeak-ng has no sound for it.

        A request without anything to speak has been rejected before; within other requests, a line of symbols must not
        end the stream.
        """
        voice, pitch = _voice(utterance.voice, utterance.language)
        texts = pieces(utterance.script)
        own_speed = max(utterance.speed, _SLOWEST_OWN_SPEED)
        speech = EspeakRequest(
            [piece.text for piece in texts],
            voice,
            round(_NORMAL_RATE * own_speed),
            pitch,
            end_pause=texts[-1].text.rstrip().endswith(_PAUSING),
            seed=utterance.seed % SEEDS,
            stretched_speed=utterance.speed / own_speed,
        )
        louder = max((span.inflection.volume for span in utterance.inflected), default=0.0)
        level = Gain(None, 10 ** (max(louder, 0.0) / 20))
        said = None
        inflected = [(span, _prosody(span.inflection, pitch, level)) for span in utterance.inflected]
        if louder > 0 or any(element for _, element in inflected):
            plain, texts = texts, [_marked_up(piece, inflected, round(100 / level.level)) for piece in texts]
            said = self._spoken(
                msgspec.structs.replace(speech, texts=[piece.text for piece in texts], ssml=True), utterance.control
            )
            if said is None:
                texts, level = plain, Gain(None)
        said = said or self._spoken(speech, utterance.control)
        if said is None:
            texts = [part for piece in texts for part in self._harmless(piece, speech, utterance.control)]
            speech.texts = [piece.text for piece in texts]
            said = self._spoken(speech, utterance.control) if texts else EspeakResult(b"", 0, [])
            if said is None:
                raise EngineError("espeak-ng crashes on this text")
        spoken = np.frombuffer(said.samples, np.int16)
        if spoken.any():
            sound = soxr.resample(spoken.astype(np.float32) * (_GAIN / 32_768), LIBRARY_RATE, SAMPLE_RATE)
            samples = to_pcm(level.applied(sound, 0))
        else:
            _log.warning("espeak-ng has no sound for a segment of %d characters", len(utterance.script))
            samples = np.zeros(_SILENCE, np.int16)
        marks: tuple[Mark, ...] = ()
        if utterance.marks:
            scale = len(samples) / max(said.own_length, 1)
            begun = [
                (texts[text].places[place], round(sample * scale))
                for text, place, sample in said.words
                if 0 <= place < len(texts[text].places)
            ]
            marks = marks_of(utterance.script, begun, samples)
        samples = samples[utterance.from_sample :]
        if len(samples):
            yield Block(utterance.from_sample, samples, last=True, marks=marks)

    def _spoken(self, speech: EspeakRequest, control: RunControl) -> EspeakResult | None:
        """Speech from the helper process; None if the library crashes on the texts.

        Raises:
            Cancelled: the utterance was cancelled.
            EngineError: the library failed without crashing.
        """
        if control.is_cancelled:
            raise Cancelled
        try:
            with control.stopping(self._helper.interrupt):
                answer = self._helper.ask(encode(speech))
        except HelperError as error:
            raise EngineError(str(error)) from error
        except NoHelper as error:
            raise EngineError(str(error)) from error
        except HelperDied as death:
            if not control.is_cancelled:
                _log.warning("espeak-ng: %s, on %d characters", death, sum(map(len, speech.texts)))
                return None
        if control.is_cancelled:
            raise Cancelled
        return decode_spoken(answer)

    def _harmless(self, piece: TextPiece, speech: EspeakRequest, control: RunControl) -> list[TextPiece]:
        """The piece's longest parts on which the library doesn't crash, without the words on which it does."""
        if not piece.text.strip():
            return []
        if self._spoken(msgspec.structs.replace(speech, texts=[piece.text]), control):
            return [piece]
        text = piece.text
        spaces = [place for place in range(1, len(text)) if text[place] == " " and text[:place].strip()]
        if not spaces:
            return []
        cut = min(spaces, key=lambda place: abs(place - len(text) // 2))
        halves = TextPiece(text[:cut], piece.places[:cut]), TextPiece(text[cut:], piece.places[cut:])
        return [part for half in halves for part in self._harmless(half, speech, control)]

    def warm_up(self) -> None:
        """Speak a word, which brings the library's files into the page cache.

        Raises:
            EngineUnavailable: the word has no sound, because data is damaged.
        """
        try:
            if any(block.samples.any() for block in self.begin(_READY)):
                return
            reason: object = "it has no sound for a word"
        except EngineError as error:
            reason = error
        self._helper.end_helper()
        raise _broken(reason)


_READY = Utterance("ready", "en-us", ((DEFAULT_VOICE, 1.0),), 1.0)
"""The word with which the engine is tried."""


def _broken(reason: object) -> EngineUnavailable:
    told = str(reason)
    return EngineUnavailable(told if cure() in told else f"espeak-ng doesn't work: {told}; {cure()}")


def _voice(blend: Voice, language: str) -> tuple[str, int]:
    """espeak-ng's voice and pitch for a blend: the pitches of the voices of one language and gender are spread over
    about a fifth."""
    name, _ = max(blend, key=lambda part: part[1])
    voice = _BY_NAME.get(name)
    if voice is None or voice.gender is None:
        raise EngineError(f"there is no voice named {name}")
    if language not in LANGUAGE_FILES:
        raise EngineError(f"espeak-ng isn't set up for the language {language}; use one of {', '.join(LANGUAGE_FILES)}")
    kind = [other for other in VOICES if (other.language, other.gender) == (voice.language, voice.gender)]
    place = (kind.index(voice) + 1) / (len(kind) + 1)
    pitch = _PITCHES[round(place * (len(_PITCHES) - 1))]
    return f"{LANGUAGE_FILES[language]}+{_VARIANTS[voice.gender]}", pitch


def _prosody(inflection: Inflection, pitch: int, level: Gain) -> str:
    """The inflection as an element of SSML, as far as espeak-ng can follow it; "" if it can follow none of it.

    Args:
        pitch: espeak-ng's pitch for the voice.
        level: what the sound is amplified by afterwards, with a limiter: espeak-ng itself would clip.
    """
    semitones = inflection.pitch + _SEMITONES_PER_RANGE * (1 - inflection.range)
    wanted = {
        "pitch": (round(min(max(pitch + _PITCHES_PER_SEMITONE * semitones, 0), 99)), pitch, ""),
        "range": (round(min(50 * inflection.range, 99)), 50, ""),
        "volume": (round(100 * 10 ** (inflection.volume / 20) / level.level), 100, ""),
        "rate": (round(100 / inflection.stretch), 100, "%"),
    }
    changed = " ".join(f'{name}="{value}{unit}"' for name, (value, own, unit) in wanted.items() if value != own)
    return changed and f"<prosody {changed}>"


def _marked_up(piece: TextPiece, inflected: Sequence[tuple[InflectedSpan, str]], volume: int) -> TextPiece:
    """The piece as SSML; what is in no span has `volume`."""
    elsewhere = f'<prosody volume="{volume}">' if volume != 100 else ""
    parts: list[tuple[str, int]] = []
    now = ""
    for character, place in zip(piece.text, piece.places, strict=True):
        element = next((element for span, element in inflected if span.start <= place < span.end), elsewhere)
        if element != now:
            parts += [("</prosody>" if now else "", place), (element, place)]
        now = element
        parts.append((escape(character, quote=False), place))
    parts.append(("</prosody>" if now else "", piece.places[-1] if piece.places else 0))
    return TextPiece("".join(text for text, _ in parts), tuple(place for text, place in parts for _ in text))
