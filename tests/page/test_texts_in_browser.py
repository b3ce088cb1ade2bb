"""Texts on the page: files that are opened or dropped, and what this browser keeps of what was read."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.visit import LONG, Visit, needs_chromium
from tests.system.server import Server

pytestmark = needs_chromium

MARKDOWN = """---
title: left out
---
# The *quiet* sea

It is **quiet** here, see [the chart](http://elsewhere.invalid/x).
It goes on.

- one `item`
- two

| a | b |
|---|---|
| c | d |

> Said the gull.

```
code_stays = 1
```
"""

HTML = """<!doctype html><title>A page</title><script>var no = 1;</script><nav>Menu</nav>
<main><h1>Head</h1><p>First <b>bold</b>
line.<p>Second<br>row.<ul><li>One<li>Two</ul><aside>no</aside><p hidden>no</p></main><footer>no</footer>"""

_DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const at = document.getElementById("text");
  for (const type of ["dragenter", "dragover", "drop"]) {
    at.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


def shown(page: Page) -> list[tuple[str, str]]:
    """Kind and text of each paragraph that is read."""
    page.locator("#pane > *").first.wait_for()
    found = page.locator("#pane > *").evaluate_all("all => all.map((one) => [one.className, one.innerText.trim()])")
    return [(kind, text) for kind, text in found]


def test_markdown_is_read_without_its_signs(visit: Visit) -> None:
    visit.page.evaluate(_DROP, ["sea.md", MARKDOWN])
    assert shown(visit.page) == [
        ("h", "The quiet sea"),
        ("p", "It is quiet here, see the chart. It goes on."),
        ("li", "one item"),
        ("li", "two"),
        ("p", "a, b\nc, d"),
        ("quote", "Said the gull."),
        ("code", "code_stays = 1"),
    ]
    expect(visit.page.locator("#drop")).to_be_hidden()
    assert not visit.bodies()  # it is read when it is asked for
    visit.page.keyboard.press(" ")
    visit.reading(words=4)
    assert visit.lit[:3] == ["The", "quiet", "sea"]


def test_html_is_read_without_what_is_around_it(visit: Visit) -> None:
    page = visit.page
    page.locator("#file").set_input_files(files=[{"name": "x.html", "mimeType": "text/html", "buffer": HTML.encode()}])
    assert shown(page) == [
        ("h", "Head"),
        ("p", "First bold line."),
        ("p", "Second\nrow."),
        ("li", "One"),
        ("li", "Two"),
    ]
    expect(page.get_by_role("heading", name="A page")).to_be_visible()


REFUSED = {
    "novel.epub": (b"PK\x03\x04\x00", "novel.epub isn't text. This opens text, Markdown and HTML; "),
    "blank.txt": (b" \n\n ", "blank.txt has no text."),
}
"""Files that can't be read aloud: what is in them, and what the page says."""


def test_files_without_text_are_refused_in_words_and_old_ones_are_read_in_their_encoding(visit: Visit) -> None:
    for name, (data, told) in REFUSED.items():
        visit.page.locator("#file").set_input_files(files=[{"name": name, "mimeType": "", "buffer": data}])
        visit.wait("told => document.getElementById('error').textContent.startsWith(told)", told)
        expect(visit.page.locator("#compose")).to_be_visible()
    visit.page.locator("#file").set_input_files(
        files=[{"name": "old.txt", "mimeType": "text/plain", "buffer": "Café “there”.".encode("cp1252")}]
    )
    assert shown(visit.page) == [("p", "Café “there”.")]


def test_what_was_read_goes_on_where_it_was_left_until_it_is_deleted(visit: Visit, espeak: Server) -> None:
    page = visit.page
    visit.speak("Confidential title\n\n" + LONG)
    visit.reading(words=6)
    page.keyboard.press(" ")
    visit.state("paused")
    page.get_by_label("Place in the text").fill("5")
    page.get_by_role("button", name="Close", exact=True).click()
    row = page.locator("#kept li")
    expect(row).to_contain_text("Confidential title")
    page.reload()
    page.get_by_role("button", name="Confidential title").first.click()
    visit.reading(words=5)
    assert visit.lit[:5] == ["This", "is", "sentence", "number", "5,"]
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("button", name="Delete Confidential title").click()
    expect(page.locator("#shelf")).to_be_hidden()
    page.reload()
    assert "onfidential" not in page.content()
    assert page.evaluate("import('/static/library.js').then(({ kept }) => kept())") == []
    assert not any("onfidential" in line for line in espeak.log)


def test_nothing_is_kept_where_nothing_is_to_be_kept(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Keep what was read in this browser").uncheck()
    page.keyboard.press("Escape")
    visit.speak("Confidential words.")
    visit.ends()
    page.get_by_role("button", name="Close", exact=True).click()
    assert page.evaluate("import('/static/library.js').then(({ kept }) => kept())") == []
    said = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert "onfidential" not in said


def test_all_is_deleted_at_once(visit: Visit) -> None:
    for text in ("One.", "Two."):
        visit.speak(text)
        visit.ends()
    visit.page.get_by_role("button", name="Close", exact=True).click()
    expect(visit.page.locator("#kept li")).to_have_count(2)
    visit.page.get_by_role("button", name="Delete all").click()
    expect(visit.page.locator("#shelf")).to_be_hidden()
