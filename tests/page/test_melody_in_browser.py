"""A sentence's melody: words drawn up, longer, emphasised, by mouse, finger and keys; heard, undone, kept."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.page.visit import FASTEST, Visit, needs_chromium
from tests.split_model import make_split_model, make_split_voices
from tests.system.server import Server, server

pytestmark = needs_chromium

TEXT = "A heart that beats & a voice that says so."


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("melody")
    model, voices = make_split_model(folder / "small.onnx"), make_split_voices(folder / "voices.bin")
    with server("--model", str(model), "--voices", str(voices), "--cache-dir", str(folder / "cache")) as started:
        yield started


def opened(visit: Visit) -> Locator:
    """The words of the sentence that was read, in the dialog."""
    visit.speak(TEXT)
    visit.ends()
    visit.page.keyboard.press("m")
    visit.wait("() => document.querySelector('#melody-dialog .words button')")
    return visit.page.locator("#melody-dialog .words button")


def word(words: Locator, written: str) -> Locator:
    return words.filter(has_text=written).first


def sent(visit: Visit, number: int) -> list[tuple[str, Any]]:
    """Words with an inflection in the last of so many scores that were spoken."""
    visit.page.wait_for_function("() => !document.querySelector('#melody-dialog .error').textContent")
    scores = [body["score"] for body in visit.bodies() if "score" in body]
    assert len(scores) == number
    assert not [phoneme for segment in scores[-1]["segments"] for phoneme in segment["phonemes"] if len(phoneme) > 1]
    return [
        (word["word"], word["inflection"])
        for segment in scores[-1]["segments"]
        for word in segment["words"]
        if word.get("inflection")
    ]


def drag(visit: Visit, button: Locator, right: float, up: float) -> None:
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + right, y - up, steps=4)
    visit.page.mouse.up()


def heard_more(visit: Visit, act: Any) -> None:
    """Do something, and wait for the answer with speech."""
    with visit.page.expect_response(lambda response: response.url.endswith("/v1/audio/speech")) as answer:
        act()
    assert answer.value.status == 200


def test_words_are_drawn_emphasised_heard_undone_and_kept(chromium: Browser, split: Server, tmp_path: Path) -> None:
    with Visit(chromium, split, speed=FASTEST) as visit:
        page, words = visit.page, opened(visit)
        expect(words).to_have_count(len(TEXT.split()))
        assert words.all_inner_texts()[1].strip() == "heart"
        before = word(words, "heart").locator("path").get_attribute("d")

        heard_more(visit, lambda: drag(visit, word(words, "heart"), 0, 20))
        assert sent(visit, 1) == [("heart", {"pitch": 4, "volume": 0, "stretch": 1})]
        expect(word(words, "heart")).to_have_accessible_name("heart +4")
        assert word(words, "heart").locator("path").get_attribute("d") != before

        heard_more(visit, lambda: word(words, "voice").click())
        expect(word(words, "voice")).to_have_attribute("aria-pressed", "true")
        assert dict(sent(visit, 2))["voice"] == {"pitch": 2.5, "volume": 3, "stretch": 1.25}

        width = (word(words, "beats").bounding_box() or {})["width"]
        heard_more(visit, lambda: drag(visit, word(words, "beats"), 0.5 * width, 0))
        assert dict(sent(visit, 3))["beats"] == {"pitch": 0, "volume": 0, "stretch": 1.5}

        with page.expect_download() as download:
            page.get_by_role("button", name="Keep as SSML").click()
        download.value.save_as(tmp_path / "kept")
        assert (tmp_path / "kept").read_text() == (
            '<speak>A <prosody pitch="+4st">heart</prosody> that <prosody rate="67%">beats</prosody> &#38; a '
            '<emphasis level="strong">voice</emphasis> that says so.</speak>\n'
        )
        ssml = split.hear(input=(tmp_path / "kept").read_text(), markup="ssml", response_format="pcm")
        with page.expect_download() as download:
            page.get_by_role("button", name="Keep as a score").click()
        download.value.save_as(tmp_path / "kept")
        score = split.hear(**json.loads((tmp_path / "kept").read_text()), response_format="pcm")
        assert score != split.hear(input=TEXT, response_format="pcm") and len(ssml) and len(score)

        heard_more(visit, lambda: page.keyboard.press("Control+z"))
        assert [name for name, _ in sent(visit, 4)] == ["heart", "voice"]
        heard_more(visit, lambda: page.get_by_role("button", name="Undo").click())
        heard_more(visit, lambda: page.get_by_role("button", name="Undo").click())
        assert sent(visit, 6) == []
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        visit.axe_finds_nothing()


def test_keys_do_it_too(chromium: Browser, split: Server) -> None:
    with Visit(chromium, split, speed=FASTEST) as visit:
        page, words = visit.page, opened(visit)
        expect(words.first).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(words.nth(1)).to_be_focused()
        for number, key in enumerate(("ArrowUp", "Shift+ArrowRight", "Enter"), 1):
            heard_more(visit, lambda key=key: page.keyboard.press(key))
            assert len(sent(visit, number)) == 1
        assert sent(visit, 3) == [("heart", {"pitch": 3.5, "volume": 3, "stretch": 1.375})]
        expect(words.nth(1)).to_have_accessible_name("heart +1 · 110 %")
        page.keyboard.press("Escape")
        expect(page.locator("#melody-dialog")).to_be_hidden()


def test_a_finger_does_it_on_a_phone(chromium: Browser, split: Server) -> None:
    phone = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
    with Visit(chromium, split, speed=FASTEST, **phone) as visit:
        visit.speak(TEXT)
        visit.ends()
        visit.page.get_by_role("button", name="Melody").tap()
        words = visit.page.locator("#melody-dialog .words button")
        heard_more(visit, lambda: word(words, "voice").tap())
        assert dict(sent(visit, 1))["voice"]["pitch"] == 2.5
        word(words, "heart").scroll_into_view_if_needed()
        box = word(words, "heart").bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        finger = visit.context.new_cdp_session(visit.page)

        def draw() -> None:
            for kind, up in (("touchStart", 0), ("touchMove", 10), ("touchMove", 30), ("touchEnd", None)):
                points = [] if up is None else [{"x": x, "y": y - up}]
                finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        heard_more(visit, draw)
        assert dict(sent(visit, 2))["heart"]["pitch"] == 6
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
        visit.axe_finds_nothing()


def test_an_engine_without_scores_says_so(visit: Visit) -> None:
    visit.speak(TEXT)
    visit.ends()
    visit.excused = 1
    visit.page.get_by_role("button", name="Melody").click()
    visit.wait("() => document.querySelector('#melody-dialog .error').textContent.includes('score')")
    expect(visit.page.get_by_role("button", name="Keep as SSML")).to_be_disabled()
