"""Texts on the page: files that are opened or dropped, and what this browser keeps of what was read."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from frontend.http.server import STATIC
from tests.books.made_markup import MadeEpub, made_pdf
from tests.books.reading.test_plain import OPEN_FILE, SRT, WORD_FILE
from tests.page.visit import LONG, SENTENCES, SHORTER, Visit, needs_chromium
from tests.system.server import Server, server

pytestmark = needs_chromium

MARKDOWN = """---
title: left out
---
# The *quiet* sea

It is **quiet** here, see [the chart](http://elsewhere.invalid/x).
It goes on.

- one `item`
- two

| Ship | Berth | Price |
|---|---|---|
| *Maria* | 4 | |

> Said the gull.

```
code_stays = 1
```
"""

HTML = """<!doctype html><title>A page</title><script>var no = 1;</script><nav>Menu</nav>
<main><h1>Head</h1><p>First <b>bold</b>
line.<p>Second<br>row.<ul><li>One<li>Two</ul>
<table><tr><th>Ship<th>Berth<th>Price<tr><td>Maria<td>4<td></table>
<aside>no</aside><p hidden>no</p></main><footer>no</footer>"""

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
        ("p", "Ship, Berth, Price\nMaria, Berth: 4"),
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
        ("p", "Ship, Berth, Price"),
        ("p", "Maria, Berth: 4"),
    ]
    expect(page.get_by_role("heading", name="A page")).to_be_visible()


PROSE = "It was a quiet evening, and nobody on the shore had seen a ship for weeks. " * 30
EPUB = MadeEpub(
    {"a.xhtml": f"<body><h1>One</h1><p>{PROSE}</p></body>", "b.xhtml": f"<body><h1>Two</h1><p>{PROSE}</p></body>"},
    {"OEBPS/c.png": (STATIC / "icon-512.png").read_bytes()},
    manifest='<item id="c" href="c.png" media-type="image/png" properties="cover-image"/>',
)
PDF = made_pdf([["Chapter One", PROSE[:70]], ["Chapter Two", "The end is near."]], ["Chapter One", "Chapter Two"])
OTHERS = {
    "a.epub": (EPUB.bytes(), ["One", "Two"], "It was a quiet evening"),
    "a.pdf": (PDF, ["Chapter One", "Chapter Two"], "The end is near."),
    "a.docx": (WORD_FILE, ["First", "Second"], "Ship, Berth"),
    "a.odt": (OPEN_FILE, ["First", "Second"], "Ship, Berth"),
    "a.srt": (SRT, [], "Good evening, ladies and gentlemen."),
}
"""Files that the server reads: their chapters, and a part of their text."""


_ARTWORK = """async () => {
  const picture = Object.assign(new Image(), { src: navigator.mediaSession.metadata.artwork[0].src });
  await picture.decode();
  return [picture.width, picture.height];
}"""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ("a.docx", "a.odt"))) for name in OTHERS]
)
def test_other_files_are_read_in_place_by_chapters(chromium: Browser, espeak: Server, name: str) -> None:
    data, chapters, part = OTHERS[name]
    with Visit(chromium, espeak, viewport={"width": 1440, "height": 800}) as visit:
        page = visit.page
        page.locator("#file").set_input_files(files=[{"name": name, "mimeType": "", "buffer": data}])
        expect(page.locator("#pane")).to_contain_text(part)
        listed = page.get_by_role("navigation", name="Chapters").get_by_role("button")
        expect(listed).to_have_text(chapters)
        if not chapters:
            expect(page.locator("#chapters")).to_be_hidden()
            return
        listed.nth(1).click()
        visit.reading()
        assert chapters[1].startswith(visit.lit[0])
        sizes = page.evaluate(_ARTWORK)
        assert sizes == ([320, 320] if name == "a.epub" else [320, 480]), "the cover, or a drawn one"
        expect(listed.nth(1)).to_have_attribute("aria-current", "true")
        visit.axe_finds_nothing()


_PASTE = """([html, text]) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/html", html);
  clipboardData.setData("text/plain", text);
  const field = document.getElementById("text");
  field.focus();
  const pasted = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  if (field.dispatchEvent(pasted)) field.value = text;
}"""


def test_pasted_pages_keep_their_structure_and_pasted_markdown_is_understood(visit: Visit) -> None:
    page = visit.page
    page.evaluate(
        _PASTE,
        ["<h1>Head</h1><p>See <a href='https://x.invalid/'>it</a>.</p><ul><li>One<li>Two</ul><pre>a = 1</pre>", "flat"],
    )
    expect(page.get_by_label("Text", exact=True)).not_to_have_value("")
    page.get_by_role("button", name="Listen").click()
    read = [("h", "Head"), ("p", "See it."), ("li", "One"), ("li", "Two"), ("code", "a = 1")]
    assert shown(page) == read
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Listen").click()
    assert shown(page) == read
    page.get_by_role("button", name="Close", exact=True).click()
    page.evaluate(_PASTE, ["<b>plain</b>", "## The *prices*\n\n| a | b |\n|---|---:|\n| c | d |\n"])
    page.get_by_role("button", name="Listen").click()
    assert shown(page) == [("h", "The prices"), ("p", "a, b\nc, d")]
    page.get_by_role("button", name="Close", exact=True).click()
    visit.speak("Not a list - really.\nAnother line; 2 * 3 * 4.")
    assert shown(page) == [("p", "Not a list - really.\nAnother line; 2 * 3 * 4.")]


def test_an_address_alone_is_read_as_its_page(visit: Visit) -> None:
    """The server fetches it if a setting allows that; else the page says which."""
    visit.excused = 1
    visit.speak(" https://example.com/news ")
    visit.complains("This server fetches no web pages: start it with --web-pages, or paste the page's text.")
    page = {"title": "News", "author": "", "language": "", "paragraphs": [{"kind": "p", "text": "It rains there."}]}
    asked = []
    visit.page.route("**/v1/documents?*", lambda route: (asked.append(route.request.url), route.fulfill(json=page)))
    visit.page.get_by_role("button", name="Listen").click()
    visit.ends()
    assert shown(visit.page) == [("p", "It rains there.")] and visit.lit[:2] == ["It", "rains"]
    assert [url.partition("?")[2] for url in asked] == ["address=https%3A%2F%2Fexample.com%2Fnews"]


REFUSED = {
    "novel.epub": (b"PK\x03\x04\x00", "The file is no readable zip archive"),
    "program.bin": (b"\x00\x01", "program.bin can't be read: this opens text, Markdown, HTML, EPUB"),
    "blank.txt": (b" \n\n ", "blank.txt has no text."),
}
"""Files that can't be read aloud: what is in them, and what the page says."""


def test_files_without_text_are_refused_in_words_and_old_ones_are_read_in_their_encoding(visit: Visit) -> None:
    visit.excused = 1
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


def test_the_library_is_searched_exported_and_imported(visit: Visit, chromium: Browser, espeak: Server) -> None:
    page = visit.page
    for number in range(5):
        visit.speak(f"Title {number}\n\nThe keyword of this one is word{number}.")
        expect(page.locator("#pane")).to_contain_text(f"word{number}")
        if number == 2:
            page.get_by_role("button", name="Bookmark").click()
            page.get_by_label("Note on Title 2").fill("Seagulls")
    page.get_by_role("button", name="Close", exact=True).click()
    rows = page.locator("#kept li:visible")
    expect(rows).to_have_count(5)
    page.get_by_label("Search what was read").fill("seagull")
    expect(rows).to_contain_text(["Title 2"])
    page.get_by_label("Search what was read").fill("WORD3")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Title 3")
    page.get_by_role("button", name="Settings").click()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Export what was read").click()
    file = downloading.value.path()
    with Visit(chromium, espeak) as other:
        for picked in ({"name": "wrong.json", "mimeType": "", "buffer": b"{}"}, str(file)):
            other.page.locator("#imported").set_input_files([picked] if isinstance(picked, dict) else picked)
            if isinstance(picked, dict):
                other.complains("wrong.json is no library of this page.")
        expect(other.page.locator("#kept li")).to_have_count(5)
        other.axe_finds_nothing()
        other.page.get_by_role("button", name="Title 2").first.click()
        expect(other.page.get_by_label("Note on Title 2")).to_have_value("Seagulls")


@pytest.mark.parametrize("scheme, width", [("light", 1440), pytest.param("dark", 320, marks=pytest.mark.slow)])
def test_bookmarks_are_set_gone_to_noted_and_deleted(
    chromium: Browser, espeak: Server, scheme: str, width: int
) -> None:
    """By the key B at the sentence that sounds, by the button at the one that is selected."""
    with Visit(chromium, espeak, color_scheme=scheme, viewport={"width": width, "height": 800}) as visit:
        page = visit.page
        visit.speak(SHORTER)
        visit.reading(words=3)
        page.keyboard.press(" ")
        visit.state("paused")
        page.keyboard.press("b")
        visit.says("Bookmarked: This is sentence number 1,")
        marks = page.get_by_role("navigation", name="Bookmarks")
        page.keyboard.press("b")
        note = marks.get_by_label("Note on This is sentence number 1,")
        expect(note).to_be_focused()
        page.keyboard.type("b is a letter here")
        page.evaluate("getSelection().selectAllChildren(document.querySelectorAll('#pane .sentence')[2])")
        page.get_by_role("button", name="Bookmark", exact=True).click()
        page.evaluate("getSelection().removeAllRanges()")
        rows = marks.get_by_role("listitem")
        expect(rows).to_have_count(2)
        expect(page.locator("#pane .flagged")).to_have_text([f"{SENTENCES[0]}", f"{SENTENCES[2]}"])
        visit.axe_finds_nothing()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        rows.nth(1).get_by_role("button", name="This is sentence number 3").first.click()
        expect(page.locator(".sentence.current")).to_have_text(SENTENCES[2])
        rows.nth(1).get_by_role("button", name="Delete This is sentence number 3").click()
        expect(rows).to_have_count(1)
        expect(rows.get_by_role("button", name="Delete")).to_be_focused()
        visit.speak(SHORTER)  # the same text, written again
        expect(note).to_have_value("b is a letter here")
        expect(rows).to_have_count(1)
        expect(page.locator("#pane .flagged")).to_have_text(SENTENCES[0])


def test_devices_with_the_same_key_share_what_was_read(chromium: Browser, tmp_path: Path) -> None:
    """Places and bookmarks of two devices come together; what one deletes goes from the other."""
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    with server("--engine", "espeak", "--api-keys", "secret", environment=environment) as shared:
        visits = [Visit(chromium, shared) for _ in range(2)]
        for visit in visits:
            visit.page.route("**/v1/audio/speech", lambda _: None)  # nothing sounds, so no place moves by itself
            visit.page.evaluate("sessionStorage.setItem('kokoro-live key', 'secret')")
            visit.page.get_by_role("button", name="Settings").click()
            visit.page.get_by_label("Share it with your other devices").check()
            visit.page.keyboard.press("Escape")
        one, other = visits

        def read(visit: Visit, sentence: int, note: str) -> None:
            chosen = visit.page.locator("#pane .sentence").nth(sentence)
            chosen.click()
            expect(chosen).to_have_class(re.compile("current"))
            visit.page.get_by_role("button", name="Bookmark", exact=True).click()
            visit.page.get_by_label("Note on").nth(0 if sentence == 0 else 1).fill(note)
            with visit.page.expect_response(lambda each: each.request.method == "PUT"):
                visit.page.get_by_role("button", name="Close", exact=True).click()

        def resumed(visit: Visit, marks: int) -> None:
            """Opened again, once what the other has done is there."""
            visit.page.reload()
            kept = "import('/static/library.js').then(({ kept }) => kept())"
            visit.wait(f"marks => {kept}.then(([entry]) => entry?.marks.length === marks)", marks)
            visit.page.locator("#kept").get_by_role("button", name="Shared title").first.click()

        one.speak(f"Shared title\n\n{SHORTER}")
        read(one, 0, "from one")
        resumed(other, 1)
        expect(other.page.get_by_label("Note on Shared title")).to_have_value("from one")
        read(other, 3, "from the other")
        resumed(one, 2)
        expect(one.page.get_by_label("Note on")).to_have_count(2)
        assert [each.input_value() for each in one.page.get_by_label("Note on").all()] == ["from one", "from the other"]
        expect(one.page.locator(".sentence.current")).to_have_text(SENTENCES[2])
        with one.page.expect_response(lambda each: each.request.method == "PUT"):
            one.page.get_by_role("button", name="Close", exact=True).click()
        with one.page.expect_response(lambda each: each.request.method == "PUT"):
            one.page.get_by_role("button", name="Delete all").click()
        other.page.reload()
        expect(other.page.locator("#shelf")).to_be_hidden()
        for visit in visits:
            visit.context.close()
