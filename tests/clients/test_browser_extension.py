"""The browser extension in a whole Chromium and in Firefox, on an article of another server, speaking by a real one.

No test can press the button in Chromium's own frame: there the extension's settings page says that it was pressed.
"""

import functools
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from frontend.settings.access import OWN_EXTENSION
from tests.page.firefox import FirefoxPage, firefox, needs_firefox
from tests.system.server import DEADLINE, ROOT, Server, server
from tests.system.sound_card import needs_pulseaudio, sound_card

EXTENSION = ROOT / "clients" / "browser"
CHROMIUM = shutil.which("chromium")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npm") is None, reason="npm isn't installed")]
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="THE EXTENSION WAS NOT TESTED IN CHROMIUM, BECAUSE NOT INSTALLED: chromium"
)
"""The headless shell has no extensions."""

PROSE = " ".join(f"The {n} ship left the harbour before the fog had lifted from the water." for n in ("first", "next"))
ARTICLE = f"""<!doctype html><html lang="en"><title>Ships</title><body>
<header><nav><a href="/">Home page link</a></nav></header>
<div class="sidebar"><p>Buy our shoes now.</p></div>
<article><h1>About ships</h1><p>It <b>rains</b>
today.   The harbour is <i>quiet</i>.</p><div>{f"<p>{PROSE}</p>" * 6}</div></article>
<footer>All rights reserved.</footer></body></html>"""

LIT = "[...(CSS.highlights.get('kokoro-live') ?? [])].map(String)[0]"
"""JavaScript: the text that is lit up."""
BAR = "document.querySelector('kokoro-live-bar')?.shadowRoot"


def installed() -> Path:
    """A copy of the extension with its library, kept in the virtual environment from one run to the next."""
    folder = Path(sys.prefix, "browser", sha256((EXTENSION / "package-lock.json").read_bytes()).hexdigest()[:16])
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
    if not (folder / "node_modules" / ".package-lock.json").exists():
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=600)
    return folder


@pytest.fixture(scope="module")
def folder() -> Path:
    return installed()


@pytest.fixture(scope="module")
def article(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page that is read."""
    site = tmp_path_factory.mktemp("site")
    (site / "index.html").write_text(ARTICLE)
    serving = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(SimpleHTTPRequestHandler, directory=str(site)))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/"
    serving.shutdown()
    serving.server_close()


@contextmanager
def chromium(folder: Path, profile: Path) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=CHROMIUM,
            headless=False,
            args=[
                *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"),
                *(f"--disable-extensions-except={folder}", f"--load-extension={folder}"),
            ],
        )
        context.set_default_timeout(DEADLINE * 1000)
        yield context
        context.close()


def settings(context: BrowserContext, address: str) -> Page:
    """The extension's settings with that address of the server."""
    page = context.new_page()
    page.goto(f"chrome-extension://{OWN_EXTENSION}/options.html")
    page.get_by_label("Address of the server").fill(address)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved. ")
    return page


def press(options: Page, shown: Page) -> None:
    """The extension's button, on that page."""
    options.evaluate(
        """async (url) => {
          const all = await chrome.tabs.query({});
          await chrome.runtime.sendMessage({ to: "background", press: all.find((tab) => tab.url === url).id });
        }""",
        shown.url,
    )


def until(page: Page, condition: str) -> None:
    page.wait_for_function(condition, timeout=DEADLINE * 1000, polling=20)


@pytest.fixture(scope="module")
def espeak() -> Iterator[Server]:
    with server("--engine", "espeak") as found:
        yield found


@needs_chromium
def test_chromium_reads_an_article_and_lights_up_its_sentences(
    folder: Path, espeak: Server, article: str, tmp_path: Path
) -> None:
    """Without a setting of the server; its heading and paragraphs, nothing around them."""
    with chromium(folder, tmp_path / "profile") as context:
        options = settings(context, f"http://127.0.0.1:{espeak.port}")
        assert options.locator("#said").inner_text().startswith("Saved. The server answers, with ")
        page = context.new_page()
        page.goto(article)
        press(options, page)
        for lit in ("About ships", "It rains\ntoday.", "The harbour is quiet.", "The first ship left"):
            until(page, f"({LIT} ?? '').startsWith({json.dumps(lit)})")
        press(options, page)
        until(page, f"{BAR}.textContent.includes('Paused')")
        options.evaluate("chrome.offscreen.closeDocument()")  # as Chromium does after 30 s of silence
        page.get_by_role("button", name="Go on").click()
        until(page, f"!{BAR}.textContent.includes('Paused') && {LIT}.startsWith('The first ship')")
        until(page, f"({LIT} ?? '').startsWith('The next ship')")
        page.get_by_role("button", name="Stop").click()
        until(page, f"!{BAR} && !{LIT}")
        page.evaluate("getSelection().selectAllChildren(document.querySelector('article i'))")
        press(options, page)
        until(page, f"{LIT} === 'quiet'")
        until(page, f"!{BAR} && !{LIT}")  # it ends by itself


@needs_chromium
def test_a_server_that_is_away_is_told_of_on_the_page(folder: Path, article: str, tmp_path: Path) -> None:
    with chromium(folder, tmp_path / "profile") as context:
        options = settings(context, "http://127.0.0.1:9")
        assert "No server answers at http://127.0.0.1:9." in options.locator("#said").inner_text()
        page = context.new_page()
        page.goto(article)
        press(options, page)
        until(page, f"({BAR}?.textContent ?? '').includes('No server answers')")
        page.get_by_role("button", name="Close").click()
        until(page, f"!{BAR}")


UUID = "11111111-2222-4333-8444-555555555555"
"""The extension's host name in the profile of Firefox, which otherwise draws one."""
_ID = json.loads((EXTENSION / "manifest.json").read_text())["browser_specific_settings"]["gecko"]["id"]


async def _pressed_in_firefox(page: FirefoxPage) -> None:
    async with page.elsewhere():
        await page.evaluate(f"document.getElementById({_ID.replace('@', '_').replace('.', '_') + '-BAP'!r}).click()")


@needs_firefox
@needs_pulseaudio
async def test_firefox_reads_an_article_once_the_server_is_told_of_it(folder: Path, article: str) -> None:
    uuids = {"extensions.webextensions.uuids": json.dumps({_ID: UUID})}
    told = ("--cors-origins", f"moz-extension://{UUID}")
    with server("--engine", "espeak", *told) as trusting, server("--engine", "espeak") as strict, sound_card() as card:
        async with firefox(article, "light", card, "--remote-allow-system-access", preferences=uuids) as page:
            await page.install(folder)
            for each, condition in (
                (strict, f"({BAR}?.textContent ?? '').includes('--cors-origins moz-extension://{UUID}')"),
                (trusting, f"{LIT} === 'About ships'"),
            ):
                async with page.elsewhere(f"moz-extension://{UUID}/options.html"):
                    address = f"http://127.0.0.1:{each.port}"
                    await page.evaluate(f"chrome.storage.local.set({{ address: {address!r} }})")
                await _pressed_in_firefox(page)
                await page.until(condition)
            await page.until(f"{LIT} === 'The harbour is quiet.'")
            await _pressed_in_firefox(page)
            await page.until(f"{BAR}.textContent.includes('Paused')")
            await page.evaluate(f"{BAR}.querySelector('button').click()")
            await page.until(f"({LIT} ?? '').startsWith('The first ship')")
            await page.evaluate(f"{BAR}.querySelectorAll('button')[1].click()")
            await page.until(f"!{BAR} && !{LIT}")
            assert page.complaints == []
