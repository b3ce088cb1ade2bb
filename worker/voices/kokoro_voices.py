"""Kokoro v1.0's 54 voices, as in its `voices-v1.0.bin`, and the file with them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from shm.engine_info import KOKORO_BEST, KOKORO_LETTERS, VoiceInfo
from shm.messages import Voice

EMBEDDED = Path(__file__).with_name("kokoro-v1.0-voices.npz")
"""The file with these voices, made by `python -m benchmarks.training.voice_tables` from the published one."""

LEVELS = Path(__file__).with_name("levels.tsv")
"""Each voice's own loudness in LUFS (EBU R 128), measured by `python -m benchmarks.training.voice_levels`: name,
loudness, and the checksums of its values in the published file and in `EMBEDDED`."""

_BY_KIND = {
    "af": "alloy aoede bella heart jessica kore nicole nova river sarah sky",
    "am": "adam echo eric fenrir liam michael onyx puck santa",
    "bf": "alice emma isabella lily",
    "bm": "daniel fable george lewis",
    "ef": "dora",
    "em": "alex santa",
    "ff": "siwis",
    "hf": "alpha beta",
    "hm": "omega psi",
    "if": "sara",
    "im": "nicola",
    "jf": "alpha gongitsune nezumi tebukuro",
    "jm": "kumo",
    "pf": "dora",
    "pm": "alex santa",
    "zf": "xiaobei xiaoni xiaoxiao xiaoyi",
    "zm": "yunjian yunxi yunxia yunyang",
}

OTHER_NAMES = Path(__file__).with_name("other_names.tsv")
"""The voices of other services, which their clients ask for: service, id or name, title, and the voice for it: the
namesake if there is one, else one of the same sex, accent and language."""

DEFAULT_VOICE = KOKORO_BEST[0]

_GRADES = {"af_heart": "A", "af_bella": "A-", "af_nicole": "B-", "bf_emma": "B-", "ff_siwis": "B-"}
"""Source: https://huggingface.co/hexgrad/Kokoro-82M/blob/main/VOICES.md"""


def levelling(voice: Voice, checksums: Mapping[str, str], loudness: float) -> float:
    """The factor that brings a voice's samples to `loudness` in LUFS; of a blend, the voices' mean in dB.

    Args:
        checksums: those of the voices' values; a voice that isn't a published one stays as it is.
    """
    decibels = sum(weight * (loudness - _levels().get(checksums.get(name, ""), loudness)) for name, weight in voice)
    return float(10 ** (decibels / sum(weight for _, weight in voice) / 20))


@cache
def levels_digest() -> str:
    """Eight digits that change with `LEVELS`."""
    return hashlib.sha256(LEVELS.read_bytes()).hexdigest()[:8]


@cache
def _levels() -> dict[str, float]:
    rows = (line.split("\t") for line in LEVELS.read_text(encoding="utf-8").splitlines())
    return {checksum: float(level) for _, level, *checksums in rows for checksum in checksums}


@cache
def _other_names() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in OTHER_NAMES.read_text(encoding="utf-8").splitlines():
        _, name, _, voice = line.split("\t")
        found[voice] = (*found.get(voice, ()), name.lower())
    return found


def kokoro_voice(name: str) -> VoiceInfo:
    """A voice by its name, which begins with language and gender (`af_` is American, female) if it has Kokoro's form.
    Voices of other names, such as a user's own, speak American English."""
    kind, separator, own = name.partition("_")
    follows_form = bool(separator) and len(kind) == 2 and kind[0] in KOKORO_LETTERS and kind[1] in "fm"
    return VoiceInfo(
        name,
        language=KOKORO_LETTERS[kind[0]] if follows_form else "en-us",
        gender=None if not follows_form else "female" if kind[1] == "f" else "male",
        title=own.title() if follows_form else "",
        aliases=_other_names().get(name.lower(), ()),
        grade=_GRADES.get(name),
        maker="hexgrad",
        maker_page="https://huggingface.co/hexgrad/Kokoro-82M",
    )


KOKORO_NAMES = tuple(f"{kind}_{name}" for kind, names in _BY_KIND.items() for name in names.split())
"""All voices' names in alphabetical order."""

KOKORO_VOICES = tuple(map(kokoro_voice, KOKORO_NAMES))


def default_among(names: Sequence[str]) -> str:
    """The voice of a request that names none: Kokoro's best, or the first of a user's own voices."""
    return DEFAULT_VOICE if DEFAULT_VOICE in names else names[0]
