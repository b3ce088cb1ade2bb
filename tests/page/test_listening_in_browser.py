"""Listening for long in Chromium: steps, the sleep timer, the system's keys, a server that goes away, the page as an
app, and a download's progress."""

import json
import re

from playwright.sync_api import Browser, Route, expect

from tests.page.visit import LONG, VERY_LONG, Visit, needs_chromium
from tests.system.server import Server, server

pytestmark = needs_chromium

CHAPTERS = f"# One\n\n{LONG[:140]}\n\n# Two\n\n{LONG[140:600]}\n\n# Three\n\nThe end."


def sentence(visit: Visit) -> int:
    return int(visit.page.get_by_label("Place in the text").input_value())


def settings(visit: Visit, label: str, option: str) -> None:
    visit.page.get_by_role("button", name="Settings").click()
    visit.page.get_by_label(label).select_option(label=option)
    visit.page.keyboard.press("Escape")


def test_steps_of_seconds_and_paragraphs(visit: Visit) -> None:
    visit.speak(f"{LONG}\n\nSecond paragraph.\n\nThird paragraph.")
    visit.reading(words=3)
    visit.page.keyboard.press(" ")
    visit.state("paused")
    before = sentence(visit)
    visit.page.get_by_role("button", name="15 seconds on").click()
    assert 2 <= sentence(visit) - before <= 6  # a sentence takes 3 to 5 s
    visit.page.keyboard.press("j")
    assert sentence(visit) - before in (0, 1)
    visit.page.get_by_label("Place in the text").fill("1")
    visit.page.keyboard.press("j")  # a letter means nothing to the line above the buttons, which has the focus
    assert sentence(visit) == 0
    visit.page.keyboard.press("]")
    visit.page.keyboard.press("]")
    expect(visit.page.locator(".current")).to_have_text("Third paragraph.")
    visit.page.keyboard.press("[")
    expect(visit.page.locator(".current")).to_have_text("Second paragraph.")


def test_a_step_of_seconds_moves_from_every_place(visit: Visit) -> None:
    moved = visit.page.evaluate(
        """async (written) => {
            const { skip } = await import("/static/steps.js");
            const text = { lines: [{ text: written }], before: ({ offset }) => offset };
            const step = (offset, seconds) => {
                let to;
                const seek = (place) => (to = place.offset);
                skip({ text, place: { line: 0, offset }, pump: { pace: () => 1 }, seek }, seconds);
                return to - offset;
            };
            return [...Array(100).keys()].flatMap((each) => [step(100 + each, 20), -step(100 + each, -20)]);
        }""",
        "A word, and  then – another one. " * 12,
    )
    assert min(moved) > 10 and max(moved) < 30


def test_the_sleep_timer_pauses_before_the_next_chapter_or_after_minutes(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, speed=2) as visit:
        visit.page.clock.install()
        settings(visit, "Sleep timer", "At the end of the chapter")
        visit.page.clock.resume()
        visit.speak(CHAPTERS)
        settings(visit, "Sleep timer", "At the end of the chapter")
        visit.state("paused")
        expect(visit.page.locator(".current")).to_have_text("Two")
        visit.says("Paused by the sleep timer")
        expect(visit.page.locator("#sleep")).to_have_value("")
        settings(visit, "Sleep timer", "In 30 minutes")
        visit.page.get_by_role("button", name="Resume").click()
        visit.page.clock.fast_forward("29:00")
        assert visit.page.evaluate("document.body.dataset.reading") != "paused"
        visit.page.clock.fast_forward("01:01")
        visit.state("paused")


def test_the_tab_and_the_systems_keys_know_what_is_read(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak) as visit:
        visit.page.add_init_script(
            """window.keys = {};
            navigator.mediaSession.setActionHandler = (name, action) => (window.keys[name] = action);"""
        )
        visit.page.reload()
        visit.speak(f"A title\n\n{LONG}")
        visit.reading(words=3)
        assert visit.page.title() == "▶ A title – kokoro-live"
        assert visit.page.evaluate("navigator.mediaSession.metadata.title") == "A title"
        drawn = visit.page.evaluate("navigator.mediaSession.metadata.artwork[0].src")
        assert drawn.startswith("data:image/jpeg;base64,")
        assert visit.page.evaluate("navigator.mediaSession.playbackState") == "playing"
        visit.page.evaluate("keys.pause()")
        visit.state("paused")
        assert visit.page.title() == "⏸ A title – kokoro-live"
        before = sentence(visit)
        visit.page.evaluate("keys.nexttrack()")
        assert sentence(visit) == before + 1
        visit.page.evaluate("keys.play()")
        visit.state("playing")
        visit.page.keyboard.press("Escape")
        assert visit.page.title() == "kokoro-live"


def test_reading_goes_on_by_itself_when_the_server_is_back(visit: Visit) -> None:
    def away(route: Route) -> None:
        visit.excused += 1
        route.abort()

    visit.speak("First line here.\n" + LONG)
    visit.reading(words=2)
    visit.page.keyboard.press("Escape")
    for path in ("**/v1/audio/speech", "**/ready"):
        visit.page.route(path, away)
    visit.page.get_by_label("Place in the text").fill("3")
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("button", name="Play", exact=True).click()
    visit.complains("The connection to the server failed. The page goes on by itself when the server is back.")
    expect(visit.page.locator("#ready")).to_have_text("No connection")
    words = len(visit.lit)
    for path in ("**/v1/audio/speech", "**/ready"):
        visit.page.unroute(path)
    visit.complains("")
    visit.reading(words=words + 3)
    assert visit.lit[words : words + 5] == ["This", "is", "sentence", "number", "3,"][: len(visit.lit) - words]


def test_the_page_opens_without_its_server_and_says_so(chromium: Browser) -> None:
    with server("--engine", "espeak") as own, Visit(chromium, own, service_workers="allow") as visit:
        visit.page.evaluate("navigator.serviceWorker.ready")
        visit.wait("async () => (await caches.keys()).length === 1 && navigator.serviceWorker.controller !== null")
        manifest = json.loads(visit.page.evaluate("fetch('static/manifest.webmanifest').then((it) => it.text())"))
        for icon in manifest["icons"]:
            assert visit.page.evaluate("async (src) => (await fetch(`static/${src}`)).ok", icon["src"])
        visit.excused = 1000
        own.stop()
        visit.page.reload()
        expect(visit.page.locator("#ready")).to_have_text("No connection")
        expect(visit.page.get_by_label("Text", exact=True)).to_be_visible()
        visit.page.get_by_role("tab", name="Books").click()
        expect(visit.page.get_by_role("tabpanel", name="Books").get_by_role("heading")).to_be_visible()


def test_a_download_shows_its_progress_and_can_be_cancelled(visit: Visit, espeak: Server) -> None:
    field = visit.page.get_by_label("Text", exact=True)
    made = re.compile(r"Making the mp3 file: \d+:\d\d of \d+:\d\d")
    field.fill((VERY_LONG + "\n\n") * 8)
    start = len(espeak.log)
    visit.page.locator("#form").get_by_role("button", name="Download").click()
    expect(visit.page.locator("#saving span")).to_have_text(made)
    visit.axe_finds_nothing()
    visit.page.get_by_role("button", name="Cancel").click()
    espeak.logs("POST /v1/audio/speech 499", start)
    expect(visit.page.locator("#saving")).to_be_hidden()


def test_voices_are_searched_liked_heard_by_a_key_and_blended_by_sliders(visit: Visit) -> None:
    dialog = visit.page.locator("#voice-dialog")
    visit.page.keyboard.press("v")
    search = dialog.get_by_label("Search the voices")
    expect(search).to_be_focused()
    search.fill("italian")
    expect(dialog.locator(".voice:visible")).to_have_count(2)
    dialog.get_by_role("button", name="Favourite: Nicola").click()
    expect(dialog.locator("h3").first).to_have_text("Favourites")
    dialog.get_by_role("button", name="Favourite: Nicola").press("h")
    visit.wait("() => document.querySelector('.hear.heard')?.dataset.id === 'im_nicola'")
    alex = dialog.locator('.hear[data-id="em_alex"]')
    search.fill("alex")
    alex.hover()
    expect(alex).to_have_class(re.compile("heard"))
    search.fill("")
    dialog.get_by_role("button", name="Bella", exact=True).or_(
        dialog.locator('.choose[data-id="af_bella"]')
    ).first.click()
    dialog.locator('.add[data-id="bf_emma"]').click()
    dialog.get_by_role("slider", name="Weight of Emma").fill("3")
    expect(dialog.locator(".blend output")).to_have_text("af_bella+bf_emma(3)")
    expect(dialog.locator('small[data-id="bf_emma"]')).to_have_text("75%")
    visit.axe_finds_nothing()
    visit.page.reload()
    visit.page.keyboard.press("v")
    expect(dialog.locator("h3").first).to_have_text("Favourites")
    expect(dialog.locator(".voice").first).to_contain_text("Nicola")
