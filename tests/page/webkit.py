"""WebKit, Safari's engine, as GTK has it, driven over WebDriver (w3.org/TR/webdriver2) on a screen of Xvfb's."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.page.driven import DrivenPage
from tests.page.visit import LISTEN
from tests.ports import lasting_port
from tests.system.server import DEADLINE
from tests.system.sound_card import SoundCard

MINI_BROWSER = next(iter(sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))), None)

needs_webkit = pytest.mark.skipif(
    not (MINI_BROWSER and shutil.which("WebKitWebDriver") and shutil.which("Xvfb")),
    reason="THE PAGE WAS NOT TESTED IN WEBKIT, BECAUSE NOT INSTALLED: webkit2gtk-driver xvfb",
)
"""A mark for tests that run WebKit. `.ci/run` installs it."""

_COMPLAINTS = """
window.complaints = [];
addEventListener("error", ({ message }) => complaints.push(message));
addEventListener("unhandledrejection", ({ reason }) => complaints.push(String(reason)));
addEventListener("securitypolicyviolation", ({ blockedURI }) => complaints.push(blockedURI));
for (const level of ["error", "warn"]) console[level] = (...words) => complaints.push(words.join(" "));
"""
"""JavaScript that notes what WebDriver doesn't tell."""


class WebKitPage(DrivenPage):
    """One page of WebKit's. Its complaints are collected once it is loaded."""

    def __init__(self, session: aiohttp.ClientSession, driver: str) -> None:
        super().__init__()
        self._session = session
        self._url = driver

    async def open(self, url: str) -> None:
        """Show the address, with the listeners of `LISTEN` in the page."""
        options = {"binary": str(MINI_BROWSER), "args": ["--automation"]}
        capabilities = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        made = await self._call("POST", "/session", capabilities=capabilities)
        self._url += f"/session/{made['sessionId']}"
        await self._call("POST", "/timeouts", script=DEADLINE * 1000)
        await self._call("POST", "/url", url=url)
        await self.evaluate(f"void (() => {{ {_COMPLAINTS} {LISTEN} }})()")

    async def close(self) -> None:
        """End the browser, after a look at what it has complained of and asked for."""
        asked = "performance.getEntriesByType('resource').map(({ name }) => name)"
        self.complaints, self.asked = await self.evaluate(f"[window.complaints, {asked}]")
        await self._call("DELETE", "")

    async def resize(self, width: int, height: int) -> None:
        await self._call("POST", "/window/rect", width=width, height=height)

    async def _text_of(self, expression: str) -> str:
        script = f"const done = arguments[0]; {expression}.then(done, (error) => done(`!${{error}}`));"
        text: str = await self._call("POST", "/execute/async", script=script, args=[])
        assert not text.startswith("!"), text
        return text

    async def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        await self._call("POST", "/actions", actions=[{"type": kind, "id": kind, "actions": actions}])

    async def _call(self, method: str, path: str, **parameters: Any) -> Any:
        body = parameters if method == "POST" else None
        async with self._session.request(method, self._url + path, json=body) as response:
            value = (await response.json())["value"]
        assert response.status == 200, value
        return value


@asynccontextmanager
async def webkit(url: str, scheme: str, card: SoundCard) -> AsyncIterator[WebKitPage]:
    """WebKit, showing that address in the `light` or `dark` scheme; ended with the context."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="webkit"))
        environment = os.environ | card.environment | {"HOME": folder, "XDG_RUNTIME_DIR": folder, "NO_AT_BRIDGE": "1"}
        # A sandbox needs namespaces, which containers don't give.
        environment["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
        _write_style(Path(folder, ".config/gtk-3.0"))
        environment["GTK_THEME"] = "Adwaita:dark" if scheme == "dark" else "Adwaita"
        screen = await stack.enter_async_context(
            _running("Xvfb", "-displayfd", "1", "-screen", "0", "1440x1000x24", "-nolisten", "tcp")
        )
        assert screen.stdout
        environment["DISPLAY"] = f":{(await screen.stdout.readline()).decode().strip()}"
        driver = f"http://127.0.0.1:{(port := lasting_port())}"
        await stack.enter_async_context(_running("WebKitWebDriver", f"--port={port}", environment=environment))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        async with asyncio.timeout(DEADLINE):
            while not await _answers(session, driver):  # noqa: ASYNC110 - it says nothing
                await asyncio.sleep(0.05)
        page = WebKitPage(session, driver)
        await page.open(url)
        yield page
        await page.close()


def _write_style(folder: Path) -> None:
    """Let the window be as narrow as a phone: its buttons would keep it wider."""
    folder.mkdir(parents=True)
    (folder / "gtk.css").write_text("* { min-width: 0; padding: 0; margin: 0; border: 0; font-size: 1px; }")


@asynccontextmanager
async def _running(
    *command: str, environment: dict[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=environment
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


async def _answers(session: aiohttp.ClientSession, driver: str) -> bool:
    try:
        async with session.get(f"{driver}/status") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False
