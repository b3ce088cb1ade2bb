"""A page to listen to: sentences plain and inflected, with their pitch before and after."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from benchmarks.inflections.sounds import Track
from benchmarks.inflections.speaking import Speaker
from benchmarks.measuring.machine import described
from benchmarks.quality.pitch import PITCH_HOP, pitches
from benchmarks.quality.renderings import write_wav
from shm.audio import SAMPLE_RATE
from shm.inflection import InflectedSpan, Inflection
from text.markup.inflections import EMPHASES

_TEXT, _QUESTION = "You are going to the market this afternoon.", "Did anyone remember to feed the cat?"

_INFLECTIONS = {
    "pitch +4 st": Inflection(pitch=4.0),
    "pitch -4 st": Inflection(pitch=-4.0),
    "range x 1.5": Inflection(range=1.5),
    "range x 0.5": Inflection(range=0.5),
    "contour -2 to +4 st": Inflection(contour=((0.0, -2.0), (1.0, 4.0))),
    "stretch x 1.25": Inflection(stretch=1.25),
}

_WIDTH, _HEIGHT, _TITLE = 640, 110, 26
_LOWEST, _HIGHEST = 6.0, 8.7
"""Octaves above 1 Hz that a plot shows: 64 to 416 Hz."""
_JUMP = 0.25
"""Octaves between two frames, from which on one of them is measured wrongly."""


def pairs(speaker: Speaker, folder: Path, voice: str = "af_heart") -> Path:
    """Write the page with its sounds into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    segment, question = speaker.segment(_TEXT, voice), speaker.segment(_QUESTION, voice)
    assert segment is not None and question is not None
    whole = [(name, InflectedSpan(0, len(segment.script), each)) for name, each in _INFLECTIONS.items()]
    market = next(word for word in segment.words if word.written == "market")
    rows = [*whole, ("emphasis strong: market", InflectedSpan(market.start, market.end, EMPHASES["strong"]))]
    said = [
        (name, _TEXT, speaker.say(segment.script, voice), speaker.say(segment.script, voice, each))
        for name, each in rows
    ]
    rise = speaker.say(question.script, voice), speaker.say(question.script, voice, *question.inflected())
    said.append(("a question, by default", _QUESTION, *rise))
    parts, plots = [], []
    for number, (name, text, plain, changed) in enumerate(said):
        for kind, sound in (("plain", plain), ("changed", changed)):
            write_wav(folder / f"{number}-{kind}.wav", sound)
        sounds = "".join(
            f'<p>{kind} <audio controls preload="none" src="{number}-{kind}.wav"></audio></p>'
            for kind in ("plain", "changed")
        )
        lines = plot(pitches(plain), pitches(changed))
        parts.append(f"<h2>{escape(name)}</h2><p>{escape(text)}</p>{sounds}{_svg(_HEIGHT, lines)}")
        place = number * (_HEIGHT + _TITLE)
        title = f'<text y="{_TITLE - 8}" font-family="sans-serif" font-size="14" fill="#66625a">{escape(name)}</text>'
        plots.append(f'<g transform="translate(0 {place})">{title}<g transform="translate(0 {_TITLE})">{lines}</g></g>')
    (folder / "plots.svg").write_text(_svg(len(said) * (_HEIGHT + _TITLE), "\n".join(plots)))
    facts = described()
    page = folder / "index.html"
    page.write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Inflections</title>"
        f"<h1>Inflections: {escape(voice)}</h1><p>{escape(facts)}. Grey: plain, green: inflected.</p>{''.join(parts)}\n"
    )
    return page


def _svg(height: int, drawn: str) -> str:
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
    drawn = f"<title>Pitch before and after</title>{drawn}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{drawn}</svg>\n'


def plot(plain: Track, changed: Track) -> str:
    """Lines in SVG of two pitches in Hz of each 10 ms, on a scale of octaves; gaps where nothing is voiced."""
    seconds = max(len(plain), len(changed)) * PITCH_HOP / SAMPLE_RATE
    lines = []
    for track, colour in ((plain, "#9a9488"), (changed, "#0e6b61")):
        octaves = np.log2(track)
        steps = []
        for place in np.flatnonzero(~np.isnan(octaves)):
            x = place * PITCH_HOP / SAMPLE_RATE / seconds * _WIDTH
            y = (_HIGHEST - octaves[place]) / (_HIGHEST - _LOWEST) * _HEIGHT
            joined = place and abs(octaves[place] - octaves[place - 1]) < _JUMP  # NaN is never less
            steps.append(f"{'L' if joined else 'M'}{x:.0f} {y:.0f}")
        lines.append(f'<path d="{"".join(steps)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return "".join(lines)
