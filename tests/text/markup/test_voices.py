"""Several voices in one text: tags and SSML name them, and each part is read and planned by itself."""

import difflib
import json
from pathlib import Path

import kokoro_onnx
import pytest

from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits
from frontend.planning.profile import GUESS
from frontend.planning.reader import Reader
from tests.engine_infos import kokoro
from text.g2p import G2P
from text.markup.marked import MarkupKind
from text.markup.meanings import MarkupError
from text.pipeline import TextPipeline
from text.words.performer import DialogueTurn, Performer
from text.words.segment import Cut, Segment

ENGINE = kokoro(
    *("af_heart", "af_bella", "bf_emma", "ff_siwis"),
    vocabulary="".join(json.loads((Path(kokoro_onnx.__file__).parent / "config.json").read_text())["vocab"]),
)
READER = Reader(TextPipeline(G2P()), Limits())


def performer(name: str, language: str = "en-us", rate: float = 1.0) -> Performer:
    return Performer(((name, 1.0),), language, rate)


def segments(text: str, markup: MarkupKind = MarkupKind.TAGS, **fields: object) -> list[Segment]:
    asked = SpeechRequest("id", text, (("af_heart", 1.0),), "en-us", 1.0, markup, **fields)  # type: ignore[arg-type]
    return list(READER.segments(asked, ENGINE, GUESS))


def cast(found: list[Segment]) -> list[tuple[str, str]]:
    return [
        (each.performer.name if each.performer else "", " ".join(word.written for word in each.words)) for each in found
    ]


def test_a_voice_tag_changes_the_voice_of_all_text_after_it() -> None:
    found = segments("It is. [voice:af_bella] No. Is it? [voice:af_heart] It is.")
    assert cast(found) == [("af_heart", "It is."), ("af_bella", "No. Is it?"), ("af_heart", "It is.")]


def test_a_voice_speaks_its_own_language_and_pronunciations_are_its_own() -> None:
    english, british, french = segments("Schedule. [voice:bf_emma] Schedule. [voice:ff_siwis] [chat](/ʃa/) noir.")
    assert (english.script[:2], british.script[:2]) == ("sk", "ʃˈ")
    assert french.performer == performer("ff_siwis", "fr-fr")
    assert french.script.startswith("ʃa nwˈaʁ")


def test_a_named_language_is_every_voices() -> None:
    found = segments("Schedule. [voice:bf_emma] Schedule.", one_language=True)
    assert [each.performer and each.performer.language for each in found] == ["en-us", "en-us"]


def test_a_change_within_a_sentence_ends_a_clause_and_signs_stay_with_the_words_before_them() -> None:
    said, quoted, rest = segments('He said "[voice:af_bella]go[voice:af_heart]", and left.')
    assert (said.cut, quoted.cut, rest.cut) == (Cut.CLAUSE, Cut.CLAUSE, Cut.SENTENCE)
    assert quoted.script.startswith("ɡˌO") and quoted.words[0].written.startswith("go")
    assert (quoted.script, rest.script) == ("ɡˌO”,", "ænd lˈɛft.")


def test_a_blank_line_between_two_voices_is_a_paragraph() -> None:
    assert [each.cut for each in segments("One.\n\n[voice:af_bella]Two.")] == [Cut.PARAGRAPH, Cut.SENTENCE]


def test_a_pause_between_two_voices_is_kept() -> None:
    for text in ("One. [pause:2s] [voice:af_bella] Two.", "One. [voice:af_bella] [pause:2s] Two."):
        assert [each.pause for each in segments(text)] == [2.0, None]


def test_a_rate_tag_scales_the_voices_own_pace_and_a_voice_tag_resets_it() -> None:
    found = segments(
        "[rate:0.5] One. [voice:Narrator] Two. [rate:1.5] Three. [voice:af_heart] Four. [rate:50%] Five.",
        aliases=(("narrator", performer("af_bella", rate=0.8)),),
    )
    assert [round(each.rate, 3) for each in found] == [0.5, 0.8, 1.2, 1.0, 0.5]
    assert [each.rate for each in segments("[rate:99] One. [rate:0.1] Two.")] == [5.0, 0.25]


def test_ssml_voices_nest_and_end_with_their_element() -> None:
    text = '<speak>a, <voice name="nobody bf_emma">b, <voice name="af_bella">c</voice>, d</voice>, e</speak>'
    found = segments(text, MarkupKind.SSML)
    assert [voice for voice, _ in cast(found)] == ["af_heart", "bf_emma", "af_bella", "bf_emma", "af_heart"]
    assert segments("<speak><voice>a</voice></speak>", MarkupKind.SSML)[0].performer is None


@pytest.mark.parametrize(
    ("text", "markup", "code", "message"),
    [
        ("Hi.\n [voice:af_hart] Hi.", MarkupKind.TAGS, "unknown_voice", r"line 2, column 2: .*af_heart"),
        ("Hi. [voice:]", MarkupKind.TAGS, "invalid_markup", "names no voice"),
        ("[voice:af_bella(x)] Hi.", MarkupKind.TAGS, "invalid_voice", "weight"),
        ("[rate:fast] Hi.", MarkupKind.TAGS, "invalid_markup", "names no rate"),
        ("[rate:0] Hi.", MarkupKind.TAGS, "invalid_markup", "names no rate"),
        ('<speak><voice name="x y">a</voice></speak>', MarkupKind.SSML, "unknown_voice", "column 8: voice: .*'y'"),
    ],
)
def test_what_names_no_voice_or_rate_is_refused_with_its_place(
    text: str, markup: MarkupKind, code: str, message: str
) -> None:
    with pytest.raises(MarkupError, match=message) as refusal:
        segments(text, markup)
    assert (refusal.value.status, refusal.value.code) == (400, code)


def test_a_fault_in_the_last_part_is_found_before_the_first_is_spoken() -> None:
    asked = SpeechRequest("id", "One. [voice:x] Two.", (("af_heart", 1.0),), "en-us", 1.0, MarkupKind.TAGS)
    with pytest.raises(MarkupError):
        next(READER.segments(asked, ENGINE, GUESS))


def test_turns_are_spoken_by_their_performers_with_the_pause_between_them() -> None:
    found = segments(
        "known by this",
        turns=(
            DialogueTurn("Hello there", performer("af_bella", rate=0.5), 0.3),
            DialogueTurn("...", performer("bf_emma", "en-gb"), 0.3),
            DialogueTurn("Bonjour. Ça va?", performer("ff_siwis", "fr-fr"), 0.3),
        ),
    )
    assert cast(found) == [("af_bella", "Hello there"), ("ff_siwis", "Bonjour. Ça va?")]
    assert [(each.rate, each.cut, each.pause) for each in found] == [
        (0.5, Cut.SENTENCE, 0.3),
        (1.0, Cut.SENTENCE, None),
    ]


def test_a_turn_can_not_smuggle_a_tag_where_the_markup_has_none() -> None:
    turns = (DialogueTurn("[voice:ff_siwis] Hello.", performer("af_bella")),)
    assert {voice for voice, _ in cast(segments("x", MarkupKind.BASIC, turns=turns))} == {"af_bella"}


def test_a_wrong_turn_is_named_and_all_turns_pauses_are_bounded_together() -> None:
    bella = performer("af_bella")
    with pytest.raises(MarkupError) as refusal:
        segments("x", turns=(DialogueTurn("Fine.", bella), DialogueTurn("[voice:x] Hi.", bella)))
    assert refusal.value.param == "turns[1].text"
    with pytest.raises(ApiError, match="62 seconds together; 60"):
        segments("x", turns=(DialogueTurn("a [pause:31s] b", bella), DialogueTurn("a [pause:31s] b", bella)))


def test_rules_that_are_off_for_a_text_leave_it_as_it_is_written() -> None:
    assert segments("5 km")[0].text == "five kilometers"
    assert "km" in segments("5 km", rules_off=("units",))[0].text


@pytest.mark.parametrize(
    "names", ["zz " * 30_000, "a+a+" * 20_000, " ".join(f"n{n}" for n in range(17)), "zz" * 40_000]
)
def test_a_long_list_of_names_is_refused_without_looking_all_up(names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    near = difflib.get_close_matches
    monkeypatch.setattr(difflib, "get_close_matches", lambda *given, **more: looked.append(1) or near(*given, **more))
    with pytest.raises(MarkupError):
        segments(f'<speak><voice name="{names}">Hello.</voice></speak>', MarkupKind.SSML)
    assert len(looked) <= 1


def test_names_before_the_first_known_one_cost_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difflib, "get_close_matches", lambda *_, **__: pytest.fail("nobody reads that message"))
    names = " ".join([f"zz{n}" for n in range(15)] + ["af_bella"])
    text = f'<speak><voice name="{names}">Hello.</voice></speak>'
    assert cast(segments(text, MarkupKind.SSML)) == [("af_bella", "Hello.")]
