"""A page in a browser that a test drives by WebDriver: what is the same whichever protocol carries it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import axe_playwright_python

from tests.system.server import DEADLINE

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Control": "\ue009", "Shift": "\ue008", "ArrowRight": "\ue014"}
"""Keys that are no characters (w3.org/TR/webdriver2, keyboard actions)."""

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()


class DrivenPage:
    """One page of a browser. Its complaints and requests are collected from the beginning."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        """Errors and warnings of the console, and exceptions."""
        self.asked: list[str] = []
        """Addresses of all requests."""

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise, as JSON carries it."""
        return json.loads(await self._text_of(f"(async () => JSON.stringify(await ({expression})) ?? 'null')()"))

    async def until(self, condition: str) -> None:
        """Wait until a JavaScript expression is true in the page."""
        look = f"const look = () => {{ if ({condition}) seen(true); else setTimeout(look, 10); }}; look();"
        async with asyncio.timeout(DEADLINE):
            await self.evaluate(f"new Promise((seen) => {{ {look} }})")

    async def press(self, *keys: str) -> None:
        """Press these keys together: the first ones are held while the last one is struck."""
        values = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": value} for value in values]
        await self._act("key", [*down, *({"type": "keyUp", "value": value} for value in reversed(values))])

    async def write(self, text: str) -> None:
        strokes = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        await self._act("key", strokes)

    async def click(self, rectangle: str) -> None:
        """Click the middle of a rectangle (a JavaScript expression with `x`, `y`, `width` and `height`)."""
        found = await self.evaluate(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({rectangle})")
        x, y = map(round, found)
        await self._act(
            "pointer",
            [
                {"type": "pointerMove", "x": x, "y": y},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerUp", "button": 0},
            ],
        )

    async def violations(self) -> list[Any]:
        """Axe's findings in what is shown now."""
        found: list[Any] = await self.evaluate(f"(() => {{ {AXE} }})() ?? axe.run().then((found) => found.violations)")
        return found

    async def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        """Have one source of input do these actions."""
        raise NotImplementedError

    async def _text_of(self, expression: str) -> str:
        """The text that a JavaScript promise comes to."""
        raise NotImplementedError
