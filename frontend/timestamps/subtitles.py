"""Subtitle files of what was spoken: SubRip and WebVTT, as pysubs2 writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from pysubs2 import SSAEvent, SSAFile
from pysubs2.time import make_time

from frontend.contract.word_timing import WordTiming
from frontend.timestamps.cues import cues

FORMATS: Mapping[str, str] = {".srt": "srt", ".vtt": "vtt"}
"""The formats' names in pysubs2, by the files' suffixes."""

_BACKSLASH = "\ufdd0"
"""Stand-in for a backslash while pysubs2 has the text, because it takes `\\n` and `\\h` for commands. Unicode assigns
this code point no character."""


def subtitles(timings: Sequence[WordTiming], format_: str, language: str = "en") -> str:
    """The file's text.

    SubRip has no way to write `<b>` as text: players may take it for markup.

    Args:
        format_: `srt` or `vtt`.
        language: by which sentences are told apart, as espeak names it.
    """
    file = SSAFile()
    for cue in cues(timings, language):
        text = r"\N".join(line.replace("\\", _BACKSLASH) for line in cue.lines)
        if format_ == "vtt":
            text = escape(text, quote=False)
        file.append(SSAEvent(start=make_time(s=cue.start), end=make_time(s=cue.end), text=text))
    # Styles off and tags kept: braces in the text are text.
    return file.to_string(format_, keep_ssa_tags=True).replace(_BACKSLASH, "\\")
