"""The page as a reader: pause, back and forward, a click on a word, another speed or voice, all while it reads."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.page.visit import LONG, Visit, needs_chromium

pytestmark = needs_chromium

LINES = "A bird sat. It sang a quiet song.\n\nThen another came. Both sang."

_CLICK = """([word, nth]) => {
  const pane = document.getElementById("pane");
  const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const at = node.data.indexOf(word);
    if (at < 0 || nth--) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    node.parentElement.scrollIntoView({ block: "center", behavior: "instant" });
    const { x, y, width, height } = range.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  }
}"""


def click_word(page: Page, word: str, nth: int = 0) -> None:
    """Click the middle of a word, the nth of the text's pieces that have it."""
    x, y = page.evaluate(_CLICK, [word, nth])
    page.mouse.click(x, y)


def inputs(visit: Visit) -> list[str]:
    return [body["input"] for body in visit.bodies()]


def current(visit: Visit) -> Any:
    return expect(visit.page.locator(".current"))


def test_pause_stands_still_and_resume_asks_for_nothing(visit: Visit) -> None:
    page = visit.page
    visit.speak(LONG)
    visit.reading(words=3)
    page.get_by_role("button", name="Pause").click()
    visit.state("paused")
    lit = page.evaluate(
        """async () => {
          await new Promise((resolve) => setTimeout(resolve, 100));
          const before = window.lit.length;
          for (let frames = 0; frames < 30; frames += 1) await new Promise(requestAnimationFrame);
          return window.lit.length - before;
        }"""
    )
    assert lit == 0
    words = len(visit.lit)
    page.get_by_role("button", name="Resume").click()
    visit.reading(words=words + 3)
    assert len(inputs(visit)) == 1
    lit = visit.lit
    assert lit == LONG.split()[: len(lit)]


def test_a_page_that_stands_still_draws_no_frames(visit: Visit) -> None:
    count = """async () => {
      const draw = window.requestAnimationFrame;
      let asked = 0;
      window.requestAnimationFrame = (frame) => (asked++, draw(frame));
      await new Promise((resolve) => setTimeout(resolve, 200));
      window.requestAnimationFrame = draw;
      return asked;
    }"""
    assert visit.page.evaluate(count) == 0
    visit.speak(LONG)
    visit.reading()
    assert visit.page.evaluate(count) > 0
    visit.page.keyboard.press(" ")
    visit.state("paused")
    visit.page.evaluate(count)  # until the last one was drawn
    assert visit.page.evaluate(count) == 0


def test_a_click_on_a_word_is_heard_from_there(visit: Visit) -> None:
    # The paragraph that is clicked is minutes away, so nothing of it has been asked for.
    visit.speak(f"{LONG}\n\n{LINES}")
    visit.reading()
    click_word(visit.page, "another")
    visit.wait("() => window.lit.at(-1) === 'another'")
    assert inputs(visit)[-1] == "another came. Both sang."
    visit.ends()
    assert " ".join(visit.lit[visit.lit.index("another") :]) == "another came. Both sang."


def test_what_was_heard_is_asked_for_once(visit: Visit) -> None:
    page = visit.page
    visit.speak(LINES)
    visit.ends()
    assert inputs(visit) == [
        "A bird sat. It sang a quiet song.",
        "Then another came. Both sang.",
    ]
    first = visit.heard
    page.evaluate("window.heard = []; window.lit = []")
    click_word(page, "song")
    visit.wait("() => window.lit[0] === 'song.'")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowLeft")
    current(visit).to_have_text("It sang a quiet song.")
    page.evaluate("window.heard = []; window.lit = []")
    page.keyboard.press("ArrowLeft")
    current(visit).to_have_text("A bird sat.")
    page.get_by_role("button", name="Resume").click()
    visit.ends()
    assert len(inputs(visit)) == 2
    assert visit.heard == first
    assert " ".join(visit.lit) == LINES.replace("\n\n", " ")


def test_sentences_and_words_are_gone_through_while_paused(visit: Visit) -> None:
    page = visit.page
    visit.speak(LINES)
    visit.reading(words=2)
    page.keyboard.press(" ")
    visit.state("paused")
    page.get_by_role("button", name="Next sentence").click()
    current(visit).to_have_text("It sang a quiet song.")
    page.get_by_role("button", name="Next sentence").click()
    current(visit).to_have_text("Then another came.")
    page.locator("#title").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")
    page.get_by_role("button", name="Last sentence").click()
    current(visit).to_have_text("It sang a quiet song.")
    visit.state("paused")
    page.get_by_label("Place in the text").fill("3")
    current(visit).to_have_text("Both sang.")
    expect(page.get_by_label("Place in the text")).to_have_attribute("aria-valuetext", "Sentence 4 of 4")
    page.evaluate("window.lit = []")
    page.get_by_role("button", name="Resume").click()
    visit.ends()
    assert visit.lit == ["Both", "sang."]


def test_another_speed_is_heard_from_the_next_word_on(visit: Visit) -> None:
    page = visit.page
    visit.speak(LONG)
    visit.reading(words=4)
    with page.expect_request(lambda request: '"speed":1.5' in (request.post_data or "")):
        for _ in range(5):
            page.get_by_role("button", name="Faster").click()
    expect(page.locator("#speed")).to_have_text("1.5×")
    begun = [len(LONG[: -len(text)].split()) for text in inputs(visit)]
    visit.reading(words=begun[-1] + 6)
    lit: list[str] = []
    for word in visit.lit:
        # On a machine that had nothing ready beyond a word, one of the requests for another speed begins it again.
        if lit and word == lit[-1] and len(lit) - 1 in begun:
            continue
        lit.append(word)
    # No other word is heard twice, and none is left out.
    assert lit == LONG.split()[: len(lit)]


def test_another_voice_is_heard_from_the_next_word_on(visit: Visit) -> None:
    page = visit.page
    visit.speak(LONG)
    visit.reading(words=4)
    page.keyboard.press(" ")
    page.keyboard.press("v")
    with page.expect_request("**/v1/audio/speech"):
        page.get_by_role("dialog").get_by_text("Emma").click()
    page.keyboard.press("Escape")
    visit.state("paused")
    assert visit.bodies()[-1]["voice"] == "bf_emma"
    expect(page.locator("#voice-name")).to_have_text("Emma")
    page.keyboard.press(" ")
    visit.reading(words=12)
    lit = visit.lit
    assert lit == LONG.split()[: len(lit)]


def test_voices_are_heard_chosen_blended_and_remembered(visit: Visit, espeak: Any) -> None:
    page = visit.page
    listed = [voice["id"] for voice in espeak.get("/v1/audio/voices")[1]["voices"]]
    page.get_by_role("button", name="Voice: Heart").click()
    expect(page.locator(".voice")).to_have_count(len(listed))
    assert page.locator(".voice").evaluate_all("all => all.map((one) => one.dataset.id)") == listed
    expect(page.get_by_role("heading", name="American English")).to_be_visible()
    with page.expect_response("**/v1/audio/speech") as answered:
        page.get_by_role("button", name="Hear Bella").click()
    answered.value.finished()
    assert visit.bodies()[-1]["voice"] == "af_bella"
    assert len(espeak.hear(input=visit.bodies()[-1]["input"], voice="af_bella", response_format="pcm")) < 2 * 2 * 24_000
    page.get_by_role("button", name="Blend in Bella").click()
    page.get_by_label("Weight of Heart").fill("2")
    expect(page.locator(".blend output")).to_have_text("af_heart(2)+af_bella")
    page.keyboard.press("Escape")
    visit.speak("Blended.")
    visit.ends()
    assert visit.bodies()[-1]["voice"] == "af_heart(2)+af_bella"
    page.reload()
    expect(page.locator("#voice-name")).to_have_text("Heart + Bella")
    page.get_by_role("button", name="Voice: Heart + Bella").click()
    page.get_by_role("button", name="Take out Heart").click()
    page.keyboard.press("Escape")
    expect(page.locator("#voice-name")).to_have_text("Bella")


def test_settings_are_remembered(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Faster").click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Download as").select_option("opus")
    page.get_by_label("Size of the text").fill("1.3")
    page.get_by_label("Single keys are shortcuts").uncheck()
    page.reload()
    expect(page.locator("#speed")).to_have_text("1.1×")
    assert page.evaluate("document.documentElement.style.getPropertyValue('--size')") == "1.3"
    page.keyboard.press("v")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("Download as")).to_have_value("opus")
    expect(page.get_by_label("Single keys are shortcuts")).not_to_be_checked()
