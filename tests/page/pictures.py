"""The README's pictures of the page: `python -m tests.page.pictures http://127.0.0.1:8880/ docs` writes
`reader-light.png` and `reader-dark.png` while that server's page reads a text. Needs Chromium, and a serif font to be
proud of (Debian's fonts-noto-core and fonts-inter were used)."""

import sys
from pathlib import Path

from tests.page.visit import browser

TEXT = """The Lighthouse

Far out on the grey water, where the charts show nothing but depth, there stood a lighthouse. Nobody could say who \
had built it. One evening in March, Dr. Smith paid $12.50 for a boat and rowed there alone.

“It is quiet here,” he wrote. “The lamp turns, the gulls complain, and every evening the wind tells the same long \
story to the stones.”

He stayed for the winter. When the ice broke he was still there, reading aloud to the sea, one sentence after the \
other, as if somebody listened."""

WORD = "lighthouse."


def main(address: str, folder: Path) -> None:
    """Write both pictures."""
    with browser() as chromium:
        for scheme in ("light", "dark"):
            context = chromium.new_context(viewport={"width": 1100, "height": 720}, color_scheme=scheme)
            page = context.new_page()
            page.goto(address)
            page.locator("#voice-name:not(:empty)").wait_for()
            page.fill("#text", TEXT)
            page.click("#listen")
            page.wait_for_function(
                "() => document.getElementById('said').textContent.startsWith('Read to the end')", timeout=0
            )
            page.mouse.move(5, 300)
            # The second time the speech is there, whatever else the machine does; the first time's figures don't count.
            page.click("#play")
            page.evaluate("document.getElementById('said').hidden = true")
            page.wait_for_function("word => document.querySelector('.word')?.textContent === word", arg=WORD)
            page.screenshot(path=folder / f"reader-{scheme}.png")
            context.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
