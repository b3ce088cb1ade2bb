"""The interface's languages, and texts that run from right to left: files for translators, the browser's language and
the setting, nothing for axe in any of them."""

import json
import re

import pytest
from playwright.sync_api import Browser, expect

from frontend.http.server import STATIC
from tests.page.strings import texts, untranslated
from tests.page.visit import FASTEST, Visit, needs_chromium
from tests.system.server import Server

LANGUAGES = {path.stem.removeprefix("words-"): path for path in STATIC.glob("words-*.json")}
FRENCH = "Il ne faut pas oublier que la vie est courte et qu'elle est belle."
_FILLED = re.compile(r"\{\w+\}")


@pytest.mark.parametrize("language", ["de", "fr", "es", "it", "pt", "hi", "ja", "zh"])
def test_every_text_of_the_page_is_in_every_file(language: str) -> None:
    found = json.loads(LANGUAGES[language].read_text())
    assert list(found) == texts()
    assert [english for english, text in found.items() if not text.strip()] == []
    wrong = {text for english, text in found.items() if {*_FILLED.findall(english)} != {*_FILLED.findall(text)}}
    assert not wrong


def test_modules_say_nothing_that_no_translator_sees() -> None:
    assert untranslated() == []


def test_the_scan_sees_texts_in_all_their_places() -> None:
    assert {"Search the voices", "Listen", "Off", "Resume", "female", "(Try again in {wait} s.)"} <= {*texts()}


@needs_chromium
def test_the_browser_and_the_setting_choose_the_language(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, speed=FASTEST, locale="de-AT", color_scheme="dark") as visit:
        page = visit.page
        words = json.loads(LANGUAGES["de"].read_text())
        expect(page.locator("html")).to_have_attribute("lang", "de")
        tabs = ["Read", "Books", "Connect", "Queue", "Figures"]
        expect(page.get_by_role("tab")).to_have_text([words[each] for each in tabs])
        page.get_by_label(words["Text"], exact=True).fill("Hello there. It is a test.")
        page.get_by_role("button", name=words["Listen"]).click()
        visit.says(words["Read to the end"])
        for each in ("Connect", "Queue", "Figures", "Books"):
            page.get_by_role("tab", name=words[each]).click()
            expect(page.get_by_role("tabpanel", name=words[each]).get_by_role("heading").first).to_be_visible()
            visit.axe_finds_nothing()
        page.get_by_role("tab", name=words["Read"]).click()
        page.get_by_role("button", name=words["Settings"]).click()
        with page.expect_navigation():
            page.get_by_label(words["Language of this page"]).select_option(label="日本語")
        expect(page.get_by_role("tab").first).to_have_text(json.loads(LANGUAGES["ja"].read_text())["Read"])
        assert not [request.url for request in visit.asked if "words-" in request.url and "-de" not in request.url][1:]


@needs_chromium
def test_a_text_in_another_language_is_read_by_its_best_voice_unless_one_was_chosen(
    chromium: Browser, espeak: Server
) -> None:
    with Visit(chromium, espeak, speed=FASTEST) as visit:
        page, voice = visit.page, visit.page.locator("#voice-name")
        own = voice.inner_text()
        page.get_by_label("Text", exact=True).fill(FRENCH)
        with page.expect_download():
            page.locator("#form").get_by_role("button", name="Download").click()
        visit.speak(FRENCH)
        visit.ends()
        said = page.locator("#suited [role=status]")
        expect(said).to_have_text("French: Siwis reads this text.")
        expect(voice).to_have_text("Siwis")
        assert {body["voice"] for body in visit.bodies()} == {"ff_siwis"}
        visit.speak("It is only an English text.")
        visit.ends()
        expect(page.locator("#suited")).to_be_hidden()
        expect(voice).to_have_text(own)
        visit.speak(FRENCH)
        page.get_by_role("button", name=f"Back to {own}").click()  # a choice from now on
        visit.speak(FRENCH)
        expect(said).to_have_text("This text is in French.")
        expect(voice).to_have_text(own)
        page.get_by_role("button", name="Have Siwis read it").click()
        expect(voice).to_have_text("Siwis")
        visit.axe_finds_nothing()
        page.reload()
        expect(voice).to_have_text(own)


@needs_chromium
def test_a_text_from_right_to_left_beside_one_from_left_to_right(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, viewport={"width": 640, "height": 400}, device_scale_factor=2) as visit:
        page = visit.page
        page.get_by_label("Text", exact=True).fill("שלום לכולם, זה מבחן.\n\nHello to all.\n\n- one\n- two")
        page.get_by_role("button", name="Listen").click()
        visit.reading()
        page.keyboard.press(" ")
        sides = page.locator("#pane > *").evaluate_all("all => all.map((one) => getComputedStyle(one).direction)")
        assert sides[:2] == ["rtl", "ltr"]
        # A window of 1,280 by 800 at 200 %.
        assert page.evaluate("document.documentElement.scrollWidth") <= 640
        bar = page.locator("#bar").bounding_box()
        assert bar and bar["y"] > 200
        visit.axe_finds_nothing()
