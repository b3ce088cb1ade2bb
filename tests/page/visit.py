"""A person at the page: a real Chromium, which must complain of nothing and ask nobody else."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.system.server import DEADLINE, Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
"""Debian's headless shell, or else a whole browser, whose windows and menus take twice the processor time."""

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="THE PAGE WAS NOT TESTED IN A BROWSER, BECAUSE NOT INSTALLED: chromium-headless-shell"
)
"""A mark for tests that run Chromium. `.ci/run` installs it."""

FASTEST = 4
"""The highest speed: for a text that is read to its end, and not interrupted."""

SHORT = "On Monday, 3 March, Dr. Smith paid $12.50."

SENTENCES = [f"This is sentence number {n}, and the next one follows it at once." for n in range(1, 141)]

LONG = " ".join(SENTENCES[:40])
"""Three minutes. A line of ten minutes takes a second more of a core to show."""

VERY_LONG = " ".join(SENTENCES)
"""Ten minutes, 40 MB as events: its answer is not at its end while the page plays its first seconds. Linux grows a fast
reader's receive buffer to 32 MB (`net.ipv4.tcp_rmem`), which held all of three minutes one time in five."""

SHORTER = " ".join(LONG.split()[: 13 * 12])
"""A minute of it. Axe looks at each sentence."""

REPLACED = "net::ERR_INCOMPLETE_CHUNKED_ENCODING"
"""Chromium's word for an answer that ends early."""

LISTEN = """
window.heard = [];
document.addEventListener("kokoro-live:samples", (event) => window.heard.push(...event.detail));
window.lit = [];
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node.className === "word") window.lit.push(node.textContent);
  }
}).observe(document, { subtree: true, childList: true });
"""
"""JavaScript that notes the samples that are played and the words that light up."""

expect.set_options(timeout=DEADLINE * 1000)


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"], timeout=DEADLINE * 1000
        )
        yield started
        started.close()


class Visit:
    """The page in a context of its own. Leaving it checks what was asked for and said meanwhile."""

    def __init__(
        self, chromium: Browser, server: Server, *, speed: float = 1, script: str = "", **options: Any
    ) -> None:
        """`speed`: chosen on an earlier visit. `script`: run before the page's own.

        `options`: the browser context's, such as `color_scheme`.
        """
        self.server = server
        self.origin = f"http://127.0.0.1:{server.port}"
        self.context: BrowserContext = chromium.new_context(**{"service_workers": "block"} | options)
        self.context.set_default_timeout(DEADLINE * 1000)
        self.context.add_init_script(LISTEN + script)
        if speed != 1:
            kept = f"localStorage['kokoro-live settings'] ??= {json.dumps(json.dumps({'speed': speed}))}"
            self.context.add_init_script(kept)
        self.page: Page = self.context.new_page()
        self.asked: list[Request] = []
        self.complaints: list[str] = []
        self.excused = 0
        """Answers of 400 and more, which Chromium writes to its console: as many as the test meant to have."""
        self.page.on("request", lambda request: self.asked.append(request))
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(self.origin)

    def _said(self, message: ConsoleMessage) -> None:
        if self.excused and message.text.startswith("Failed to load resource"):
            self.excused -= 1
        elif message.text.endswith((REPLACED, "registration blocked by Playwright")):
            pass  # the page's next request took the place of an answer before the page let go of it
        elif message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def __enter__(self) -> Visit:
        expect(self.page.locator("#voice-name")).not_to_be_empty()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.context.close()
        if kind is None:
            assert not self.complaints, self.complaints
            elsewhere = [request.url for request in self.asked if not request.url.startswith((self.origin, "blob:"))]
            assert not elsewhere, elsewhere

    def speak(self, text: str) -> None:
        if self.page.locator("#reading").is_visible():
            self.page.get_by_role("button", name="Close", exact=True).click()
        self.page.get_by_label("Text", exact=True).fill(text)
        self.page.get_by_role("button", name="Listen").click()

    def ends(self) -> None:
        """Wait until the text was read to its end."""
        self.says("Read to the end")

    def reading(self, words: int = 1) -> None:
        """Wait until so many words have been lit up."""
        self.wait("words => window.lit.length >= words", words)

    def axe_finds_nothing(self) -> None:
        """Check the page as it is now."""
        found = Axe().run(self.page)
        assert not found.violations_count, found.generate_report()

    def state(self, state: str) -> None:
        """Wait until the reader is `idle`, `waiting`, `playing` or `paused`."""
        self.wait("state => document.body.dataset.reading === state", state)

    def says(self, text: str) -> None:
        """Wait until the status begins so."""
        self.wait("text => document.getElementById('said').textContent.startsWith(text)", text)

    def complains(self, text: str) -> None:
        """Wait until the page shows that error."""
        expect(self.page.get_by_role("alert")).to_have_text(text)

    def wait(self, condition: str, argument: object = None) -> None:
        """Wait until a JavaScript function of the argument is true in the page."""
        # Playwright's default looks once a frame, which makes a page that stands still draw 60 frames a second.
        self.page.wait_for_function(condition, arg=argument, timeout=DEADLINE * 1000, polling=20)

    @property
    def heard(self) -> bytes:
        """The samples that the player was given: 16 bits each, little-endian."""
        # As a list of numbers, ten seconds of them take Playwright a second of a core.
        return base64.b64decode(self.page.evaluate("new Uint8Array(Int16Array.from(window.heard).buffer).toBase64()"))

    @property
    def seconds(self) -> float:
        found: float = self.page.evaluate("window.heard.length / 24000")
        return found

    @property
    def lit(self) -> list[str]:
        """The words that have been lit up, in order."""
        found: list[str] = self.page.evaluate("window.lit")
        return found

    def bodies(self) -> list[dict[str, Any]]:
        return [request.post_data_json for request in self.asked if request.url.endswith("/v1/audio/speech")]
