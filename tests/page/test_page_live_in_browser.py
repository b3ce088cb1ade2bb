"""The page in Chromium: the server's figures, keys, engines without timestamps, and a server that goes away."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from frontend.serving.errors import ErrorDetail
from frontend.speech.framing import EVENTS, Events
from shm.audio import SAMPLE_RATE
from shm.timing import SentenceTiming, WordTiming
from tests.page.visit import LONG, SHORT, VERY_LONG, Visit, needs_chromium
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, server
from tests.system.shared import SharedServer, shared

pytestmark = needs_chromium

KEY = "page-key"

GONE = "The connection to the server failed. The page goes on by itself when the server is back."
CUT = "The speech broke off before its end."


@pytest.fixture(scope="module")
def with_key() -> Iterator[SharedServer]:
    with shared("--engine", "espeak", "--api-keys", KEY) as house:
        yield house


def figure(visit: Visit, label: str) -> str:
    """The text that the live view shows next to a label."""
    return visit.page.locator(f"#figures > div:has(dt:text-is('{label}')) dd").inner_text()


def look(visit: Visit) -> None:
    visit.page.get_by_role("tab", name="Figures").click()
    visit.page.locator("#figures dt").first.wait_for()


def polls(visit: Visit) -> int:
    return sum(request.url.endswith(("/status", "/metrics")) for request in visit.asked)


def test_figures_come_when_they_were_measured(chromium: Browser, espeak: Server) -> None:
    espeak.hear(input="Before anybody looked.")
    with Visit(chromium, espeak) as visit:
        look(visit)
        labels = visit.page.locator("#figures dt").all_inner_texts()
        assert not any(label.startswith(("Time to first", "Real-time")) for label in labels)
        assert {"Streams", "Queue", "Cache", "Restarts", "Engine"} <= {*labels}
        assert figure(visit, "Restarts") == "none"
        assert re.fullmatch(r"0 in \d+ texts", figure(visit, "Gaps heard"))
        assert figure(visit, "Streams") == "0"
        visit.page.get_by_role("tab", name="Read").click()
        visit.speak(VERY_LONG.replace("sentence", "segment"))  # no other test has had the server speak it
        visit.reading()
        look(visit)
        visit.page.locator("#streams li").wait_for()
        visit.wait("() => [...document.querySelectorAll('dd')].some((one) => / ms, 1 request$/.test(one.innerText))")
        assert figure(visit, "Streams") == "1"
        measured = visit.page.locator("#figures > div:has(dt:text('Real-time factor')) dd").inner_text()
        assert re.match(r"\d+(\.\d+)?, (mean of \d+ segments|1 segment)", measured)
        visit.page.locator("summary", has_text="All that it says").click()
        visit.wait("() => document.getElementById('all').textContent.includes('quarantined_segments')")


def test_who_does_not_look_does_not_ask(chromium: Browser, espeak: Server) -> None:
    with Visit(chromium, espeak) as visit:
        page = visit.page
        page.clock.install()
        page.goto(f"{visit.origin}/#server")
        page.reload()

        def hide(hidden: bool) -> None:
            page.evaluate(
                """hidden => {
                  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
                  document.dispatchEvent(new Event("visibilitychange"));
                }""",
                hidden,
            )

        page.locator("#figures dt").first.wait_for()
        with page.expect_request("**/status"):
            page.clock.run_for(1500)
        before = polls(visit)
        hide(True)
        for _ in range(5):
            page.clock.run_for(60_000)
            page.evaluate("fetch('health').then((response) => response.text())")
        assert polls(visit) == before
        with page.expect_request("**/metrics"):
            hide(False)
        page.get_by_role("tab", name="Read").click()
        before = polls(visit)
        page.clock.run_for(60_000)
        page.evaluate("fetch('health').then((response) => response.text())")
        assert polls(visit) == before


def test_a_key_is_asked_for_and_kept_in_the_tab(chromium: Browser, with_key: SharedServer) -> None:
    with Visit(chromium, with_key.calm()) as visit:
        visit.excused = 1
        visit.speak("Open, please.")
        visit.complains("An API key is needed: send it as Authorization: Bearer KEY.")
        field = visit.page.get_by_label("Key, if this server wants one")
        expect(field).to_be_focused()
        field.fill("clé")
        visit.speak("Open, please.")
        visit.complains("An API key has only letters, digits and signs of ASCII, and no spaces.")
        field.fill(KEY)
        visit.speak("Open, please.")
        visit.ends()
        assert visit.page.evaluate("[Object.values(sessionStorage), document.cookie]") == [[KEY], ""]
        assert KEY not in visit.page.evaluate("JSON.stringify({...localStorage})")


def test_an_engine_without_timestamps_is_heard_as_well(chromium: Browser, tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path)) as kokoro, Visit(chromium, kokoro) as visit:
        visit.speak("Hello. Good day.")
        visit.wait("() => document.querySelectorAll('.sentence')[1]?.classList.contains('current')")
        visit.ends()
        assert visit.heard
        assert visit.lit == []
        assert visit.page.inner_text("#pane") == "Hello. Good day."
        expect(visit.page.get_by_role("alert")).to_be_empty()


def test_a_server_that_goes_away_is_told_in_words(chromium: Browser, with_key: SharedServer) -> None:
    doomed = with_key.calm()
    with Visit(chromium, doomed) as visit:
        look(visit)
        doomed.stop()
        expect(visit.page.locator("#live-trouble")).to_have_text(GONE)
        assert visit.page.locator("#figures > *").count() == 0
        visit.page.get_by_role("tab", name="Read").click()
        visit.speak(SHORT)
        visit.complains(GONE)
        expect(visit.page.locator("#ready")).to_have_text("No connection")
        visit.complaints.clear()


def test_a_browser_without_a_sound_device_says_so(visit: Visit) -> None:
    visit.page.evaluate("Object.defineProperty(AudioContext.prototype, 'state', {get: () => 'suspended'})")
    visit.speak(LONG)
    visit.says("The speech comes, but the browser plays nothing")


def test_speech_that_breaks_off_is_heard_so_far_and_told(visit: Visit) -> None:
    samples = (np.arange(12_000) % 100 * 100).astype("<i2")
    events = Events()
    begun = events.sentence(SentenceTiming(0, "Half a sentence.", 0), None)
    begun += events.words([WordTiming("Half", "Half", 0.0, 0.5)])
    begun += events.audio(samples.tobytes(), len(samples) / SAMPLE_RATE)
    died = events.error(ErrorDetail("The worker died twice.", "server_error", None, "synthesis_failed"))
    answers = iter([begun + died, begun])
    visit.page.route(
        "**/v1/audio/speech", lambda route: route.fulfill(content_type=EVENTS, body=next(answers), status=200)
    )
    for told in ("The worker died twice.", CUT):
        visit.page.evaluate("window.heard = []; window.lit = []")
        visit.speak("Half a sentence.")
        visit.complains(told)
        visit.state("idle")
        assert visit.heard == samples.tobytes()
        assert visit.lit == ["Half"]
        assert visit.page.inner_text("#said") == ""
