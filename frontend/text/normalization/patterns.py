"""What the rules' patterns have in common. All repetitions are bounded or possessive: time is linear."""

from __future__ import annotations

MASK = "\ufdd0"
"""Stands for each character that a rule has taken. A noncharacter: sanitised text has none."""

START = rf"(?<![\w{MASK}])"
"""Where a word can begin."""

END = rf"(?![\w{MASK}])"
"""Where a word can end."""

NUMBER_START = rf"(?<![\w{MASK}$£€¥₹])(?<!\d[.,:/-])(?<![^\W\d][-/])(?<![^\s(\[\"“‘'—]\.)"
"""Where a number can begin: inside no address, version, model name (F-16) or other number."""

NUMBER_END = rf"(?![\w{MASK}])(?![.,:/^-]\d)"

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,2}(?:,\d{2}){1,5},\d{3}(?!\d)|\d{1,3}(?:['’]\d{3}){1,4}(?!\d)|\d{1,15})"
    r"(?:\.\d{1,15})?"
)
"""A cardinal or decimal, its digits grouped with commas by thousands, as in India (2,50,000) or in Switzerland
(1'950), or not at all."""

MINUS = r"(?:(?<![^\s(\[\"“‘'=<>≤≥~×*/+,:–—])[-−](?=[\d.$£€¥]))"
"""A sign that belongs to the number after it."""

DASH = r"(?: ?[–—] ?|[-‐‑−])"
"""What stands between a range's ends."""
