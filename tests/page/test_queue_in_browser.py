"""The queue in Chromium: who waits and why, what is planned, first sounds, errors; on a phone, without texts."""

import re

from playwright.sync_api import Browser, expect

from tests.page.visit import VERY_LONG, Visit, needs_chromium
from tests.system.server import Server

pytestmark = needs_chromium

PHONE = {"viewport": {"width": 360, "height": 740}}


def test_the_queue_shows_a_stream_its_plans_and_the_last_hour(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak, **PHONE) as visit:
        page = visit.page
        visit.speak(VERY_LONG.replace("sentence", "queued part"))
        visit.reading()
        page.get_by_role("tab", name="Queue").click()
        card = page.locator("[data-part=streams] > li").first
        expect(card.locator("h3")).to_have_text(re.compile(r"^\w+, en-us: (sounding|made)$"))
        expect(card.locator("[data-label='First sound'] dd")).to_have_text(re.compile(r"^after \d+\.\d\d s$"))
        expect(card.locator("[data-label='Waits for it'] dd")).to_have_text("a listener")
        expect(card.locator("ol li").first).to_have_text(re.compile(r"^\d+: \d+ tokens, [\d.]+ s of sound, \w+"))
        expect(page.locator("[data-part=plot-said]")).to_have_text(re.compile(r"^\d+ heard, the slowest after "))
        assert page.locator("[data-part=plot] rect").count() >= 1
        expect(page.locator("[data-part=workers] li").first).to_contain_text("running")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a phone scrolls sideways"
        assert "queued part" not in page.locator("#queue").inner_text()
        page.get_by_role("tab", name="Read").click()
        page.get_by_role("button", name="Close", exact=True).click()
        page.get_by_role("tab", name="Queue").click()
        expect(page.locator("[data-part=nobody]")).to_be_visible()


def test_errors_are_counted_by_cause_and_a_prediction_is_shown_while_nothing_sounds(visit: Visit) -> None:
    answer = {
        "ready": True,
        "streams": [
            {
                "request_id": "req-12345678", "engine": "kokoro", "seconds_sent": 0, "seconds_ready": 0,
                "waiting_segments": 1, "state": "waiting", "why": "the workers make what is due sooner",
                "voice": "af_heart", "language": "en-us", "waits": "listener", "age_seconds": 0.2,
                "first_sound_in_seconds": 0.31, "real_time_factor": 0.4, "due_in_seconds": -0.25,
                "planned": [{"segment": 0, "tokens": 12, "seconds": 1.5, "made": 0.25, "stage": "first block",
                             "worker": 3, "slot": 0, "deadline_in_seconds": 0.1}],
            }
        ],
        "errors_by_cause": {"overloaded": 3, "cut: synthesis_failed": 1},
        "first_sounds": [],
    }  # fmt: skip
    visit.page.route("**/status", lambda route: route.fulfill(json=answer))
    visit.page.get_by_role("tab", name="Queue").click()
    card = visit.page.locator("[data-request='req-12345678']")
    expect(card.locator("[data-label='First sound'] dd")).to_have_text("expected in 0.31 s")
    expect(card.locator("[data-label='Next segment due'] dd")).to_have_text("0.25 s late")
    expect(card.locator("ol li")).to_have_text(
        "0: 12 tokens, 1.50 s of sound, first block by worker[3], 25 % made, due in 0.10 s"
    )
    expect(card.locator("p")).to_have_text("the workers make what is due sooner")
    errors = visit.page.locator("[data-part=errors] li")
    expect(errors).to_have_text(["overloaded: 3", "cut: synthesis_failed: 1"])
    expect(visit.page.locator("[data-part=plot-said]")).to_have_text("No first sound in the last hour.")
