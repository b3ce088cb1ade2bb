"""Texts, engines' costs and limits for tests of plans: chosen ones, and strategies that draw any."""

from collections import Counter
from dataclasses import replace

from hypothesis import strategies as st

from frontend.planning.planner import MIN_FIRST_TOKENS, Limits
from frontend.planning.profile import CostProfile
from text.units.segmentation import units_of
from text.words.segment import Cut, Notation, PhonemeSource, Sentence, Unit, Word

KOKORO = Notation("phonemes", frozenset("abcdefghijklmnopqrstuvwxyz ,.!?-"), 510)
FP32 = CostProfile(per_token=0.027, audio_per_token=0.0695)
"""An engine that makes segments whole, with two threads of the machine on which the model's costs were measured."""
WINDOWED = CostProfile(per_token=0.001, audio_per_token=0.0695, per_audio=0.34, first_block=0.3)
"""An engine that vocodes in windows, on that machine."""
FAST = CostProfile(per_token=0.0005, audio_per_token=0.0695)
"""An engine on a GPU."""
LIMITS = Limits()


def sentence(text: str, end: Cut = Cut.SENTENCE) -> Sentence:
    words = [Word(token, token.lower(), PhonemeSource.LEXICON) for token in text.split()]
    return units_of(words, KOKORO, Counter(), end=end, language="en-us")


def words_of(length: int, end: str = ".") -> str:
    """A number of tokens of short words without a phrase."""
    return ("abcde " * (length // 6 + 1))[: length - 1].strip().ljust(length - 1, "z") + end


PROFILES = st.builds(
    CostProfile,
    per_token=st.sampled_from([0.0, 1e-9, 0.0005, 0.003, 0.013, 0.027, 0.05, 0.1]),
    audio_per_token=st.sampled_from([0.05, 0.07]),
    fixed=st.sampled_from([0.0, 0.02, 0.3]),
    audio_fixed=st.sampled_from([0.0, 0.14]),
    per_audio=st.just(0.0),
) | st.builds(
    CostProfile,
    per_token=st.sampled_from([0.0005, 0.003, 0.01]),
    audio_per_token=st.just(0.07),
    per_audio=st.sampled_from([0.01, 0.34, 0.64, 1.2]),
    first_block=st.sampled_from([0.1, 0.3]),
    shortens_above=st.sampled_from([0.0, 1.5]),
)
_units = st.builds(
    Unit,
    text=st.sampled_from(["a", "of", "b,"]),
    script=st.integers(1, 24).map("x".__mul__) | st.just("y" * 45),
    lead=st.sampled_from([" ", " ", ""]),
    cut=st.sampled_from([Cut.WORD, Cut.WORD, Cut.PHRASE, Cut.CLAUSE, Cut.INSIDE]),
    rate=st.sampled_from([1.0] * 12 + [0.5, 2.0]),
    pause=st.sampled_from([None] * 12 + [0.3]),
)


def _ended(units: list[Unit], cut: Cut) -> Sentence:
    return (*units[:-1], replace(units[-1], cut=cut))


SENTENCES = st.builds(
    _ended, st.lists(_units, min_size=1, max_size=14), st.sampled_from([Cut.SENTENCE] * 4 + [Cut.PARAGRAPH, Cut.WORD])
)
TEXTS = st.lists(SENTENCES, max_size=8)
LIMIT_CHOICES = st.builds(Limits, st.sampled_from([60, 100, 400]), st.sampled_from([1.0, 2.7, 10.0]))


def token_limit(profile: CostProfile, speed: float, limits: Limits) -> int:
    """Most tokens of a segment of several units."""
    if profile.first_block or not profile.per_token:
        return limits.max_tokens
    work = (limits.max_segment_seconds - profile.fixed) / profile.per_token * speed
    return min(limits.max_tokens, max(int(work), 2 * MIN_FIRST_TOKENS))
