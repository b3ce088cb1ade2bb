"""Orders to espeak-ng for tests, and measurements of its sound."""

import hashlib

import numpy as np

from worker.engine import Utterance

FOX = "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun."
TEXTS = {
    "en-us": FOX,
    "en-gb": FOX,
    "es": "El perro duerme al sol y el zorro salta por encima.",
    "fr-fr": "Le chien dort au soleil et le renard saute par-dessus.",
    "hi": "कुत्ता धूप में सोता है और लोमड़ी उसके ऊपर से कूदती है।",
    "it": "Il cane dorme al sole e la volpe gli salta sopra.",
    "ja": "いぬはひなたでねていて、きつねがそのうえをとびこえます。",
    "pt-br": "O cachorro dorme ao sol e a raposa pula por cima dele.",
    "cmn": "狗在阳光下睡觉，狐狸从它身上跳过去。",
}


def one(name):
    return ((name, 1.0),)


def spoken(engine, text, voice="af_heart", language="en-us", speed=1.0, from_sample=0):
    """The one block's samples; empty if there is none."""
    blocks = list(engine.begin(Utterance(text, language, one(voice), speed, 0, from_sample)))
    assert [(block.offset, block.last) for block in blocks] in ([], [(from_sample, True)])
    return blocks[0].samples if blocks else np.zeros(0, np.int16)


def loudness(samples):
    return np.sqrt(np.mean(samples.astype(float) ** 2))


def longest_silence(samples):
    """The sound's length in seconds."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 50)
    return np.diff(np.concatenate([[0], loud, [len(samples)]])).max() / 24_000


def digest(samples):
    return hashlib.sha256(samples.tobytes()).hexdigest()
