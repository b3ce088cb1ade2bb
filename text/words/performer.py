"""A performer: the voice, language and pace with which a part of a text is spoken."""

from __future__ import annotations

from dataclasses import dataclass

from shm.messages import Voice


@dataclass(frozen=True, slots=True)
class Performer:
    """A voice, the language that it speaks, and its own pace."""

    voice: Voice
    language: str
    """A language code of espeak's: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn."""
    rate: float = 1.0
    """The performer's pace, times the request's speed."""

    @property
    def name(self) -> str:
        """The voice as requests write it: `af_heart`, or a blend such as `af_heart(0.75)+af_bella(0.25)`."""
        if len(self.voice) == 1:
            return self.voice[0][0]
        return "+".join(f"{name}({weight:.4g})" for name, weight in self.voice)


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """One performer's part of a dialogue."""

    text: str
    performer: Performer
    pause: float = 0.0
    """Seconds of silence after it; 0: as long as after any sentence."""
