"""English rules in their order: text with a form of its own (addresses, telephone numbers, dates, times), numbers with
a label, numbers between themselves, and words.
"""

from __future__ import annotations

import re

from text.normalization import emoji
from text.normalization.draft import Rule
from text.normalization.english import (
    abbreviations,
    classes,
    maths,
    references,
    tex,
    units,
    web,
)

_DIGIT = re.compile(r"\d")
_ANY = re.compile("")

RULES = (
    Rule("tex", tex.tex, re.compile(r"[$(=<>≤≥\\]")),
    Rule("music", maths.music, re.compile(r"[A-G][#♯♭♮bmM\dsad]|\d/\d")),
    emoji.OMITTED,
    Rule("web_addresses", web.web_addresses, web.NEEDED),
    Rule("code", web.code, re.compile(r"[-_(+{]")),
    Rule("classes", classes.classes, _ANY),
    Rule("references", references.references, re.compile(r"\d")),
    Rule("chemistry", maths.chemistry, re.compile(r"[₀-₉⁰¹²³⁴-⁹⁺⁻]|[A-Z][a-z]?\)?[\d(A-Z]")),
    Rule("units", units.units, _DIGIT),
    Rule("initialisms", abbreviations.initialisms, re.compile(r"[A-Z][A-Z&\ds]|\w&\w")),
    Rule("math", maths.math, maths.NEEDED),
)
