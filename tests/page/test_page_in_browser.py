"""The page at `/` in Chromium, over a real server: what a person does, sees and hears."""

import re

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from frontend.audio.formats import FORMATS
from tests.page.visit import FASTEST, LONG, SHORT, SHORTER, VERY_LONG, Visit, needs_chromium
from tests.system.server import Server

pytestmark = needs_chromium


def active_streams(server: Server) -> int:
    found: int = server.get("/status")[1]["active_streams"]
    return found


def test_what_is_played_is_the_speech_and_its_words_light_up_in_order(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, speed=FASTEST) as visit:
        visit.speak(SHORT)
        visit.ends()
        played = np.frombuffer(visit.heard, "<i2")
        assert played.tobytes() == espeak.hear(input=SHORT, voice="af_heart", response_format="pcm", speed=FASTEST)
        assert np.abs(played.astype(int)).max() > 3000
        assert "".join(visit.lit).replace(" ", "") == SHORT.replace(" ", "")
        assert len(visit.lit) > 5
        assert visit.page.locator("#pane").text_content() == SHORT
        visit.state("idle")


def test_it_is_heard_while_it_is_made_and_escape_ends_it(visit: Visit, espeak: Server) -> None:
    start = len(espeak.log)
    visit.speak(VERY_LONG)
    visit.reading(words=3)
    assert re.fullmatch(r"First sound after \d+\.\d\d s", visit.page.inner_text("#said"))
    assert active_streams(espeak) == 1
    visit.page.keyboard.press("Escape")
    espeak.logs("POST /v1/audio/speech 499", start)
    visit.state("idle")
    assert active_streams(espeak) == 0
    # It keeps 10 s ready, and no more of a long text.
    assert 0 < visit.seconds < 60


@pytest.mark.parametrize("how", ["tab", pytest.param("navigation", marks=pytest.mark.slow)])
def test_who_leaves_leaves_nothing_behind(chromium: Browser, espeak: Server, how: str) -> None:
    start = len(espeak.log)
    with Visit(chromium, espeak) as visit:
        visit.speak(VERY_LONG)
        visit.reading()
        if how == "navigation":
            visit.page.goto(f"{visit.origin}/health")
        else:
            visit.page.close()
        espeak.logs("POST /v1/audio/speech 499", start)
        assert active_streams(espeak) == 0


def test_another_text_takes_the_place_of_the_first(visit: Visit, espeak: Server) -> None:
    start = len(espeak.log)
    visit.speak(VERY_LONG)
    visit.reading()
    visit.speak("Short.")
    visit.ends()
    espeak.logs("POST /v1/audio/speech 499", start)
    assert visit.page.inner_text("#pane") == "Short."


def test_errors_are_told_in_words(visit: Visit) -> None:
    visit.excused = 1
    field = visit.page.get_by_label("Text", exact=True)
    visit.speak("  ")
    visit.complains("The text is blank: give something to speak.")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    visit.page.evaluate("localStorage.setItem('kokoro-live settings', '{\"speed\": 9}')")
    visit.page.reload()
    visit.speak("Too fast.")
    visit.page.locator("#error:not(:empty)").wait_for()
    assert "speed" in visit.page.inner_text("#error")
    visit.page.get_by_role("button", name="Slower").click()
    visit.speak("Better.")
    visit.ends()
    visit.complains("")
    assert [body["speed"] for body in visit.bodies()] == [9, 4], "asked for once, at the speed that was chosen"


def test_downloads_are_files_of_their_format(visit: Visit, espeak: Server) -> None:
    page = visit.page
    page.get_by_label("Text", exact=True).fill(SHORT)
    options = page.get_by_label("Download as").locator("option")
    assert options.evaluate_all("all => all.map((one) => one.value)") == list(FORMATS)
    for name in FORMATS:
        page.get_by_role("button", name="Settings").click()
        page.get_by_label("Download as").select_option(name)
        page.keyboard.press("Escape")
        with page.expect_download() as downloading:
            page.get_by_role("button", name="Download").click()
        assert downloading.value.suggested_filename == f"speech.{name}"
        data = downloading.value.path().read_bytes()
        heard = espeak.hear(input=SHORT, voice="af_heart", response_format=name, stream=False)
        # Others may differ: an Ogg stream has a random serial number.
        assert (data[:4], len(data)) == (heard[:4], len(heard))
        visit.says("Downloaded:")


def test_with_the_keyboard_alone(visit: Visit, espeak: Server) -> None:
    page, order = visit.page, []
    for _ in range(10):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.ariaLabel"))
    expected = ["tab-read", "Settings", "text", "listen", "open", "voice", "play", "slower", "faster"]
    assert [name for name in order if name in expected] == expected
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.type("Typed e and v and o.")
    page.keyboard.press("Control+Enter")
    visit.ends()
    page.keyboard.press("e")
    assert page.get_by_label("Text", exact=True).input_value() == "Typed e and v and o."
    page.get_by_label("Text", exact=True).fill(LONG)
    page.get_by_role("button", name="Listen").focus()
    page.keyboard.press("Enter")
    visit.reading(words=8)
    page.keyboard.press(" ")
    visit.state("paused")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".current")).to_contain_text("number 3,")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".current")).to_contain_text("number 2,")
    page.keyboard.press(" ")
    visit.state("playing")
    page.keyboard.press("+")
    expect(page.locator("#speed")).to_have_text("1.1×")
    page.keyboard.press("v")
    expect(page.get_by_role("dialog", name="Voice")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    visit.state("playing")
    page.keyboard.press("Escape")
    visit.state("idle")


def test_tabs_follow_the_arrow_keys_and_the_address(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("tab", name="Read").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Figures")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Figures")).to_be_visible()
    expect(page.get_by_role("tabpanel", name="Read")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("tabpanel", name="Figures")).to_be_visible()
    page.get_by_role("tab", name="Read").click()
    assert page.url == f"{visit.origin}/"


def test_the_books_tab_is_mounted_when_it_is_first_shown(visit: Visit) -> None:
    module = """export function mountBooks(panel) {
      window.mounted = [...(window.mounted ?? []), panel.id];
      return { restart() {} };
    }"""
    visit.page.route("**/static/books.js", lambda route: route.fulfill(content_type="text/javascript", body=module))
    for name in ("Figures", "Books", "Read", "Books"):
        visit.page.get_by_role("tab", name=name).click()
    visit.wait("() => window.mounted")
    assert visit.page.evaluate("window.mounted") == ["books"]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_to_complain_of(chromium: Browser, espeak: Server, scheme: str) -> None:
    with Visit(chromium, espeak, color_scheme=scheme, reduced_motion="reduce") as visit:

        def check() -> None:
            visit.axe_finds_nothing()

        page = visit.page
        visit.speak("")
        page.wait_for_selector("#error:not(:empty)")
        check()
        visit.speak(SHORTER)
        visit.reading(words=3)
        check()
        page.keyboard.press("v")
        page.get_by_role("button", name="Blend in Bella").click()
        check()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Settings").click()
        check()
        page.get_by_role("button", name="Keyboard").click()
        check()
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Figures").click()
        page.locator("#all-box summary").click()
        page.get_by_text("Running for").wait_for()
        check()
        page.get_by_role("tab", name="Read").click()
        page.get_by_role("button", name="Close", exact=True).click()
        page.locator("#kept li").wait_for()
        check()


def test_the_settings_open_on_every_tab_while_nothing_is_read(visit: Visit) -> None:
    for tab in visit.page.get_by_role("tab").all():
        tab.click()
        visit.page.get_by_role("button", name="Settings").click()
        expect(visit.page.get_by_role("dialog", name="Settings")).to_be_visible()
        visit.page.keyboard.press("Escape")


def test_nothing_is_wider_than_a_phone(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, viewport={"width": 320, "height": 700}) as visit:
        wide = "document.documentElement.scrollWidth"
        long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
        visit.speak(f"{long} {SHORT}")
        visit.reading()
        assert visit.page.evaluate(wide) <= 320
        visit.page.keyboard.press("v")
        visit.page.locator("#voice-dialog[open]").wait_for()
        assert visit.page.locator("#voice-dialog").evaluate("dialog => dialog.scrollWidth - dialog.clientWidth") <= 0
        visit.page.keyboard.press("Escape")
        visit.page.get_by_role("tab", name="Figures").click()
        visit.page.locator("#all-box summary").click()
        assert visit.page.evaluate(wide) <= 320
        visit.page.get_by_role("tab", name="Read").click()
        visit.page.get_by_role("button", name="Close", exact=True).click()
        visit.page.locator("#kept li").wait_for()
        assert visit.page.evaluate(wide) <= 320


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
