"""Plans of growing texts: they depend on the text and its flushes, and wait where a short sentence may join another."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import pytest

from frontend.contract.growing_text import GrowingText, TextMark, TextPart
from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits, plan_growing
from frontend.planning.profile import GUESS
from frontend.planning.reader import Reader
from frontend.planning.sentences import WrittenText
from tests.engine_infos import espeak, kokoro
from tests.frontend.plans import KOKORO, LIMITS, WINDOWED, sentence
from tests.miniature import vocabulary
from text.g2p import G2P
from text.pipeline import TextPipeline, configured_pipeline
from text.settings import TextSettings
from text.units.segmentation import units_of
from text.words.segment import Cut, Notation, PhonemeSource, Segment, Sentence, SentenceStart, Word

LONG = "abcde abcde abcde abcde abcde, abcde abcde abcde abcde."
SHORT = "abcde."
HOLDING, WAITING, FLUSH = TextMark.HOLDING, TextMark.WAITING, TextMark.FLUSH


def sentences_of(part: TextPart) -> Iterator[Sentence]:
    """One sentence a line."""
    return (sentence(line) for line in part.text.split("\n") if line)


class Plan:
    """A growing text, and what its plan gives of it."""

    def __init__(self) -> None:
        self.text = GrowingText()
        source = WrittenText(self.text, sentences_of)
        self.items = plan_growing(source, WINDOWED, 1.0, KOKORO, LIMITS)

    def write(self, *lines: str, flush: bool = False) -> None:
        self.text.add(TextPart("\n".join(lines), flush=flush))

    def given(self) -> list[str | TextMark]:
        """The plan until it waits: segments' texts and marks."""
        found: list[str | TextMark] = []
        with self.text.working():
            for item in self.items:
                found.append(item.text if isinstance(item, Segment) else item)
                if item in (HOLDING, WAITING):
                    break
        return found


@pytest.fixture
def plan() -> Plan:
    return Plan()


def test_each_long_sentence_is_given_as_it_comes(plan: Plan) -> None:
    assert plan.given() == [WAITING]
    plan.write(LONG)
    assert plan.given() == [LONG, WAITING]
    plan.write(LONG, LONG)
    assert plan.given() == [LONG, LONG, WAITING]
    plan.text.end()
    assert plan.given() == []


def test_a_short_sentence_joins_the_next_one(plan: Plan) -> None:
    plan.write(SHORT)
    assert plan.given() == [HOLDING]
    assert plan.given() == [HOLDING]
    plan.write(LONG)
    assert plan.given() == [f"{SHORT} {LONG}", WAITING]


def test_a_numbered_sentence_waits_for_no_other(plan: Plan) -> None:
    reader = Reader(PIPELINE, Limits())
    asked = SpeechRequest(
        "r", "", (("af_heart", 1.0),), "en-us", 1.0, growing=plan.text, sentences=True, from_sentence=1
    )
    plan.items = reader.segments(asked, ENGINE, GUESS)
    plan.write("Yes. No, never.")
    assert plan.given() == ["No, never.", WAITING]
    plan.text.add(TextPart("It may well be that", opening=3))
    with plan.text.working():
        begun = next(plan.items)
        plan.text.add(TextPart("It may well be that it is."))
        whole = next(plan.items)
    starts = [each.units[0].sentence for each in (begun, whole) if isinstance(each, Segment)]
    assert starts == [SentenceStart(2, "It may well be that"), SentenceStart(2, "It may well be that it is.")]


@pytest.mark.parametrize("how", ["hurry", "flush", "end"])
def test_the_wait_for_the_next_one_can_be_ended(plan: Plan, how: str) -> None:
    plan.write(LONG, SHORT)
    assert plan.given() == [LONG, HOLDING]
    if how == "hurry":
        plan.text.hurry()
        assert plan.given() == [SHORT, WAITING]
    elif how == "flush":
        plan.write(flush=True)
        assert plan.given() == [SHORT, FLUSH, WAITING]
    else:
        plan.text.end()
        assert plan.given() == [SHORT]
        return
    plan.write(LONG)
    assert plan.given() == [LONG, WAITING], "the text goes on"


def test_flushes_are_given_in_their_places(plan: Plan) -> None:
    plan.write(flush=True)
    plan.write(LONG, flush=True)
    plan.write(flush=True)
    plan.write(SHORT, flush=True)
    plan.text.end()
    assert plan.given() == [FLUSH, LONG, FLUSH, FLUSH, SHORT, FLUSH]


def test_the_plan_is_the_same_however_the_text_comes(plan: Plan) -> None:
    lines = [LONG, LONG, SHORT, LONG, SHORT, SHORT, LONG]
    at_once = Plan()
    at_once.write(*lines)
    at_once.text.end()
    expected = at_once.given()
    found: list[str | TextMark] = []
    for line in lines:
        plan.write(line)
        found += plan.given()
    plan.text.end()
    found += plan.given()
    assert [item for item in found if isinstance(item, str)] == expected


def part(segment: Segment | TextMark) -> tuple[str, Cut] | TextMark:
    if not isinstance(segment, Segment):
        return segment
    begin, end = segment.part or (0, len(segment.script))
    assert [word.written for word in segment.words] == segment.script[begin:end].split()
    return segment.script[begin:end].strip(), segment.cut


def parts(plan: Plan, *parts: TextPart) -> list[tuple[str, Cut] | TextMark]:
    """What is spoken once those parts have come, until the plan waits."""
    for each in parts:
        plan.text.add(each)
    found = []
    with plan.text.working():
        for item in plan.items:
            found.append(part(item))
            if item in (HOLDING, WAITING):
                break
    return found


BEGUN = TextPart("abcde fghij klmno pqrst uvwxy", opening=3)


@pytest.mark.parametrize("flush", [False, True])
def test_a_sentence_is_begun_before_it_is_whole_and_each_of_its_words_is_spoken_once(plan: Plan, flush: bool) -> None:
    assert parts(plan, BEGUN) == [("abcde fghij klmno", Cut.SEAM), WAITING]
    more = TextPart(f"{BEGUN.text} zabcd efghi jklmn", opening=6, said=3)
    assert parts(plan, more) == [("pqrst uvwxy zabcd", Cut.SEAM), WAITING]
    whole = TextPart(f"{more.text} opqrs.\n{LONG}", said=6, flush=flush)
    rest = [("efghi jklmn opqrs.", Cut.SENTENCE), (LONG, Cut.SENTENCE), *([FLUSH] * flush), WAITING]
    assert parts(plan, whole) == rest
    assert parts(plan, TextPart(LONG)) == [(LONG, Cut.SENTENCE), WAITING]


def test_a_sentence_is_begun_together_with_a_short_one_that_was_held_for_it(plan: Plan) -> None:
    assert parts(plan, TextPart(SHORT)) == [HOLDING]
    assert parts(plan, BEGUN) == [("abcde. abcde fghij klmno", Cut.SEAM), WAITING], "nothing hurries what is spoken"
    whole = TextPart(f"{BEGUN.text}.", said=3)
    assert parts(plan, whole) == [("pqrst uvwxy.", Cut.SENTENCE), WAITING]


def test_what_another_stream_has_begun_is_gone_on_with(plan: Plan) -> None:
    assert parts(plan, TextPart(f"{BEGUN.text}.", said=3)) == [("pqrst uvwxy.", Cut.SENTENCE), WAITING]


def test_words_that_depend_on_their_sentence_wait_for_it() -> None:
    plan = Plan()
    source = WrittenText(plan.text, sentences_of, lambda words: [*words, "klmno"].index("klmno"))
    plan.items = plan_growing(source, WINDOWED, 1.0, KOKORO, LIMITS)
    assert parts(plan, BEGUN) == [WAITING], "a sentence that would stop at such a word isn't begun"
    begun = "abcde fghij pqrst uvwxy zabcd"
    assert parts(plan, TextPart(begun, opening=3)) == [("abcde fghij pqrst", Cut.SEAM), WAITING]
    assert parts(plan, TextPart(f"{begun} klmno efghi", opening=6)) == [("uvwxy zabcd", Cut.SEAM), WAITING]
    assert plan.text.said == 5


@pytest.mark.parametrize(
    ("text", "inflected"),
    [
        ("The long history of some old bridges\n\nIt began early.", []),
        ("My sister said at last to everybody, “The train is late.”", []),
        ("Shall we first get rid of it or keep it?", ["of", "it"]),
    ],
)
def test_no_pitch_jumps_at_a_seam(plan: Plan, text: str, inflected: list[str]) -> None:
    """Words that rise begin at the pitch that is there; others go on as the first ones of them were said."""
    source = WrittenText(plan.text, lambda part: PIPELINE.sentences(part.text, "en-us", Notation.of(ENGINE)))
    plan.text.add(TextPart(" ".join(text.split()[:7]), opening=5))
    plan.text.add(TextPart(text, said=5, flush=True))
    plan.text.end()
    planned = plan_growing(source, GUESS, 1.0, Notation.of(ENGINE), Limits())
    words = [word for each in planned if isinstance(each, Segment) for word in each.words]
    assert [word.written for word in words] == text.split()
    assert [word.written for word in words if word.inflection] == inflected


def run_together(part: TextPart) -> Iterator[Sentence]:
    """One sentence of one run without white space, whose reader divides it into words of two letters; digits are said
    as letters, and capitals are silent."""
    said = part.text.translate(str.maketrans("0123456789", "abcdefghij"))
    phonemes = re.sub(r"([a-z]{2})(?=[a-z])", r"\1 ", re.sub("[A-Z]", "", said.replace("、", ", "))).strip()
    yield units_of([Word(said, phonemes, PhonemeSource.LEXICON)], KOKORO, Counter(), written=[part.text])


@pytest.mark.parametrize("end", ["yz.", "yzab、cdef.", "yz、12、cdef.", "yz12、cd、ef."])
@pytest.mark.parametrize(
    ("said", "openings"),
    [(0, ["ab cd, ef gh ij", "kl mn op qr"]), (5, ["ef gh ij", "kl mn op qr"]), (11, ["kl mn op qr"])],
)
def test_a_run_without_white_space_is_begun_at_its_readers_words(
    plan: Plan, end: str, said: int, openings: list[str]
) -> None:
    """Each of its characters is spoken once, and has a time, whatever follows and whichever stream has begun it."""
    source = WrittenText(plan.text, run_together, lambda texts: len(texts[0]), (2, 3))
    plan.items = plan_growing(source, WINDOWED, 1.0, KOKORO, LIMITS)
    begun = "abcd、efghijklmnopqrstuvwx"
    parts = [TextPart(begun[:17], opening=12, said=said), TextPart(begun, opening=19, said=said)]
    spoken: list[Segment] = []
    for each in (*parts, TextPart(begun + end, flush=True, said=said)):
        assert plan.text.said in (0, 11, 19), "where a word of the reader's ends"
        plan.text.add(each)
        with plan.text.working():
            items = takewhile(lambda item: item is not WAITING, plan.items)
            spoken += [item for item in items if isinstance(item, Segment)]
    assert len(spoken) == len(openings) + 1
    *begins, (rest, cut) = [(each.script[slice(*(each.part or (0, None)))].strip(), each.cut) for each in spoken]
    assert begins == [(script, Cut.SEAM) for script in openings]
    whole = "".join(unit.lead + unit.script for unit in next(run_together(TextPart(begun + end))))
    assert (rest, cut) == (whole[whole.index("st") :], Cut.SENTENCE)
    written = [word.written for each in spoken for word in each.words]
    assert "".join(written) == (begun + end)[said:]
    assert said or written[:3] == ["abcd、", "efghij", "klmnopqr"], "a clause has a time of its own"
    for each in spoken:
        begin, stop = each.part or (0, len(each.script))
        assert all(begin <= word.start < word.end <= stop for word in each.words)


@pytest.mark.parametrize(
    ("text", "said", "unspaced", "spoken"),
    [
        ("abcdefghijklmnop", 0, (3, 3), ["abcdefghij"]),
        ("abcdefghijklmnop", 0, (4, 3), ["abcdefgh"]),
        ("abcdefghijQklmno", 0, (2, 3), ["abcdefgh"]),
        ("abcdefghijklmnop", 0, (3, 6), []),
        ("abcdefghijklmnop", 4, (3, 6), ["abcd", "efghij"]),
        ("abcdefghijklmnop", 6, (3, 1), []),
    ],
    ids=["said", "held", "silent", "too-few", "more", "too-few-more"],
)
def test_the_words_of_a_run_that_are_spoken_early(
    plan: Plan, text: str, said: int, unspaced: tuple[int, int], spoken: list[str]
) -> None:
    source = WrittenText(plan.text, run_together, lambda texts: len(texts[0]), unspaced)
    plan.text.add(TextPart(text, opening=10, said=said))
    with plan.text.working():
        begun = source.opening()
    assert begun and [word.written for word in begun.units[0].words][: begun.words] == spoken


TEXT = "Yes. No, never. It costs $250, as it did in 2026."
ENGINE = kokoro(vocabulary="".join(vocabulary))


PIPELINE = TextPipeline(G2P())


def read(**fields: object) -> list[Segment]:
    request = SpeechRequest("r", TEXT, (("af_heart", 1.0),), "en-us", 1.0, **fields)  # type: ignore[arg-type]
    return list(Reader(PIPELINE, Limits()).segments(request, ENGINE, GUESS))


def test_short_sentences_share_a_segment_unless_they_are_numbered() -> None:
    assert read()[0].text.startswith("Yes. No, never. It costs")
    starts = [segment.units[0].sentence for segment in read(sentences=True)]
    assert [start for start in starts if start] == [
        SentenceStart(0, "Yes."),
        SentenceStart(1, "No, never."),
        SentenceStart(2, "It costs $250, as it did in 2026."),
    ]


def test_a_request_begins_with_the_sentence_that_it_names() -> None:
    whole = read(sentences=True)
    assert read(sentences=True, from_sentence=1) == whole[1:]
    assert read(sentences=True, from_sentence=9) == []


def test_each_segments_reading_and_planning_are_told(monkeypatch: Any) -> None:
    spent: list[tuple[float, float]] = []
    pipeline = configured_pipeline(G2P(), TextSettings(), None, lambda: None)
    whole = type(pipeline).performed

    def slowly(self: Any, *arguments: Any) -> Iterator[Sentence]:
        for each in whole(self, *arguments):
            time.sleep(0.02)
            yield each

    monkeypatch.setattr(type(pipeline), "performed", slowly)
    reader = Reader(pipeline, Limits(), lambda reading, planning: spent.append((reading, planning)))
    request = SpeechRequest("r", "One sentence. Then another one. A third.", (("af_heart", 1.0),), "en-us", 1.0)
    segments = list(reader.segments(request, espeak(), GUESS))
    assert len(spent) == len(segments) > 0
    assert sum(reading for reading, _ in spent) >= 3 * 0.02
    assert all(0 <= planning < reading for reading, planning in spent if reading > 0.02)
