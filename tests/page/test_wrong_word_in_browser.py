"""A word that was said wrongly: clicked, its ways heard, one of them kept in the lexicon of the server or of a key, and
taken back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from tests.page.test_reading_in_browser import click_word
from tests.page.visit import Visit, needs_chromium
from tests.system.server import server

pytestmark = needs_chromium

TEXT = "At noon Mr. Kowalczyk came. Her sister, Niamh, laughed. Zqx!"
PHONEMES = """async ([input, key]) => {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  const body = JSON.stringify({ input, lang: "en-us" });
  return (await (await fetch("dev/phonemize", { method: "POST", headers, body })).json()).phonemes;
}"""


@contextmanager
def read(
    chromium: Browser, folder: Path, lexicon: str = "", key: str = "", text: str = TEXT, **options: Any
) -> Iterator[Visit]:
    """The page that reads the text, with the server's lexicon in `words.tsv`."""
    (folder / "words.tsv").write_text(lexicon)
    flags = ["--lexicon", str(folder / "words.tsv"), *(["--api-keys", key] if key else [])]
    with server("--engine", "espeak", *flags, environment={"XDG_STATE_HOME": str(folder)}) as started:
        script = f"sessionStorage['kokoro-live key'] = '{key}'"
        with Visit(chromium, started, script=script, **options) as visit:
            visit.page.route("**/v1/audio/speech", _only_words)
            visit.speak(text)
            expect(visit.page.locator("#pane .sentence").first).to_be_visible()
            yield visit


def _only_words(route: Route) -> None:
    """Answer no request for the text, so that no place moves by itself."""
    if "pronunciations" in route.request.post_data_json:
        route.continue_()


class _Held:
    """Holds the first request; the others are answered by the server."""

    def __init__(self) -> None:
        self._first: Route | None = None

    def __call__(self, route: Route) -> None:
        if self._first:
            route.continue_()
        else:
            self._first = route

    def refuse(self) -> None:
        assert self._first
        self._first.fulfill(status=409, json={"error": {"message": "The lexicon is full."}})


def way(visit: Visit, named: str) -> Locator:
    return visit.page.locator("#wrong-dialog .ways li").filter(has=visit.page.get_by_text(named, exact=True))


@pytest.mark.parametrize(("key", "scheme", "width"), [("", "light", 1000), ("secret", "dark", 320)])
def test_a_clicked_word_is_heard_in_several_ways_and_one_is_kept(
    chromium: Browser, tmp_path: Path, key: str, scheme: str, width: int
) -> None:
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": 700}}
    with read(chromium, tmp_path, key=key, **look) as visit:
        page = visit.page
        click_word(page, "Kowalczyk")
        page.get_by_role("button", name="Wrong?").click()
        dialog = page.get_by_role("dialog", name="How is this word said?")
        expect(dialog.get_by_role("radio", name="Kowalczyk")).to_be_checked()
        page.get_by_role("button", name="Close", exact=True).last.click()
        click_word(page, "Niamh")
        page.keyboard.press("w")
        expect(dialog.get_by_role("radio", name="Niamh")).to_be_checked()
        expect(way(visit, "by letters")).to_be_visible()
        assert dialog.locator(".ways li").count() > 2
        visit.axe_finds_nothing()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        before = page.evaluate(PHONEMES, ["Niamh", key])
        other = way(visit, "by letters").locator("span").inner_text()
        with page.expect_response(lambda each: each.url.endswith("/v1/audio/speech")) as answer:
            way(visit, "by letters").get_by_role("button", name="Hear by letters").click()
        assert answer.value.text().count("speech.audio.delta")
        assert visit.bodies()[-1]["pronunciations"] == {"Niamh": other}
        with page.expect_request("**/v1/audio/speech") as asked:  # what was heard is made again
            way(visit, "by letters").get_by_role("button", name="Keep by letters").click()
        assert "Niamh" in asked.value.post_data_json["input"]
        expect(dialog.get_by_role("status")).to_have_text("Kept: Niamh")
        expect(dialog.locator(".ways li").first).to_contain_text("now, your lexicon")
        expect(dialog.get_by_role("button", name="Hear now, your lexicon")).to_be_focused()
        assert before != page.evaluate(PHONEMES, ["Niamh", key]) == other.strip("/")
        kept = f"Niamh\t{other}\ten-us\n"
        assert (tmp_path / "words.tsv").read_text() == ("" if key else kept)
        assert [each.read_text() for each in tmp_path.rglob("lexicons/*.tsv")] == ([kept] if key else [])
        expect(dialog.get_by_role("alert")).to_be_empty()


def test_a_lexicons_word_is_shown_as_such_and_taken_back_by_the_keyboard(chromium: Browser, tmp_path: Path) -> None:
    lines = "# mine\nnoon\t/nˈun/\ten\nniamh\tneev\nNiamh\t/nˈɛm/\ten\tnoun\n"
    with read(chromium, tmp_path, lines) as visit:
        page = visit.page
        click_word(page, "Niamh")
        page.keyboard.press("w")
        dialog = page.get_by_role("dialog", name="How is this word said?")
        ways = dialog.locator(".ways li")
        expect(ways.nth(0)).to_contain_text("/nˈiv/now, your lexicon")
        expect(ways.nth(1)).to_contain_text("/nˈɛm/noun, your lexicon")
        page.keyboard.press("Tab")
        expect(dialog.get_by_role("button", name="Hear now, your lexicon")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(dialog.get_by_role("status")).to_have_text("Taken back: Niamh")
        assert (tmp_path / "words.tsv").read_text() == lines.replace("niamh\tneev\n", "")
        expect(ways.first).to_contain_text("noun, your lexicon")
        dialog.get_by_role("button", name="Take back noun, your lexicon").click()
        expect(dialog.get_by_role("button", name="Take back")).to_have_count(0)
        assert (tmp_path / "words.tsv").read_text() == "# mine\nnoon\t/nˈun/\ten\n"
        dialog.get_by_role("radio", name="Niamh").focus()
        page.keyboard.press("ArrowLeft")
        expect(dialog.get_by_role("radio", name="sister")).to_be_checked()
        dialog.get_by_label("Part of speech").select_option("noun")
        expect(dialog.get_by_label("Only in this spelling")).to_be_hidden()
        dialog.get_by_role("button", name="Keep by letters").click()
        expect(ways.first).to_contain_text("noun, your lexicon")
        assert (tmp_path / "words.tsv").read_text().endswith("\ten-us\tnoun\n")


def test_nothing_of_one_word_stays_for_another(chromium: Browser, tmp_path: Path) -> None:
    with read(chromium, tmp_path, text="Niamh laughed.") as visit:
        page, kept = visit.page, tmp_path / "words.tsv"
        click_word(page, "Niamh")
        page.keyboard.press("w")
        dialog = page.get_by_role("dialog", name="How is this word said?")
        keep = dialog.get_by_role("button", name="Keep by letters")
        dialog.get_by_label("Only in this spelling").uncheck()
        keep.click()
        expect(dialog.get_by_role("status")).to_have_text("Kept: niamh")
        dialog.get_by_label("Only in this spelling").check()
        dialog.get_by_role("button", name="Keep by rules").click()
        expect(dialog.get_by_role("status")).to_have_text("Kept: Niamh")
        assert [line.split("\t")[0] for line in kept.read_text().splitlines()] == ["niamh", "Niamh"]
        dialog.get_by_label("Part of speech").select_option("verb")
        dialog.get_by_role("radio", name="laughed").check()
        expect(dialog.get_by_label("Part of speech")).to_have_value("")
        expect(keep).to_be_visible()
        held = _Held()
        page.route("**/v1/pronunciation", held)
        keep.click()
        dialog.get_by_role("radio", name="Niamh").check()  # while the other is being kept
        expect(keep).to_be_visible()
        held.refuse()
        expect(dialog.get_by_role("alert")).to_contain_text("full")
        visit.complaints.clear()  # the 409


def test_words_are_what_a_lexicon_finds(chromium: Browser, tmp_path: Path) -> None:
    text = "“Well-known,” (C++) isn't 東京に行く; नमस्ते Nº 5!"
    with read(chromium, tmp_path, text=text) as visit:
        visit.page.keyboard.press("w")
        words = visit.page.get_by_role("radio")
        expect(words.first).to_be_checked()
        values = "inputs => inputs.map(({ value }) => value)"
        assert words.evaluate_all(values) == ["Well-known", "C++", "isn't", "東京", "に", "行く", "नमस्ते", "Nº", "5"]
        expect(way(visit, "by letters")).to_be_visible()
