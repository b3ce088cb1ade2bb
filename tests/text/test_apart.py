"""Long texts are read in a helper process; a stall or a failure at one sentence costs that sentence its rules."""

import logging
import os
import pickle
import re
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits
from frontend.planning.profile import GUESS
from frontend.planning.reader import Reader
from shm.expendable import HelperDied
from shm.in_flight import BOARD_BYTES, Board, digest_of
from shm.memory import reserve
from tests.engine_infos import kokoro
from tests.text import stalling
from tests.text.letters import ESPEAK, KOKORO, VOCABULARY, LetterG2P
from tests.text.stalling import StallingLexicon, done, steps
from text import apart as module
from text import passages, pipeline
from text.apart import AT_ONCE, Apart, apart
from text.english.english import English
from text.espeak.espeak_g2p import EspeakG2P
from text.g2p import G2P
from text.given import Given
from text.lexicon import Lexicon, read_entries
from text.markup import marked, parse
from text.markup.marked import MarkupKind
from text.markup.meanings import MarkupError
from text.normalization import normalize
from text.normalization.draft import Draft
from text.normalization.english import english
from text.pipeline import TextPipeline
from text.units import pacing
from text.words.segment import Notation

LONG = "Some prose. " * (AT_ONCE // 12 + 1)
ENGINE = kokoro(vocabulary="".join(VOCABULARY))


@pytest.fixture(scope="module")
def helped() -> Iterator[Apart]:
    made = Apart()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps have little time, so that tests of endless ones are short."""
    monkeypatch.setattr(module, "_STEP_SECONDS", 0.05)


@pytest.fixture
def served(helped: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own helper is started."""
    monkeypatch.setattr(apart, "_helper", helped._helper)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 7, 200])
def test_the_helper_gives_what_the_function_gives(number: int, helped: Apart) -> None:
    assert list(helped.items(LONG, steps, number)) == list(range(number))
    assert helped.result(LONG, sorted, [3, 1, 2]) == [1, 2, 3]


def test_many_iterators_at_once_and_a_helper_killed_from_outside(helped: Apart) -> None:
    """More than the helper keeps, some forgotten, all lost in the middle."""
    several = [helped.items(LONG, steps, 20) for _ in range(70)]
    found = [[next(each), next(each)] for each in several]
    os.kill(helped.pids[-1], signal.SIGKILL)
    assert [[*begun, *rest] for begun, rest in zip(found, several, strict=True)] == [list(range(20))] * len(several)


@pytest.mark.parametrize("at", [0, 2, 5])
@pytest.mark.parametrize("what", ["for ever", "dies", "refuses", "fails"])
def test_whatever_ends_a_step_all_steps_before_it_are_given(at: int, what: str, helped: Apart, quick: None) -> None:
    kinds = {"refuses": MarkupError, "fails": ValueError}
    items = helped.items(LONG, steps, 20, at, what)
    assert [next(items) for _ in range(at)] == list(range(at))
    with pytest.raises(kinds.get(what, HelperDied)) as failure:
        next(items)
    if isinstance(failure.value, MarkupError):
        assert (failure.value.status, failure.value.line, failure.value.code) == (400, 3, "invalid_markup")
        assert "line 3" in failure.value.within("x").message
    elif what == "fails":
        assert "in done" in failure.value.__notes__[0]
    assert helped.result(LONG, done, "well") == 1


def test_the_caller_goes_on_while_a_step_takes_for_ever(helped: Apart, quick: None) -> None:
    died = threading.Event()

    def ask() -> None:
        with pytest.raises(HelperDied):
            helped.result(LONG, stalling.for_ever)
        died.set()

    threading.Thread(target=ask).start()
    turns = 0
    while not died.wait(0.001):
        turns += 1
    assert turns > 20


TEXTS = {
    "prose": "It was a bright cold day on 4 April, and **Dr. Who** paid $5.50; see [that](/x). " * 60,
    "paragraphs": "# One\n\nTwo and\nthree.\n\n- four\n- five\n\n" * 80,
    "no end": "word " * 3_000,
    "nothing": "***\n\n" * 900,
}


def not_here(*_: object) -> None:
    pytest.fail("a long text is read in the process that serves others")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("markup", [MarkupKind.BASIC, MarkupKind.SSML])
def test_a_long_text_has_the_same_segments_in_the_helper(
    text: str, markup: MarkupKind, helped: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    if markup is MarkupKind.SSML:
        text = f"<speak>{text}<break time='1s'/><mark name='a'/><sub alias='b'>c</sub></speak>"
    book = Lexicon(read_entries(b"cold\twarm\n")[0])
    reader = Reader(TextPipeline(LetterG2P(), lexicon=lambda: book), Limits())
    request = SpeechRequest("r", text, (("af_heart", 1.0),), "en-us", 1.0, markup)
    here = list(reader.segments(request, ENGINE, GUESS))
    monkeypatch.setattr(apart, "_helper", helped._helper)
    for owner, name in ((normalize, "_chunk"), (parse, "parse_basic"), (parse, "parse_ssml"), (marked, "sanitize")):
        monkeypatch.setattr(owner, name, not_here)
    assert list(reader.segments(request, ENGINE, GUESS)) == here


def test_a_sentence_that_stalls_is_read_without_rules_and_the_rest_with_them(served: None, quick: None) -> None:
    misread: list[None] = []
    made = TextPipeline(LetterG2P(), lexicon=StallingLexicon, misread=lambda: misread.append(None))
    before, after = "It cost $5. " * 100, "It cost $6. " * 100
    text = f"{before}A Zebra ran 3 km. {after}"
    units = [unit for sentence in made.sentences(text, "en-us", KOKORO) for unit in sentence]
    said = " ".join(unit.text for unit in units)
    assert said.count("five dollars") == said.count("six dollars") == 100
    assert said.count("A Zebra ran 3 km.") == 1
    assert len(misread) == 1


def test_a_text_that_stalls_everywhere_is_spoken_after_a_few_deaths(served: None, quick: None) -> None:
    misread: list[None] = []
    made = TextPipeline(LetterG2P(), lexicon=StallingLexicon, misread=lambda: misread.append(None))
    text = "A Zebra ran 3 km. " * 300
    units = [unit for sentence in made.sentences(text, "en-us", KOKORO) for unit in sentence]
    assert " ".join(word.written for unit in units for word in unit.words).split() == text.split()
    assert len(misread) <= 4


def test_a_text_whose_markup_stalls_is_a_failure(served: None, quick: None) -> None:
    with pytest.raises(HelperDied):
        apart.result(LONG, stalling.for_ever)


def test_short_texts_and_processes_without_a_helper_read_at_once(helped: Apart) -> None:
    prose = "It rained, and nobody came. " * (AT_ONCE // 28)
    assert helped.result(prose, os.getpid) == os.getpid() == Apart().result(LONG, os.getpid)
    assert helped.result(LONG, os.getpid) != os.getpid()


@pytest.mark.parametrize(
    "run", [unit * 200 for unit in ("=", ":.", "- ", "ab1", "\n> ")] + ["".join(map(chr, range(200, 400)))]
)
def test_a_short_text_with_a_run_that_no_prose_has_is_read_apart(helped: Apart, run: str) -> None:
    assert helped.result(f"It rained. {run} Nobody came.", os.getpid) != os.getpid()


def test_a_text_that_waits_for_the_helper_isnt_suspected_of_the_fronts_death() -> None:
    board = Board(memory := reserve(BOARD_BYTES))
    os.close(memory)

    class Watched:
        pids = (1,)

        def ask(self, order: bytes) -> bytes:
            assert (len(board.read().working), len(board.read().waiting)) == (0, 1)
            return pickle.dumps(([1], True, None))

    made = Apart()
    made._helper = Watched()
    with board.enter(digest_of(LONG)).working():
        assert made.result(LONG, os.getpid) == 1
        assert (len(board.read().working), len(board.read().waiting)) == (1, 0)


SENTENCES = ["The first cat sat on 10 cm.", "A Zebra ran 5 km to [it](/x).", "The last dog slept."]
BOOK = Lexicon(read_entries(b"ran\tsprinted\n")[0])


def names_the_zebra(value: object) -> bool:
    return "zebra" in (value.sentence if isinstance(value, Draft) else repr(value)).lower()


def failing(step: Callable[..., Any]) -> Callable[..., Any]:
    def failed(*args: Any, **named: Any) -> Any:
        if any(map(names_the_zebra, args)):
            raise ValueError(f"it was a {'zebra'.title()}")
        return step(*args, **named)

    return failed


@pytest.fixture
def fresh_rules() -> Iterator[None]:
    normalize._rules_on.cache_clear()
    yield
    normalize._rules_on.cache_clear()


def heard(made: TextPipeline, text: str, language: str, notation: Notation) -> str:
    units = [unit for sentence in made.sentences(text, language, notation) for unit in sentence]
    assert all(unit.script for unit in units)
    return " ".join(word.written for unit in units for word in unit.words if word.written)


def speaks_all(made: TextPipeline, text: str, language: str, notation: Notation) -> bool:
    return heard(made, text, language, notation).split() == text.split()


@pytest.mark.parametrize("rule", range(len(english.RULES)), ids=[rule.name for rule in english.RULES])
@pytest.mark.parametrize("notation", [KOKORO, ESPEAK], ids=["phonemes", "text"])
def test_a_rule_that_fails_costs_its_sentence_the_rules(
    rule: int,
    notation: Notation,
    monkeypatch: pytest.MonkeyPatch,
    fresh_rules: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    rules = list(english.RULES)
    rules[rule] = rules[rule]._replace(rewrite=failing(rules[rule].rewrite), needed=re.compile(""))
    monkeypatch.setattr(english, "RULES", tuple(rules))
    misread: list[None] = []
    made = TextPipeline(LetterG2P(), misread=lambda: misread.append(None))
    text = " ".join(SENTENCES)
    assert speaks_all(made, text, "en-us", notation)
    assert len(misread) == 1
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert f"at character {text.index('A Zebra')}: ValueError" in record.getMessage()
    assert "in failed" in record.getMessage() and "was a Zebra" not in record.getMessage()


STEPS: list[tuple[object, str, str]] = [
    (normalize, "plain", "en-us"),
    (normalize, "sentences", "en-us"),
    (normalize, "chunks", "en-us"),
    (passages, "passages", "en-us"),
    (Given, "keeps", "en-us"),
    (Given, "words", "en-us"),
    (G2P, "words", "en-us"),
    (English, "words", "en-us"),
    (EspeakG2P, "words", "es"),
    (EspeakG2P, "_give", "es"),
    (pacing, "paced_units", "en-us"),
    (pacing, "_with_pause", "en-us"),
    (pacing, "with_inner_pauses", "en-us"),
]


@pytest.mark.parametrize(("owner", "name", "language"), STEPS, ids=[each[1] for each in STEPS])
def test_a_step_that_fails_costs_its_sentence_that_step(
    owner: object, name: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, failing(getattr(owner, name)))
    misread: list[None] = []
    made = TextPipeline(G2P(), lexicon=lambda: BOOK, misread=lambda: misread.append(None))
    # In paragraphs of their own: Markdown is read by the paragraph.
    assert speaks_all(made, "\n\n".join(SENTENCES), language, KOKORO)
    assert len(misread) == (2 if name == "chunks" else 1)  # which is given the whole text


def test_letters_are_the_last_way_and_then_the_request_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    made = TextPipeline(G2P())
    monkeypatch.setattr(G2P, "words", failing(G2P.words))
    monkeypatch.setattr(pipeline, "by_rule", failing(pipeline.by_rule))
    assert speaks_all(made, " ".join(SENTENCES), "en-us", KOKORO)
    monkeypatch.setattr(pipeline, "spelled", failing(pipeline.spelled))
    given = made.sentences(" ".join(SENTENCES), "en-us", KOKORO)
    assert "cat" in " ".join(unit.text for unit in next(given))
    with pytest.raises(ValueError) as failure:
        list(given)
    assert failure.value.__notes__ == ["at character 28 of the text"]


def test_rules_that_fail_at_every_sentence_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def fail(*_: object) -> None:
        nonlocal calls
        calls += 1
        raise ValueError

    monkeypatch.setattr(normalize, "plain", fail)
    text = "It rains. " * 200
    assert speaks_all(TextPipeline(LetterG2P()), text, "en-us", KOKORO)
    assert calls < 50
