"""The page at `/` in Firefox and WebKit, over a real server: a text is read, steered by keys and clicks, light and
dark."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import numpy as np
import pytest

from tests.page.driven import DrivenPage
from tests.page.firefox import firefox, needs_firefox
from tests.page.visit import SHORT, SHORTER
from tests.page.webkit import WebKitPage, needs_webkit, webkit
from tests.system.server import Server
from tests.system.sound_card import SoundCard, needs_pulseaudio

pytestmark = [needs_pulseaudio, pytest.mark.slow]
"""The other files of this folder show in Chromium what these show again elsewhere."""

FIREFOX, WEBKIT = (firefox, needs_firefox), (webkit, needs_webkit)

WIDTHS = (360, 820, 1440)


def shown_in(browsers: Iterable[tuple[Any, pytest.MarkDecorator]], *schemes: str) -> pytest.MarkDecorator:
    """The mark of a test that sees the page in these browsers."""
    cases = [
        pytest.param((browser, scheme), marks=mark, id=f"{browser.__name__}-{scheme}")
        for browser, mark in browsers
        for scheme in schemes
    ]
    return pytest.mark.parametrize("page", cases, indirect=True)


_WORD = """(() => {{
  const walker = document.createTreeWalker(document.getElementById("pane"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {{
    const at = node.data.indexOf({word!r});
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + {word!r}.length);
    node.parentElement.scrollIntoView({{ block: "center", behavior: "instant" }});
    return [...range.getClientRects()].find(({{ width }}) => width);  // the words may stand on two lines
  }}
}})()"""


def of(selector: str) -> str:
    return f"document.querySelector({selector!r}).getBoundingClientRect()"


def state(wanted: str) -> str:
    return f"document.body.dataset.reading === {wanted!r}"


def text_of(selector: str, wanted: str) -> str:
    return f"document.querySelector({selector!r})?.textContent.includes({wanted!r})"


@pytest.fixture
async def page(espeak: Server, card: SoundCard, request: pytest.FixtureRequest) -> AsyncIterator[DrivenPage]:
    origin = f"http://127.0.0.1:{espeak.port}"
    browser, scheme = request.param
    async with browser(origin, scheme, card) as shown:
        await shown.until("document.getElementById('voice-name').textContent")
        assert await shown.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
        yield shown
    assert not shown.complaints
    elsewhere = [url for url in shown.asked if not url.startswith((origin, "blob:", "data:"))]
    assert shown.asked and not elsewhere


@shown_in((FIREFOX, WEBKIT), "light")
async def test_a_text_is_read_and_steered_by_keys_and_clicks(page: DrivenPage, espeak: Server) -> None:
    await reads_all(page, espeak)
    await page.press("e")
    await listen(page, SHORTER)
    assert not await page.violations(), "while it reads"
    await page.press(" ")
    await page.until(state("paused"))
    await page.press("ArrowRight")
    await page.until(text_of(".current", "follows it at once"))
    await page.press(" ")
    await page.until(state("playing"))
    await page.click(_WORD.format(word="number 6,"))
    await page.until("window.lit.includes('6,')")
    await page.press("+")
    await page.until(text_of("#speed", "1.1"))
    await page.until("window.lit.slice(window.lit.lastIndexOf('6,')).length >= 8")
    lit = await page.evaluate("window.lit.slice(window.lit.lastIndexOf('6,'))")
    words = SHORTER.split()
    assert lit == words[words.index("6,") :][: len(lit)], "no word twice, and none is left out"
    await page.press("v")
    await page.until("document.getElementById('voice-dialog').open")
    assert not await page.violations(), "with a dialog"
    await page.press("Escape")
    await page.until("!document.getElementById('voice-dialog').open")
    await page.press("Escape")
    await page.until(state("idle"))


@shown_in((FIREFOX, WEBKIT), "dark")
async def test_axe_finds_nothing_in_the_dark(page: DrivenPage) -> None:
    assert not await page.violations(), "before anything is read"
    await listen(page, SHORTER)
    assert not await page.violations(), "while it reads"
    await page.press("v")
    await page.until("document.getElementById('voice-dialog').open")
    assert not await page.violations(), "with a dialog"


@shown_in([WEBKIT], "light", "dark")
async def test_axe_finds_nothing_at_any_width_and_nothing_stands_beside_the_window(page: WebKitPage) -> None:
    for width in WIDTHS:
        await page.resize(width, 900)
        await page.until(f"innerWidth === {width}")
        for tab in ("read", "books", "connect", "queue", "server"):
            await page.click(of(f"#tab-{tab}"))
            await page.until(f"!document.getElementById('{tab}').hidden")
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, tab)
            assert not await page.violations(), (width, tab)


async def listen(page: DrivenPage, text: str) -> None:
    """Listen to another text, until three of its words have sounded."""
    await page.evaluate(f"void (document.getElementById('text').value = {text!r}, window.lit = [])")
    await page.click(of("#listen"))
    await page.until("window.lit.length >= 3")


async def reads_all(page: DrivenPage, espeak: Server) -> None:
    """A typed text is played as the server speaks it, and all its words light up in order."""
    await page.click(of("#text"))
    await page.write(SHORT)
    await page.press("Control", "Enter")
    await page.until(text_of("#said", "Read to the end"))
    heard = np.array(await page.evaluate("window.heard"), np.int16)
    assert heard.tobytes() == espeak.hear(input=SHORT, voice="af_heart", response_format="pcm")
    assert "".join(await page.evaluate("window.lit")).replace(" ", "") == SHORT.replace(" ", "")
