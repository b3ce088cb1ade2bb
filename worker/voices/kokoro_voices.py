"""Kokoro v1.0's 54 voices: their names, as in its `voices-v1.0.bin`, and the file with them.

The first letter is the language (a: American, b: British, e: Spanish, f: French, h: Hindi, i: Italian, j: Japanese, p:
Brazilian Portuguese, z: Chinese), the second is f or m for a woman's or a man's voice.
"""

from __future__ import annotations

from pathlib import Path

EMBEDDED = Path(__file__).with_name("kokoro-v1.0-voices.npz")
"""The file with these voices, made by `python -m worker.models.voice_tables` from the published one."""

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

KOKORO_VOICES = tuple(f"{kind}_{name}" for kind, names in _BY_KIND.items() for name in names.split())
"""All voice names in alphabetical order."""
