"""The text pipeline that the settings ask for, in a server and in a command that speaks without one."""

from __future__ import annotations

from collections.abc import Callable

from text.g2p import G2P
from text.lexicon.file import LexiconFile
from text.lexicon.lexicon import Lexicon
from text.mixed import MixedG2P
from text.normalization.settings import Normalization
from text.pipeline import TextPipeline
from text.settings import TextSettings


def configured_pipeline(
    g2p: G2P,
    text: TextSettings,
    normalization: Normalization,
    lexicon: LexiconFile | None,
    misread: Callable[[], None] = lambda: None,
) -> TextPipeline:
    """A pipeline whose lexicon follows its file.

    Args:
        lexicon: the file of `text.lexicon`, if that names one.
        misread: callback of `TextPipeline`.
    """
    return TextPipeline(
        MixedG2P(g2p) if text.mixed_languages else g2p,
        normalization,
        lexicon.current if lexicon else Lexicon,
        text.pauses,
        misread,
    )
