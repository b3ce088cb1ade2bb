"""Firefox, driven over WebDriver BiDi (w3.org/TR/webdriver-bidi), which Debian's own build speaks without a driver."""

import asyncio
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.page.driven import DrivenPage
from tests.page.visit import LISTEN
from tests.system.server import DEADLINE
from tests.system.sound_card import SoundCard

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

needs_firefox = pytest.mark.skipif(
    FIREFOX is None, reason="THE PAGE WAS NOT TESTED IN FIREFOX, BECAUSE NOT INSTALLED: firefox-esr"
)
"""A mark for tests that run Firefox. `.ci/run` installs it."""

_PREFERENCES = {
    "layout.css.prefers-color-scheme.content-override": {"dark": 0, "light": 1},
    "media.autoplay.default": 0,
    "ui.prefersReducedMotion": 1,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    # Processes for pages that no test opens.
    "browser.newtab.preload": False,
    "browser.startup.page": 0,
    "dom.ipc.processPrelaunch.enabled": False,
    "extensions.getAddons.cache.enabled": False,
}


class FirefoxPage(DrivenPage):
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__()
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._context = ""

    async def open(self, url: str) -> None:
        """Show the address, with the listeners of `LISTEN` in the page."""
        await self._call("session.new", capabilities={})
        await self._call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        tree = await self._call("browsingContext.getTree")
        self._context = tree["contexts"][0]["context"]
        await self._call("script.addPreloadScript", functionDeclaration=f"() => {{ {LISTEN} }}")
        await self._call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    async def install(self, folder: Path) -> None:
        """Install an extension until the browser's end."""
        await self._call("webExtension.install", extensionData={"type": "path", "path": str(folder)})

    @asynccontextmanager
    async def elsewhere(self, url: str = "") -> AsyncIterator[None]:
        """Be in another tab with that address, which is then closed; without one, in the browser's own frame.

        Extensions' pages and the frame need the option `--remote-allow-system-access`.
        """
        here = self._context
        if url:
            self._context = (await self._call("browsingContext.create", type="tab"))["context"]
            await self._call("browsingContext.navigate", context=self._context, url=url, wait="complete")
        else:
            tree = await self._call("browsingContext.getTree", **{"moz:scope": "chrome"})
            self._context = tree["contexts"][0]["context"]
        try:
            yield
        finally:
            if url:
                await self._call("browsingContext.close", context=self._context)
                await self._call("browsingContext.activate", context=here)
            self._context = here

    async def _text_of(self, expression: str) -> str:
        answer = await self._call(
            "script.evaluate", expression=expression, target={"context": self._context}, awaitPromise=True
        )
        assert answer["type"] == "success", answer.get("exceptionDetails")
        text: str = answer["result"]["value"]
        return text

    async def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        await self._call("input.performActions", context=self._context, actions=[source])

    async def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(DEADLINE):
            answer = await answered
        assert answer["type"] == "success", answer
        result: dict[str, Any] = answer["result"]
        return result

    async def follow(self) -> None:
        """Take what the browser sends, until it ends."""
        async for message in self._socket:
            match json.loads(message.data):
                case {"method": "log.entryAdded", "params": {"level": "error" | "warn", "text": text}}:
                    self.complaints.append(text)
                case {"method": "network.beforeRequestSent", "params": {"request": {"url": url}}}:
                    self.asked.append(url)
                case {"id": number, **answer} if number in self._waiting:
                    self._waiting.pop(number).set_result(answer)


@asynccontextmanager
async def firefox(
    url: str, scheme: str, card: SoundCard, *options: str, preferences: dict[str, Any] | None = None
) -> AsyncIterator[FirefoxPage]:
    """Firefox, showing that address in the `light` or `dark` scheme; ended with the context.

    Without a sound card the clock of its audio stands still, and nothing is read.
    """
    with tempfile.TemporaryDirectory(prefix="firefox") as folder:
        _write_profile(Path(folder), scheme, preferences or {})
        assert FIREFOX
        process = await asyncio.create_subprocess_exec(
            *(FIREFOX, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", folder, *options),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=card.environment | {"HOME": folder, "PATH": "/usr/bin:/bin", "MOZ_CRASHREPORTER_DISABLE": "1"},
            start_new_session=True,
        )
        try:
            address = await _address(process)
            async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
                page = FirefoxPage(socket)
                following = asyncio.create_task(page.follow())
                await page.open(url)
                yield page
                following.cancel()
        finally:
            process.kill()
            await process.wait()


def _write_profile(folder: Path, scheme: str, more: dict[str, Any]) -> None:
    preferences = {name: value[scheme] if isinstance(value, dict) else value for name, value in _PREFERENCES.items()}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in (preferences | more).items()]
    (folder / "user.js").write_text("\n".join(lines))


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr
    said = b""
    async with asyncio.timeout(DEADLINE):
        async for line in process.stderr:
            said += line
            if found := re.search(rb"WebDriver BiDi listening on (ws://\S+)", line):
                return found[1].decode() + "/session"
    raise AssertionError(said.decode(errors="replace"))
