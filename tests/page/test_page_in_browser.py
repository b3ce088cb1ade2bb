"""The page at `/` in Chromium, over a real server: what a person does, sees and hears."""

from __future__ import annotations

import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.page.visit import LONG, SHORT, Visit, needs_chromium
from tests.system.server import Server

pytestmark = needs_chromium


def active_streams(server: Server) -> int:
    found: int = server.get("/status")[1]["active_streams"]
    return found


def test_what_is_played_is_the_speech_and_its_words_light_up_in_order(visit: Visit, espeak: Server) -> None:
    visit.speak(SHORT)
    visit.says("Spoken:")
    played = np.array(visit.heard, np.int16)
    assert played.tobytes() == espeak.hear(input=SHORT, voice="af_heart", response_format="pcm")
    assert np.abs(played.astype(int)).max() > 3000
    lit = visit.lit
    assert "".join(lit).replace(" ", "") == SHORT.replace(" ", "")
    assert len(lit) > 5
    assert visit.page.locator("#reading .now").count() == 0
    assert visit.page.locator("#reading").text_content() == SHORT
    assert re.fullmatch(r"Spoken: \d+\.\d s, first audio after \d+\.\d\d s(, .*)?\.", visit.page.inner_text("#said"))


def test_it_is_heard_while_it_is_made_and_stop_ends_it(visit: Visit, espeak: Server) -> None:
    start = len(espeak.log)
    visit.speak(LONG)
    visit.wait("() => document.querySelectorAll('#reading .spoken').length > 2")
    assert active_streams(espeak) == 1
    inked = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(Boolean)"
    assert visit.page.locator("#waveform").evaluate(inked)
    visit.page.get_by_role("button", name="Stop").click()
    visit.says("Stopped.")
    espeak.logs("POST /v1/audio/speech 499", start)
    assert active_streams(espeak) == 0
    # It keeps 20 s ready, and no more of a long text.
    assert 0 < visit.seconds < 120
    assert visit.page.locator("#reading .now").count() == 0


@pytest.mark.parametrize("how", ["tab", "navigation"])
def test_who_leaves_leaves_nothing_behind(chromium: Browser, espeak: Server, how: str) -> None:
    start = len(espeak.log)
    with Visit(chromium, espeak) as visit:
        visit.speak(LONG)
        visit.wait("() => document.querySelector('#reading .now')")
        if how == "navigation":
            visit.page.goto(f"{visit.origin}/health")
        else:
            visit.page.close()
        espeak.logs("POST /v1/audio/speech 499", start)
        assert active_streams(espeak) == 0


def test_another_text_takes_the_place_of_the_first(visit: Visit, espeak: Server) -> None:
    start = len(espeak.log)
    visit.speak(LONG)
    visit.wait("() => document.querySelector('#reading .now')")
    visit.speak("Short.")
    visit.says("Spoken:")
    espeak.logs("POST /v1/audio/speech 499", start)
    assert visit.page.inner_text("#reading") == "Short."


def test_voices_are_listed_and_blended(visit: Visit, espeak: Server) -> None:
    page = visit.page
    listed = [voice["id"] for voice in espeak.get("/v1/audio/voices")[1]["voices"]]
    options = page.get_by_label("Voice", exact=True).locator("option")
    assert sorted(options.evaluate_all("all => all.map((one) => one.value)")) == sorted(listed)
    assert page.get_by_label("Voice", exact=True).locator("optgroup").first.get_attribute("label") == (
        "American English, female"
    )
    page.get_by_role("button", name="Blend in another voice").click()
    page.get_by_label("Weight of voice 1").fill("2")
    page.get_by_label("Voice 2", exact=True).select_option("af_bella")
    expect(page.locator("#spec")).to_have_text("af_heart(2)+af_bella")
    page.get_by_label("Speed").fill("2")
    visit.speak("Blended.")
    visit.says("Spoken:")
    body = visit.bodies()[-1]
    assert (body["voice"], body["speed"]) == ("af_heart(2)+af_bella", 2)
    assert np.abs(visit.heard).max() > 3000
    page.get_by_role("button", name="Remove voice 2").click()
    expect(page.locator("#spec")).to_be_hidden()
    visit.speak("Alone.")
    visit.says("Spoken:")
    assert visit.bodies()[-1]["voice"] == "af_heart"


def test_errors_are_told_in_words(visit: Visit) -> None:
    visit.excused = 2
    visit.speak("  ")
    visit.complains("The text is blank: give something to speak.")
    expect(visit.page.get_by_label("Text", exact=True)).to_be_focused()
    expect(visit.page.get_by_label("Text", exact=True)).to_have_attribute("aria-invalid", "true")
    visit.page.get_by_role("button", name="Blend in another voice").click()
    visit.page.get_by_label("Weight of voice 1").fill("0")
    visit.speak("Better.")
    visit.complains("af_heart(0): a weight is a decimal number above 0, such as af_heart(0.5).")
    visit.page.get_by_label("Weight of voice 1").fill("1")
    visit.speak("Better.")
    visit.says("Spoken:")
    visit.complains("")
    assert visit.page.get_by_label("Text", exact=True).get_attribute("aria-invalid") is None


HEADS = {
    "mp3": rb"\xff[\xf2\xf3\xfa\xfb]|ID3",
    "opus": rb"OggS",
    "aac": rb"\xff[\xf0\xf1\xf8\xf9]",
    "flac": rb"fLaC",
    "wav": rb"RIFF....WAVE",
    "pcm": rb"",
}


def test_downloads_are_files_of_their_format(visit: Visit, espeak: Server) -> None:
    visit.page.get_by_label("Text", exact=True).fill(SHORT)
    options = visit.page.get_by_label("Format of the download").locator("option")
    assert options.evaluate_all("all => all.map((one) => one.value)") == list(HEADS)
    for name, head in HEADS.items():
        visit.page.get_by_label("Format of the download").select_option(name)
        with visit.page.expect_download() as downloading:
            visit.page.get_by_role("button", name="Download").click()
        assert downloading.value.suggested_filename == f"speech.{name}"
        data = downloading.value.path().read_bytes()
        assert re.match(head, data, re.DOTALL)
        # Bytes may differ: an Ogg stream has a random serial number.
        assert len(data) == len(espeak.hear(input=SHORT, voice="af_heart", response_format=name, stream=False))
        visit.says("Downloaded:")


def test_with_the_keyboard_alone(visit: Visit, espeak: Server) -> None:
    page, order = visit.page, []
    for _ in range(12):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        if order[-1] == "":
            order[-1] = page.evaluate("document.activeElement.ariaLabel")
    assert order[:4] == ["API", "Status", "Metrics", "text"]
    assert [name for name in order if name in ("blend", "speed", "format", "speak", "stop", "download")] == [
        "blend", "speed", "format", "speak", "stop", "download",
    ]  # fmt: skip
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.type("Typed.")
    page.keyboard.press("Control+Enter")
    visit.says("Spoken:")
    assert page.get_by_label("Text", exact=True).input_value() == "Typed."
    page.get_by_label("Text", exact=True).fill(LONG)
    page.get_by_role("button", name="Speak").focus()
    start = len(espeak.log)
    page.keyboard.press("Enter")
    visit.wait("() => document.querySelector('#reading .now')")
    page.keyboard.press("Escape")
    visit.says("Stopped.")
    espeak.logs("POST /v1/audio/speech 499", start)
    expect(page.get_by_role("button", name="Speak")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of(chromium: Browser, espeak: Server, scheme: str) -> None:
    with Visit(chromium, espeak, color_scheme=scheme, reduced_motion="reduce") as visit:
        visit.page.locator("summary").first.click()
        visit.page.locator("summary").last.click()
        visit.excused = 1
        visit.speak("")
        visit.page.wait_for_selector("#error:not(:empty)")
        found = Axe().run(visit.page)
        assert not found.violations_count, found.generate_report()
        visit.page.get_by_role("button", name="Blend in another voice").click()
        visit.speak(LONG)
        visit.wait("() => document.querySelectorAll('#reading .spoken').length > 1")
        visit.page.get_by_text("Time to first audio").wait_for()
        found = Axe().run(visit.page)
        assert not found.violations_count, found.generate_report()


def test_nothing_is_wider_than_a_phone(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, viewport={"width": 320, "height": 700}) as visit:
        visit.page.get_by_role("button", name="Blend in another voice").click()
        visit.page.locator("summary").last.click()
        visit.speak("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " + SHORT)
        visit.wait("() => document.querySelector('#reading .now')")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_script_from_elsewhere_has_no_chance(visit: Visit, espeak: Server) -> None:
    said = visit.page.evaluate(
        """() => new Promise((resolve) => {
          document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
          document.body.append(Object.assign(document.createElement("script"), {src: "http://elsewhere.invalid/"}));
        })"""
    )
    assert said == "script-src-elem"
    assert visit.complaints
    visit.complaints.clear()
    visit.asked[:] = [request for request in visit.asked if "elsewhere.invalid" not in request.url]


def test_the_text_is_kept_nowhere(visit: Visit, espeak: Server) -> None:
    visit.speak("Confidential words.")
    visit.says("Spoken:")
    kept = visit.page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    assert "onfidential" not in kept
    assert not any("onfidential" in line for line in espeak.log)
    visit.page.reload()
    assert visit.page.get_by_label("Text", exact=True).input_value() == ""
