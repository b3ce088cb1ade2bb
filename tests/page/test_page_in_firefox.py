"""The page at `/` in Firefox, over a real server: a text is read, steered by keys and the mouse, in light and dark."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import numpy as np
import pytest

from tests.page.firefox import FirefoxPage, firefox, needs_firefox
from tests.page.visit import SHORT, SHORTER
from tests.system.server import Server
from tests.system.sound_card import SoundCard, needs_pulseaudio

pytestmark = [needs_firefox, needs_pulseaudio, pytest.mark.slow]
"""The other files of this folder show in Chromium what these show again in Firefox."""

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()

_WORD = """(() => {{
  const walker = document.createTreeWalker(document.getElementById("pane"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {{
    const at = node.data.indexOf({word!r});
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + {word!r}.length);
    node.parentElement.scrollIntoView({{ block: "center", behavior: "instant" }});
    return range.getBoundingClientRect();
  }}
}})()"""


def of(selector: str) -> str:
    """The rectangle of the element."""
    return f"document.querySelector({selector!r}).getBoundingClientRect()"


def state(wanted: str) -> str:
    return f"document.body.dataset.reading === {wanted!r}"


def text_of(selector: str, wanted: str) -> str:
    return f"document.querySelector({selector!r})?.textContent.includes({wanted!r})"


async def violations(page: FirefoxPage) -> list[Any]:
    """Axe's findings in what is shown now."""
    found: list[Any] = await page.evaluate(f"(() => {{ {AXE} }})() ?? axe.run().then((found) => found.violations)")
    return found


@pytest.fixture
async def page(espeak: Server, card: SoundCard, request: pytest.FixtureRequest) -> AsyncIterator[FirefoxPage]:
    origin = f"http://127.0.0.1:{espeak.port}"
    async with firefox(origin, request.param, card) as shown:
        await shown.until("document.getElementById('voice-name').textContent")
        assert await shown.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (request.param == "dark")
        yield shown
        assert not shown.complaints
        elsewhere = [url for url in shown.asked if not url.startswith((origin, "blob:", "data:"))]
        assert not elsewhere


@pytest.mark.parametrize("page", ["light"], indirect=True)
async def test_a_text_is_read_and_steered_by_keys_and_clicks(page: FirefoxPage, espeak: Server) -> None:
    await reads_all(page, espeak)
    await page.press("e")
    await listen(page, SHORTER)
    assert not await violations(page), "while it reads"
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
    assert not await violations(page), "with a dialog"
    await page.press("Escape")
    await page.press("Escape")
    await page.until(state("idle"))


@pytest.mark.parametrize("page", ["dark"], indirect=True)
async def test_axe_finds_nothing_in_the_dark(page: FirefoxPage) -> None:
    assert not await violations(page), "before anything is read"
    await listen(page, SHORTER)
    assert not await violations(page), "while it reads"
    await page.press("v")
    await page.until("document.getElementById('voice-dialog').open")
    assert not await violations(page), "with a dialog"


async def listen(page: FirefoxPage, text: str) -> None:
    """Listen to another text, until three of its words have sounded."""
    await page.evaluate(f"void (document.getElementById('text').value = {text!r}, window.lit = [])")
    await page.click(of("#listen"))
    await page.until("window.lit.length >= 3")


async def reads_all(page: FirefoxPage, espeak: Server) -> None:
    """A typed text is played as the server speaks it, and all its words light up in order."""
    await page.click(of("#text"))
    await page.write(SHORT)
    await page.press("Control", "Enter")
    await page.until(text_of("#said", "Read to the end"))
    heard = np.array(await page.evaluate("window.heard"), np.int16)
    assert heard.tobytes() == espeak.hear(input=SHORT, voice="af_heart", response_format="pcm")
    assert "".join(await page.evaluate("window.lit")).replace(" ", "") == SHORT.replace(" ", "")
