"""Voice strings and settings of texts: what they become, or errors that name the cure."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine_infos import voices
from text.normalization.settings import Normalization
from text.settings import TextSettings
from text.words.voice_spec import UnknownVoice, VoiceError, parse_voice

NAMES = ("af_heart", "af_bella", "bf_emma", "am_echo")
VOICES = voices(*NAMES)


@pytest.mark.parametrize(
    ("spec", "blend"),
    [
        ("af_heart", {"af_heart": 1.0}),
        ("  AF_Heart ", {"af_heart": 1.0}),
        ("af_heart(3)", {"af_heart": 1.0}),
        ("af_heart+af_bella", {"af_heart": 0.5, "af_bella": 0.5}),
        ("af_heart(2)+af_bella(1)", {"af_heart": 2 / 3, "af_bella": 1 / 3}),
        ("af_heart(3)+af_bella", {"af_heart": 0.75, "af_bella": 0.25}),
        (" af_heart ( .5 ) + af_bella ( 1.5 ) ", {"af_heart": 0.25, "af_bella": 0.75}),
        ("af_heart+af_bella+AF_HEART(2.)", {"af_heart": 0.75, "af_bella": 0.25}),
        ("echo(3)+bf_emma", {"am_echo": 0.75, "bf_emma": 0.25}),
        ("marin+af_heart", {"af_heart": 1.0}),
        ("+".join(["af_heart"] * 8), {"af_heart": 1.0}),
    ],
)
def test_blends(spec: str, blend: dict[str, float]) -> None:
    voice = parse_voice(spec, VOICES)
    assert [name for name, _ in voice] == list(blend)
    assert dict(voice) == pytest.approx(blend)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        " ",
        "+",
        "af_heart+",
        "+af_heart",
        "af_heart af_bella",
        "af_heart,af_bella",
        "af_heart(",
        "af_heart)",
        "af_heart()",
        "af_heart(.)",
        "af_heart(1.2.3)",
        "af_heart(0)",
        "af_heart(0.000)",
        "af_heart(-1)",
        "af_heart(+1)",
        "af_heart(1e3)",
        "af_heart(nan)",
        "af_heart(inf)",
        "af_heart(١)",
        "af_heart(1)(2)",
        "af_heart(1 2)",
        "(1)",
        "af_heart(" + "9" * 400 + ")",
        "af_heart(" + "9" * 200 + ")+af_bella(0." + "0" * 200 + "1)",
        "af_heart\0",
        "+".join(["af_heart"] * 9),
        "af_heart" * 1000,
    ],
)
def test_nonsense_is_refused(spec: str) -> None:
    with pytest.raises(VoiceError) as error:
        parse_voice(spec, VOICES)
    assert len(str(error.value)) < 300


def test_an_unknown_voice_names_the_nearest() -> None:
    with pytest.raises(UnknownVoice, match=r"'af_hart'.*af_heart"):
        parse_voice("af_bella+af_hart", VOICES)


def test_an_unknown_voice_like_no_other_names_the_list() -> None:
    with pytest.raises(UnknownVoice, match="/v1/audio/voices"):
        parse_voice("zzzz", VOICES)


def test_openai_voices_need_their_stand_in() -> None:
    assert parse_voice("Echo", VOICES) == (("am_echo", 1.0),)
    with pytest.raises(UnknownVoice):
        parse_voice("onyx", VOICES)


def test_the_engines_own_name_wins_over_openais() -> None:
    assert parse_voice("echo", voices("echo", "am_echo")) == (("echo", 1.0),)


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.decimals("0.001", "1000", places=3)), min_size=1, max_size=8))
def test_any_blend_sums_to_one(terms: list[tuple[str, object]]) -> None:
    voice = parse_voice("+".join(f"{name}({weight})" for name, weight in terms), VOICES)
    assert math.isclose(sum(weight for _, weight in voice), 1.0)
    assert {name for name, _ in voice} == {name for name, _ in terms}


@given(st.text(max_size=600))
def test_any_string_is_a_blend_or_refused(spec: str) -> None:
    try:
        voice = parse_voice(spec, VOICES)
    except VoiceError:
        return
    assert math.isclose(sum(weight for _, weight in voice), 1.0)


def test_a_lexicon_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lexicon: there is no file"):
        TextSettings(lexicon=tmp_path / "none")
    (tmp_path / "mine.tsv").write_text("")
    assert TextSettings(lexicon=tmp_path / "mine.tsv").lexicon


@pytest.mark.parametrize(
    ("pauses", "says"),
    [
        (("heading=-1",), "pauses: heading must be seconds from 0 up, not '-1'"),
        (("dash=long",), "pauses: dash must be"),
        (("dash=inf",), "pauses: dash must be"),
        (("comma=1",), "pauses: there is no pause 'comma'"),
        (("dash",), "pauses: dash must be"),
    ],
)
def test_a_pause_has_a_known_name_and_a_length(pauses: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        TextSettings(pauses=pauses)


def test_rules_are_left_out_by_name() -> None:
    rules = TextSettings(normalize_without=("dates", "money"), normalize_emoji_names=True).normalization
    assert rules == Normalization(emoji_names=True).without(("dates", "money"))
    assert TextSettings().normalization == Normalization()
    with pytest.raises(ValueError, match=r"normalize_without: there is no rule 'datse'; there are .*dates"):
        TextSettings(normalize_without=("datse",))
